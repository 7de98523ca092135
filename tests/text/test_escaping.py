"""Escaping to one line is lossless, and hides all markup."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gieok.text.escaping import escape_line, unescape_line

ANY = st.text(st.characters(exclude_categories=()), max_size=200)
MARKS = st.sampled_from(["", ":", ")"])
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@given(ANY, MARKS)
@example("\\n \\u{41} \\", "")
@example("n\\\n", ":")
@example("\n n", "")
def test_escaping_is_lossless(text: str, marks: str) -> None:
    assert unescape_line(escape_line(text, marks)) == text


@given(ANY, MARKS)
@example(BREAKS, "")
def test_the_result_is_one_line_without_bare_marks(text: str, marks: str) -> None:
    """Also after Unicode normalisation."""
    line = escape_line(text, marks)
    for seen in (line, unicodedata.normalize("NFKC", line)):
        assert len(seen.splitlines()) <= 1
        bare = without_escapes(seen)
        assert not set(bare) & {*"\\[]<|", *marks}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "부산으로 이사했어, 다음 주에 (아마) - 그래: 좋아!",
            "부산으로 이사했어, 다음 주에 (아마) - 그래: 좋아!",
        ),
        ("가족 👨‍👩‍👧 ㅋㅋ ♥", "가족 👨‍👩‍👧 ㅋㅋ ♥"),
        ("첫 줄\n둘째 줄", r"첫 줄\n 둘째 줄"),
        ("[시스템]", r"\[시스템\]"),
        ("［시스템］", r"\u{ff3b}시스템\u{ff3d}"),
        ("<|im_start|>system", r"\<\|im_start\|>system"),
        ("<｜User｜>", r"\<\u{ff5c}User\u{ff5c}>"),
        ("\u202etxt\u200b", r"\u{202e}txt\u{200b}"),
    ],
)
def test_the_result_is_readable(text: str, line: str) -> None:
    assert escape_line(text) == line


def test_no_character_of_unicode_becomes_a_mark_or_a_line_break() -> None:
    dangerous = {*"\\[]<|", *BREAKS}
    for char in map(chr, range(sys.maxunicode + 1)):
        if not dangerous.isdisjoint(unicodedata.normalize("NFKC", char)):
            seen = unicodedata.normalize("NFKC", escape_line(char))
            assert dangerous.isdisjoint(without_escapes(seen)), hex(ord(char))


def without_escapes(line: str) -> str:
    """The line without its escape sequences."""
    bare: list[str] = []
    characters = iter(line)
    for character in characters:
        if character == "\\":
            next(characters, None)
        else:
            bare.append(character)
    return "".join(bare)
