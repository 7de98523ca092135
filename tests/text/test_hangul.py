"""Hangul syllables, and the particles that depend on the last sound of a word."""

from __future__ import annotations

import pytest

from gieok.text.hangul import (
    FINALS,
    INITIALS,
    VOWELS,
    final_consonant,
    join_syllable,
    particle,
    split_syllable,
    with_final,
    with_particle,
)


@pytest.mark.parametrize(
    ("word", "pair", "chosen"),
    [
        ("면접", "이/가", "이"),
        ("회사", "이/가", "가"),
        ("커피", "을/를", "를"),
        ("책", "을/를", "을"),
        ("서울", "으로/로", "로"),
        ("서울", "으로는/로는", "로는"),
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
def test_particle_fits_the_last_sound(word: str, pair: str, chosen: str) -> None:
    """A final consonant takes the first form, a vowel the second."""
    assert particle(word, pair) == chosen
    assert with_particle(word, pair) == word + chosen


def test_every_syllable_splits_into_jamo_and_joins_again() -> None:
    """The three tables of jamo are complete and in Unicode's order."""
    syllables = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
    assert [join_syllable(*split_syllable(syllable)) for syllable in syllables] == syllables
    initial, vowel, final = split_syllable("꽃")
    assert (INITIALS[initial], VOWELS[vowel], FINALS[final]) == ("ㄲ", "ㅗ", "ㅊ")


def test_final_consonants_are_read_set_and_removed() -> None:
    """Anything but a Hangul syllable stays unchanged."""
    assert [final_consonant(word) for word in ("닭", "사과", "GPT-3", "")] == ["ㄺ", "", "ㅁ", ""]
    assert [with_final(stem, "ㄴ") for stem in ("가", "살", "a", "")] == ["간", "산", "a", ""]
    assert [with_final(stem, "") for stem in ("살", "사", "ㅋ", "")] == ["사", "사", "ㅋ", ""]
