"""The wording of the command line, in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import gieok.interfaces.cli
from gieok.interfaces.cli.wording import WORDING, Say

SOURCES = "\n".join(
    file.read_text(encoding="utf-8")
    for file in Path(gieok.interfaces.cli.__file__).parent.rglob("*.py")
    if not file.name.startswith("wording") and "demo" not in file.parts
)


def names_in(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", WORDING)
def test_every_line_says_the_same_in_both_languages(key: str) -> None:
    """Neither is empty, and both name the same things."""
    words = WORDING[key]
    assert words.en
    assert words.ko
    assert names_in(words.en) == names_in(words.ko)


def test_every_line_is_said_somewhere() -> None:
    unused = [key for key in WORDING if not key.startswith("name.") and f'"{key}"' not in SOURCES]
    assert unused == []


def test_every_finding_has_a_name_in_both_languages() -> None:
    found = set(re.findall(r'(?:Finding|guarded)\(\s*"(\w+)"', SOURCES))
    assert {f"name.{name}" for name in found} == {key for key in WORDING if key.startswith("name.")}


def test_say_speaks_one_language() -> None:
    assert Say("en")("plan.ok", plan="x") == "x: ok"
    assert Say("ko")("plan.ok", plan="x") == "x: 정상"
