"""The result of a benchmark: a table that compares each figure with a baseline and with its goal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_HEADER = ("measured", "figure", "compared with", "its figure", "ratio", "goal", "reached")


@dataclass(frozen=True)
class Goal:
    """A bound, and whether this run reached it."""

    text: str
    reached: bool


@dataclass(frozen=True)
class Row:
    """One comparison. `ratio` is the figure divided by the figure of the baseline."""

    what: str
    figure: str
    against: str
    its_figure: str
    ratio: float
    goal: Goal | None = None


@dataclass(frozen=True)
class Table:
    """Rows that were measured under the same conditions."""

    title: str
    rows: Sequence[Row]


def at_least(value: float, bound: float, unit: str = "×") -> Goal:
    return Goal(f"≥ {bound:g}{unit}", value >= bound)


def at_most(value: float, bound: float, unit: str = "×") -> Goal:
    return Goal(f"≤ {bound:g}{unit}", value <= bound)


def rate(seconds: float) -> str:
    """Seconds per operation as operations per second."""
    return f"{1 / seconds:,.0f} /s"


def micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs"


def millis(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f} ms"


def render(table: Table) -> str:
    """The table in Markdown, aligned for a terminal."""
    lines = aligned([_HEADER, *(_cells(row) for row in table.rows)])
    return "\n".join((f"### {table.title}", "", *lines, ""))


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells as a Markdown table, the first of them as its header."""
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    rule = "|".join("-" * (width + 2) for width in widths)
    head, *body = ("| " + " | ".join(map(_padded, line, widths)) + " |" for line in lines)
    return [head, f"|{rule}|", *body]


def _cells(row: Row) -> tuple[str, ...]:
    goal = (row.goal.text, "yes" if row.goal.reached else "NO") if row.goal else ("", "")
    return (row.what, row.figure, row.against, row.its_figure, f"{row.ratio:.2f}×", *goal)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(text: str) -> int:
    """The width in terminal columns. A Hangul syllable takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
