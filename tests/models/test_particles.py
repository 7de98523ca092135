"""Particles fit the last sound of a word, also when it is no Hangul."""

from __future__ import annotations

import pytest

from gieok.adapters.models.offline.hangul import particle


@pytest.mark.parametrize(
    ("word", "pair", "chosen"),
    [
        ("면접", "이/가", "이"),
        ("회사", "이/가", "가"),
        ("커피", "을/를", "를"),
        ("책", "을/를", "을"),
        ("서울", "으로/로", "로"),
        ("부산", "으로/로", "으로"),
        ("IT", "은/는", "는"),
        ("URL", "은/는", "은"),
        ("Python", "이/가", "이"),
        ("Netflix", "이/가", "가"),
        ("GPT-3", "을/를", "을"),
        ("GPT-4", "을/를", "를"),
        ("2026", "이/가", "이"),
        ("‘기생충’", "을/를", "을"),
        ("", "이/가", "가"),
    ],
)
def test_the_particle_fits(word: str, pair: str, chosen: str) -> None:
    """A closed last sound takes the first form, an open one the second."""
    assert particle(word, pair) == chosen
