"""Sentence splitting and questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text import is_question, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("면접 봤어. 너무 떨렸어!! 끝났다… 휴", ["면접 봤어.", "너무 떨렸어!!", "끝났다…", "휴"]),
        ("밥 먹었어\n응 먹었어\n\n", ["밥 먹었어", "응 먹었어"]),
        ("갔다.그리고 왔다", ["갔다.", "그리고 왔다"]),
        ("Dr. Kim paid 3.5 dollars. Really?", ["Dr. Kim paid 3.5 dollars.", "Really?"]),
        ("Take some, e.g. this. U.S. troops came.", ["Take some, e.g. this.", "U.S. troops came."]),
        ("See https://a.com/x.html now. ok", ["See https://a.com/x.html now.", "ok"]),
        ("well... maybe. Hmm... Right", ["well... maybe.", "Hmm...", "Right"]),
        ("So do I. No. 5 is mine. no. Yes", ["So do I.", "No. 5 is mine.", "no.", "Yes"]),
        ("1. 첫째다. 그래", ["1. 첫째다.", "그래"]),
        ('She said "Stop. Now." Then left.', ['She said "Stop. Now."', "Then left."]),
        ("東京。大阪！京都", ["東京。", "大阪！", "京都"]),
        ("...", ["..."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Marks and line breaks end a sentence; numbers, titles, addresses and quotations do not."""
    assert sentences(text) == expected


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=80))
def test_sentences_contain_the_whole_text(text: str) -> None:
    """Only white space is lost."""
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"), [("뭐 해?", True), ("What's up?! :)", True), ("안 해.", False)]
)
def test_is_question(text: str, expected: bool) -> None:
    assert is_question(text) is expected
