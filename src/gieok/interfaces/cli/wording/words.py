"""A line that the commands say, in each language."""

from __future__ import annotations

from typing import Literal, NamedTuple

Lang = Literal["en", "ko"]


class Words(NamedTuple):
    """One line in both languages, with the same {names} in both."""

    en: str
    ko: str
