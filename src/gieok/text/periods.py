"""When: the times that a question names, in Korean and English, seen from the moment of asking."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from gieok.text.calendar import Period
from gieok.text.english_time import RULES as ENGLISH
from gieok.text.korean_time import RULES as KOREAN
from gieok.text.normal import clean

_READ_MAX = 2_000


class When(NamedTuple):
    """The times that a text names, and what it says without those that are counted from its own moment.

    `last week` says when; it is not what anybody said last week.
    """

    periods: tuple[Period, ...]
    rest: str


def when(text: str, now: datetime) -> When:
    """The times that `text` names: 지난주, 작년 여름, 2023년 5월, yesterday, last summer, in May.

    What counts from the moment of asking counts from `now`. A month, a day or a season without a year is
    that of any of the last years, and lies not ahead of `now`. Words are read once: `2023년 5월` is a month,
    and not also a year. A longer text than a question is left as it is.
    """
    if len(text) > _READ_MAX:
        return When((), text)
    unread = rest = clean(text)
    found: list[Period] = []
    for rule in (*KOREAN, *ENGLISH):
        for match in rule.pattern.finditer(unread):
            found.extend(rule.resolve(match, now))
            unread = _blanked(unread, match)
            rest = _blanked(rest, match) if rule.is_counted else rest
    return When(tuple(found), rest)


def _blanked(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match[0]) + text[match.end() :]
