"""Find the time expressions in a question, in Korean and English."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from gieok.text.normalization import clean
from gieok.text.time.calendar import Period
from gieok.text.time.english import RULES as ENGLISH
from gieok.text.time.holidays import RULES as HOLIDAYS
from gieok.text.time.korean import RULES as KOREAN

_MAX_CHARS = 2_000


class TimeMentions(NamedTuple):
    """The periods that a text refers to, and what else it says."""

    periods: tuple[Period, ...]
    rest: str
    """The text without relative expressions: `last week` is not a word that was used last week."""
    timeless: str
    """The text without any time expression."""


def time_mentions(text: str, now: datetime) -> TimeMentions:
    """Find the time expressions in `text`: 지난주, 작년 여름, 2023년 5월, yesterday, last summer, in May,
    19.01.2024, 추석, last Christmas, 며칠 전.

    Relative expressions count from `now`. A month, a day or a season without a year refers to that of each
    recent year, not to one after `now`. Each word is used once: `2023년 5월` is a month, and not also a year.
    A text of more than 2,000 characters is not read.
    """
    if len(text) > _MAX_CHARS:
        return TimeMentions((), text, text)
    unread = rest = clean(text)
    periods: list[Period] = []
    for rule in (*HOLIDAYS, *KOREAN, *ENGLISH):
        for match in rule.pattern.finditer(unread):
            periods.extend(rule.resolve(match, now))
            unread = _blank(unread, match)
            rest = _blank(rest, match) if rule.is_relative else rest
    return TimeMentions(tuple(periods), rest, unread)


def _blank(text: str, match: re.Match[str]) -> str:
    """Replace a match by spaces, so that later positions stay the same."""
    return text[: match.start()] + " " * len(match[0]) + text[match.end() :]
