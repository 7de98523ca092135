"""Words as they were written, and the morphemes under them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text import Morpheme, morphemes, normalize, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("면접에서 너무 떨렸어", ["면접", "너무", "떨리"]),
        ("카카오뱅크에서 공부했어", ["카카오뱅크", "공부"]),
        ("나는 알바했어", ["나", "알바"]),
        ("The Cats don't run", ["the", "cats", "don't", "run"]),
        ("2025년 IT회사", ["2025년", "it회사"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """A Korean word loses its particles and endings, an English one only its capitals; stop words stay."""
    assert words(text) == expected


def test_inflection_and_compounds_are_opened() -> None:
    """떨렸어 shows its stem, its past and its ending; a compound shows its parts at their own places."""
    assert morphemes("떨렸어") == [
        Morpheme("떨리", "VV", 0, 2),
        Morpheme("었", "EP", 0, 2),
        Morpheme("어", "EC", 2, 3),
    ]
    assert morphemes("영화관") == [Morpheme("영화", "NNG", 0, 2), Morpheme("관", "NNG", 2, 3)]


@given(st.text(alphabet="면접회사에서가는을떨렸어영화관 aＡ.\u200b\n", max_size=400))
def test_spans_are_of_the_normal_text(text: str) -> None:
    """Spans stay inside the normalised text, in order, and leave out nothing but spaces."""
    normal = normalize(text)
    read = set[int]()
    last = 0
    for morpheme in morphemes(text):
        assert last <= morpheme.start < morpheme.end <= len(normal)
        last = morpheme.start
        read.update(range(morpheme.start, morpheme.end))
    assert {at for at, char in enumerate(normal) if char != " "} == read
