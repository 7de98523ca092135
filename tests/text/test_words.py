"""`words` and `morphemes`."""

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
    """Korean words lose particles and endings, English words only capitals; stop words are kept."""
    assert words(text) == expected


def test_inflected_and_compound_entries_are_expanded() -> None:
    """떨렸어 gives its stem, past and ending; the parts of a compound have their own positions."""
    assert morphemes("떨렸어") == [
        Morpheme("떨리", "VV", 0, 2),
        Morpheme("었", "EP", 0, 2),
        Morpheme("어", "EC", 2, 3),
    ]
    assert morphemes("영화관") == [Morpheme("영화", "NNG", 0, 2), Morpheme("관", "NNG", 2, 3)]


@pytest.mark.parametrize(
    ("text", "form", "tag"),
    [
        ("1월 3일에 부산 가", "가", "VV"),
        ("동생 때문에 화가 나", "가", "JKS"),
        ("당시 해상 시위를 하던 사람들", "해상", "NNG"),
        ("이날 의문을 제기하는 질문", "의문", "NNG"),
        ("나 는 오늘 집 에 있 었 다", "에", "JKB"),
    ],
)
def test_particles_and_endings_follow_a_word_directly(text: str, form: str, tag: str) -> None:
    """After a space, a word is not read as a particle or an ending, unless the text has spaces everywhere."""
    assert (form, tag) in [(morpheme.form, morpheme.tag) for morpheme in morphemes(text)]


@given(st.text(alphabet="면접회사에서가는을떨렸어영화관 aＡ.\u200b\n", max_size=400))
def test_spans_refer_to_the_normalised_text(text: str) -> None:
    """Spans are in order, inside the normalised text, and cover everything but spaces."""
    normal = normalize(text)
    read = set[int]()
    last = 0
    for morpheme in morphemes(text):
        assert last <= morpheme.start < morpheme.end <= len(normal)
        last = morpheme.start
        read.update(range(morpheme.start, morpheme.end))
    assert {at for at, char in enumerate(normal) if char != " "} == read
