"""Filters of the templates: times, numbers, and text that cannot deceive the reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
"""Control characters and those that change the direction of text, except for line breaks and tabs."""


def visible(text: object) -> str:
    """The text with invisible characters shown as `⟨U+202E⟩`, so that no text reorders the text around it."""
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text))


def utc(at: datetime) -> str:
    """A time for the attribute `datetime`."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def day(at: date) -> str:
    """A day, such as 2026-11-18."""
    return at.isoformat()[:10]


def number(value: float) -> str:
    """A whole number with separators."""
    return f"{value:,.0f}"


def score(value: float) -> str:
    """A score or a part of one. Three digits, so that columns align."""
    return f"{value:.3f}"


def ms(value: float) -> str:
    """Milliseconds with one digit."""
    return f"{value:,.1f}"


def percent(value: float) -> str:
    """A share as a percentage for a width in a drawing."""
    return f"{100 * value:.2f}"


def short(text: object) -> str:
    """The beginning of an id or a hash."""
    return str(text)[:8]


FILTERS: Mapping[str, Callable[[Any], str]] = {
    "visible": visible,
    "utc": utc,
    "day": day,
    "number": number,
    "score": score,
    "ms": ms,
    "percent": percent,
    "short": short,
}
