r"""Any text on one line, so that it stays what it is: a value among our lines, and never a line of ours.

`\n ` stands for a line break (its space keeps an accent that follows from joining the n), `\u{202e}` for a
character that a reader does not see or that would turn into one of the marks below, and a backslash before a
mark for the mark itself. Nothing is lost.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Square brackets open a header, and angle brackets and bars the tags by which models tell roles apart.
_MARKS = "\\[]<|"
_PLAIN = re.compile(r"[ !-;=-Z^-{}~가-힣ㄱ-ㅣ]*")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINER = "\u200d"  # holds the emoji of a family together
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-f]{1,6})\}|(n |.))", re.DOTALL)


def escape_line(text: str, marks: str = "") -> str:
    r"""`text` on one line, without a bare `[`, `]`, `<` or `|`, even after Unicode normalisation (NFKC).

    `marks` are further ASCII marks to escape, where one ends the text: `:` in a key that a colon follows.
    """
    if not marks and _PLAIN.fullmatch(text):
        return text
    return "".join(_escaped(char, _MARKS + marks) for char in text)


def unescape_line(line: str) -> str:
    """What `escape_line` was given."""
    return _ESCAPED.sub(_meant, line)


@lru_cache(maxsize=8_192)
def _escaped(char: str, marks: str) -> str:
    if char == "\n":
        return r"\n "
    if char in marks:
        return f"\\{char}"
    if char.isascii() and char.isprintable():
        return char
    if unicodedata.category(char) in _UNSEEN and char != _JOINER:
        return f"\\u{{{ord(char):x}}}"
    # A full-width bracket is a bracket to whoever normalises what they read.
    becomes_a_mark = any(mark in unicodedata.normalize("NFKC", char) for mark in marks)
    return f"\\u{{{ord(char):x}}}" if becomes_a_mark else char


def _meant(match: re.Match[str]) -> str:
    code, mark = match.groups()
    if code:
        return chr(int(code, 16))
    return "\n" if mark == "n " else mark
