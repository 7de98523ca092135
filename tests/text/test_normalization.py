"""Texts that look the same are equal after normalisation."""

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
def test_normalize(written: str, expected: str) -> None:
    """Width, decomposition, invisible characters, case and spaces make no difference."""
    assert normalize(written) == expected


def test_invisible_characters_are_removed() -> None:
    """No control, format or surrogate character of this Python's Unicode survives."""
    invisible = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs"}
    ]
    assert normalize("".join(invisible)) == ""


@given(ANY_TEXT)
def test_normalize_is_idempotent(text: str) -> None:
    """Normalising twice gives the same as once."""
    assert normalize(normalize(text)) == normalize(text)


def test_many_combining_marks() -> None:
    """A letter with fifty thousand combining marks keeps a few of them."""
    assert len(normalize("a" + "\u0301\u0316" * 25_000)) <= 9
