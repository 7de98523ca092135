"""Language detection and token estimates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text import count_tokens, language

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("오늘 면접 봤어", "ko"),
        ("Google 면접 봤어", "ko"),
        ("ㅋㅋㅋ", "ko"),
        ("I met 민지 today", "en"),
        ("日本", "en"),
    ],
)
def test_language(text: str, expected: str) -> None:
    """A quarter of Hangul letters makes a text Korean, in spite of English names."""
    assert language(text) == expected


def test_language_without_letters() -> None:
    """A text without letters has the default language."""
    assert language("123 👍") == "en"
    assert language("123 👍", default="ko") == "ko"


def test_token_estimate_of_ordinary_text() -> None:
    """About four Latin letters, and between one and a half and two syllables, are a token."""
    english = "The quick brown fox jumps over the lazy dog and runs away from here"
    korean = "오늘면접에서너무떨려서준비한말을다못했어"
    assert len(english) / 4.5 <= count_tokens(english) <= len(english) / 3.5
    assert len(korean) / 2 <= count_tokens(korean) <= len(korean) / 1.5
    assert count_tokens("") == 0


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_has_fewer_tokens(text: str, more: str) -> None:
    """Appending never lowers the estimate, and only the empty text has 0."""
    assert count_tokens(text + more) >= count_tokens(text)
    assert (count_tokens(text) == 0) == (text == "")
