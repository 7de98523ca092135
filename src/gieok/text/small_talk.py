"""Small talk: greetings, thanks, acknowledgements and everyday remarks, in Korean and English.

The phrases are in `small_talk.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Literal

from gieok.text.sentence import sentences

Language = Literal["ko", "en"]
LANGUAGES: tuple[Language, ...] = ("ko", "en")
EVERYDAY = "everyday"

_EDGE = re.compile(r"^[^\w]+|[^\w]+$")
_PARTS = re.compile(r"[.!?,~…\n]+")
_MAX_CHARS = 40


class SmallTalk(StrEnum):
    """The kinds of small talk, the most significant first."""

    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    APOLOGY = "apology"
    ASSENT = "assent"


def small_talk_in(text: str, spoken: Language) -> SmallTalk | None:
    """The kind of small talk that a sentence is, or None if it says more."""
    if len(text) > 3 * _MAX_CHARS:
        return None
    kinds = {_kind(part, spoken) for part in _parts(text)}
    return next((kind for kind in SmallTalk if kind in kinds), None) if kinds <= {*SmallTalk} else None


def is_small_talk(text: str) -> bool:
    """Whether a message says nothing that is worth remembering: small talk, everyday remarks, emoji."""
    return all(
        any(all(_kind(part, spoken) for part in _parts(sentence)) for spoken in LANGUAGES)
        for sentence in sentences(text)
    )


def is_assent(text: str) -> bool:
    """Whether a message is only a short agreement or denial, whose meaning is in what was said before."""
    return any(small_talk_in(text, spoken) is SmallTalk.ASSENT for spoken in LANGUAGES)


def _parts(text: str) -> list[str]:
    """The parts of a sentence between marks, without punctuation and emoji."""
    return [bare for part in _PARTS.split(text) if (bare := _EDGE.sub("", part))]


def _kind(part: str, spoken: Language) -> str | None:
    """The kind of a part, which may be several phrases (응 잘 자): the first, if none is everyday."""
    if len(part) > _MAX_CHARS:
        return None
    if found := _phrases()[spoken].fullmatch(part):
        return found.lastgroup
    for space in re.finditer(" ", part):
        head = _phrases()[spoken].fullmatch(part[: space.start()])
        if head and (rest := _kind(part[space.end() :], spoken)):
            return rest if rest == EVERYDAY else head.lastgroup
    return None


@cache
def _phrases() -> Mapping[str, re.Pattern[str]]:
    tables = tomllib.loads(files(__package__).joinpath("small_talk.toml").read_text("utf-8"))
    return {
        spoken: re.compile(
            "|".join(f"(?P<{kind}>{'|'.join(phrases)})" for kind, phrases in kinds.items()), re.IGNORECASE
        )
        for spoken, kinds in tables.items()
    }
