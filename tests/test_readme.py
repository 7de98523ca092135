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


@pytest.mark.parametrize("name", READMES)
def test_the_first_example_prints_the_output_that_the_readme_shows(name: str, tmp_path: Path) -> None:
    """A memory of the earlier session with its matching words, and the facts. Equal facts have no order."""
    example, shown = re.findall(
        r"```python\n(.*?)```.*?```text\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL
    )[0]
    assert sorted(run(example, tmp_path).splitlines()) == sorted(shown.splitlines())


@pytest.mark.parametrize("name", READMES)
def test_the_first_example_can_be_run_twice(name: str, tmp_path: Path) -> None:
    """The second run talks to the same persona."""
    example = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)[0]
    owner = re.findall(r'gieok.user\("(\w+)"\)', example)[0]
    count = f"""
import asyncio
from gieok import Gieok

async def main():
    async with await Gieok.open() as gieok:
        print(len(await gieok.user("{owner}").personas.list()))

asyncio.run(main())
"""
    for _ in range(2):
        run(example, tmp_path)
    assert run(count, tmp_path).strip() == "1"


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
