"""Texts that look the same are the same."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text import normalize

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("ＩＴ　Ｓｔａｒｔ", "it start"),
        ("한글", "한글"),
        ("ㅋㅋㅋ ㅠㅠ", "ㅋㅋㅋ ㅠㅠ"),
        ("면\u200b접\ufeff", "면접"),
        ("\u202eabc\u202c\x00", "abc"),
        ("  a \t\n b  ", "a b"),
        ("STRASSE straße", "strasse strasse"),
        ("①㎏ﬁ", "1kgfi"),
        ("ﾊﾝｸﾞﾙ", "ハングル"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("", ""),
    ],
)
def test_one_form(written: str, expected: str) -> None:
    """Width, decomposition, invisible characters, case and spaces do not tell texts apart."""
    assert normalize(written) == expected


def test_nothing_invisible_remains() -> None:
    """No control, format or surrogate character of this Python's Unicode survives."""
    unseen = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs"}
    ]
    assert normalize("".join(unseen)) == ""


@given(ANY_TEXT)
def test_a_normal_text_stays(text: str) -> None:
    """Normalising twice is normalising once."""
    assert normalize(normalize(text)) == normalize(text)


def test_marks_without_end() -> None:
    """A letter under fifty thousand combining marks keeps a few of them and costs no more than plain text."""
    assert len(normalize("a" + "\u0301\u0316" * 25_000)) <= 9
