r"""Escape a text to a single line that cannot be mistaken for markup: a header, a block or a role tag.

`\n ` is a line break (the space keeps a combining accent from joining the n). `\u{202e}` is an invisible
character, or one that Unicode normalisation turns into a mark. A backslash before a mark is the mark.
Escaping is lossless.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Square brackets open a header; angle brackets and bars are part of the role tags of models.
_MARKS = "\\[]<|"
_PLAIN = re.compile(r"[ !-;=-Z^-{}~가-힣ㄱ-ㅣ]*")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINER = "\u200d"  # joins the emoji of a family
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(n |.))", re.DOTALL)


def escape_line(text: str, marks: str = "") -> str:
    r"""Escape `text` to one line without a bare `[`, `]`, `<` or `|`, even after NFKC normalisation.

    `marks` are additional ASCII marks to escape, such as `:` in a key that is followed by a colon.
    """
    if not marks and _PLAIN.fullmatch(text):
        return text
    return "".join(_escape(char, _MARKS + marks) for char in text)


def unescape_line(line: str) -> str:
    """The inverse of `escape_line`."""
    return _ESCAPED.sub(_unescape, line)


@lru_cache(maxsize=8_192)
def _escape(char: str, marks: str) -> str:
    if char == "\n":
        return r"\n "
    if char in marks:
        return f"\\{char}"
    if char.isascii() and char.isprintable():
        return char
    if unicodedata.category(char) in _INVISIBLE and char != _JOINER:
        return f"\\u{{{ord(char):x}}}"
    # A full-width bracket becomes a bracket when the text is normalised later.
    becomes_a_mark = any(mark in unicodedata.normalize("NFKC", char) for mark in marks)
    return f"\\u{{{ord(char):x}}}" if becomes_a_mark else char


def _unescape(match: re.Match[str]) -> str:
    code, mark = match.groups()
    if code:
        return chr(int(code, 16))
    return "\n" if mark == "n " else mark
