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
    if not {"wording", "demo"} & set(file.parts)
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


@pytest.mark.parametrize(
    ("name", "said"),
    [("하루", "하루를 만들"), ("민준", "민준을 만들"), ("Haru", "Haru를 만들"), ("2호점", "2호점을 만들")],
)
def test_a_korean_particle_fits_the_name_before_it(name: str, said: str) -> None:
    assert said in Say("ko")("chat.made", name=name, id="1")


def test_no_korean_line_leaves_a_choice_of_particles_to_the_reader() -> None:
    for key, words in WORDING.items():
        values = dict.fromkeys(names_in(words.ko), "기억")
        assert not re.search(r"\((?:를|는|가|과|으|이)\)", Say("ko")(key, **values)), key


def test_what_was_said_is_not_touched() -> None:
    assert Say("ko")("chat.remembered", summary="하루을(를)") == "기억함: 하루을(를)"
