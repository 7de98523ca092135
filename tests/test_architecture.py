"""The structure of the source: import direction, function length, file length, leftovers."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gieok
from gieok.engine import ActStep, AnyStep
from gieok.memory.conversation.steps import ContextSelect, PromptAssemble

ROOT = Path(__file__).parents[1]
SOURCES = sorted(Path(gieok.__file__).parent.rglob("*.py"))
CODE = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "bench").rglob("*.py"))]
SCREEN = 50
LONGEST_FILE = 500


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.req("ENG-2", "TURN-7")
def test_imports_go_one_way() -> None:
    """The layers, the rooms that do not know each other and the neutral engine, by import-linter."""
    lint = Path(sys.executable).parent / "lint-imports"
    ran = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_a_function_fits_a_screen() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in CODE
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > SCREEN
    ]
    assert long == []


def test_a_file_is_one_idea() -> None:
    long = [
        str(path.relative_to(ROOT))
        for path in CODE
        if len(path.read_text("utf-8").splitlines()) > LONGEST_FILE
    ]
    assert long == []


def test_there_are_no_leftovers() -> None:
    """No note for later, and no place of the machine where it was written."""
    marks = re.compile("TO" + "DO|FIX" + r"ME|\bXXX\b|breakpoint\(|/ro" + "ot/|/ho" + "me/")
    found = [
        f"{path.relative_to(ROOT)}: {marks.findall(path.read_text('utf-8'))}"
        for path in CODE
        if marks.search(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.req("TURN-3")
def test_one_place_saves_turn_memory() -> None:
    """Besides the step PersistMemory, nothing in the package calls `MemoryStore.save()`."""
    package = Path(gieok.__file__).parent
    callers = [
        str(path.relative_to(package))
        for path in SOURCES
        if re.search(r"\bturns\.save\(", path.read_text(encoding="utf-8")) and "testing" not in path.parts
    ]
    assert callers == ["memory/turns/steps.py"]


@pytest.mark.req("TURN-4")
@pytest.mark.parametrize("step", [PromptAssemble, ContextSelect])
def test_assembling_reaches_no_store(step: type[AnyStep]) -> None:
    """An act gets no view of the stores, and these take nothing from the application either."""
    assert issubclass(step, ActStep)
    assert "__init__" not in vars(step)


@pytest.mark.req("TURN-7")
def test_sessions_and_turn_memories_do_not_reference_each_other() -> None:
    migrations = (Path(gieok.__file__).parent / "adapters" / "sql" / "migrations").rglob("*.sql")
    for path in migrations:
        for table in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", path.read_text("utf-8"), re.DOTALL):
            referenced = set(re.findall(r"REFERENCES (\w+)", table[1]))
            if table[0].startswith("turn_"):
                assert not referenced & {"sessions", "session_plan_moves"}
            if table[0].startswith("session"):
                assert not any(name.startswith("turn_") for name in referenced)


def test_importing_gieok_loads_nothing_heavy() -> None:
    """`import gieok` is free; what a name needs is loaded when the name is used."""
    heavy = {"pydantic", "apsw", "psycopg", "MeCab", "cryptography", "click"}
    code = f"import sys, gieok; print(sorted({heavy} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("name", gieok.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(gieok, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gieok.nonsense  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
