"""Texts of the command line, in both languages."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

import gieok.interfaces.cli
from gieok.adapters.sql.lifecycle.integrity import Kind
from gieok.adapters.sql.stores.archive import Problem
from gieok.interfaces.cli.texts import TEXTS, Translator
from gieok.memory.companion.hits import HIT_KINDS
from gieok.settings import RetentionSettings

SOURCES = "\n".join(
    file.read_text(encoding="utf-8")
    for file in Path(gieok.interfaces.cli.__file__).parent.rglob("*.py")
    if "texts" not in file.parts
)
COMPUTED_KEYS = ("damage.", "retention.", "check.", "difference.", "demo.signal.", "demo.kind.")
"""Prefixes of keys that are looked up with an f-string. Each has a test of its own."""


def names_in(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_have_a_text_with_the_same_values(key: str) -> None:
    english, korean = TEXTS[key]
    assert english
    assert korean
    assert names_in(english) == names_in(korean)


def test_every_text_is_used() -> None:
    unused = [
        key
        for key in TEXTS
        if not key.startswith(COMPUTED_KEYS) and not re.search(rf"""["']{re.escape(key)}["']""", SOURCES)
    ]
    assert unused == []


def test_every_check_of_the_doctor_has_a_name() -> None:
    checks = set(re.findall(r'(?:Finding|_guarded)\(\s*"(\w+)"', SOURCES))
    assert {f"check.{name}" for name in checks} == {key for key in TEXTS if key.startswith("check.")}


def test_every_difference_of_the_archive_has_a_name() -> None:
    found = {key for key in TEXTS if key.startswith("difference.")}
    assert found == {f"difference.{problem}" for problem in get_args(Problem)}


def test_every_kind_of_hit_has_a_name() -> None:
    assert {f"demo.kind.{kind}" for kind in HIT_KINDS} == {
        key for key in TEXTS if key.startswith("demo.kind.")
    }


def test_a_translator_uses_one_language() -> None:
    assert Translator("en")("plan.ok", plan="x") == "x: ok"
    assert Translator("ko")("plan.ok", plan="x") == "x: 정상"


@pytest.mark.parametrize(
    ("name", "text"),
    [("하루", "하루를 만들"), ("민준", "민준을 만들"), ("Haru", "Haru를 만들"), ("2호점", "2호점을 만들")],
)
def test_a_korean_particle_fits_the_value_before_it(name: str, text: str) -> None:
    assert text in Translator("ko")("chat.created", name=name, id="1")


def test_every_korean_particle_is_chosen() -> None:
    """No text is printed with both forms, such as 을(를). Texts of the demo format numbers and dates."""
    for key, (_, korean) in TEXTS.items():
        if not key.startswith("demo."):
            values = dict.fromkeys(names_in(korean), "기억")
            assert not re.search(r"\((?:를|는|가|과|으|이)\)", Translator("ko")(key, **values)), key


def test_particles_inside_a_value_do_not_change() -> None:
    assert Translator("ko")("chat.remembered", summary="하루을(를)") == "기억함: 하루을(를)"


def test_every_retention_setting_has_a_text() -> None:
    texts = {key for key in TEXTS if key.startswith("retention.")}
    assert texts == {f"retention.{each.name}" for each in fields(RetentionSettings)}


def test_every_kind_of_damage_has_a_text() -> None:
    assert {f"damage.{kind}" for kind in get_args(Kind)} == {
        key for key in TEXTS if key.startswith("damage.")
    }
