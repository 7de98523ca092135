"""Text of a stranger, so that it is shown by the terminal and never obeyed."""

from __future__ import annotations

LONGEST_LINE = 72


def printable(text: str) -> str:
    """With escapes for what would command the terminal instead of being shown; line ends are such, too."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )


def printable_lines(text: str) -> str:
    """The same, with its lines."""
    return "\n".join(map(printable, text.expandtabs(4).split("\n")))


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """On one line, with blanks for what cannot be shown, cut where it is long."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
