"""The examples of the two READMEs run as they stand, for a new user with an empty home."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.ko.md")
EXAMPLES = [
    pytest.param(block, id=f"{name}-{number}")
    for name in READMES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)
    )
]


def run(code: str, home: Path) -> str:
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=home, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_for_a_new_user(code: str, tmp_path: Path) -> None:
    assert run(code, tmp_path).strip()


def test_the_character_of_the_example_remembers(tmp_path: Path) -> None:
    """The first example shows what it says: a memory of another session with its words, and the state."""
    code: str = EXAMPLES[0].values[0]  # pyright: ignore[reportAssignmentType]  a parameter of pytest holds any value
    printed = run(code, tmp_path)
    assert "면접" in printed
    assert "('면접',)" in printed
    assert "부산으로 이사함" in printed


def test_every_page_that_a_readme_names_exists() -> None:
    for name in READMES:
        for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text("utf-8")):
            assert (ROOT / link).exists(), f"{name} names {link}"


def test_both_readmes_say_the_same_things() -> None:
    """The same sections, examples and commands in both languages."""
    english, korean = ((ROOT / name).read_text("utf-8") for name in READMES)
    assert english.count("\n## ") == korean.count("\n## ")
    assert english.count("```python") == korean.count("```python")
    commands = [re.findall(r"^gieok ([\w|]+(?: [\w|]+)?)", text, re.MULTILINE) for text in (english, korean)]
    assert commands[0] == commands[1]
