"""Reading a model's answer of what it remembered: lenient where that costs nothing. Pure functions.

Prose around the JSON is skipped, missing fields get defaults, an unknown category is OTHER, and long texts
are cut at a word. An item that still makes no sense is refused as `malformed`, and the others stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from gieok.engine import Data
from gieok.memory.observations import (
    MAX_KEY_CHARS,
    MAX_QUOTE_CHARS,
    MAX_VALUE_CHARS,
    Category,
    Observation,
    Reason,
    Refusal,
)
from gieok.text.normalization import clean

MAX_OBSERVATIONS = 100
MAX_REFUSED_CHARS = 1_000
DEFAULT_IMPORTANCE = 5

_SPACE = re.compile(r"\s+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_USER = frozenset({"", "user", "me", "i", "사용자", "유저", "나"})
_CHARACTER = frozenset({"character", "assistant", "ai", "persona", "캐릭터", "어시스턴트"})
_OPS = {
    **dict.fromkeys(("add", "new", "create"), "add"),
    **dict.fromkeys(("update", "change", "replace"), "update"),
    **dict.fromkeys(("retire", "remove", "delete", "end"), "retire"),
}


class WrittenTurn(Data):
    """What the model wrote about one exchange, as it came; the summary may be empty or too long."""

    summary: str
    keywords: tuple[str, ...] = ()


class Remembered(NamedTuple):
    """The parsed answer. Fewer or more turns than exchanges are the caller's to repair."""

    turns: list[WrittenTurn]
    observations: list[Observation]
    refusals: list[Refusal]


def parse_remembered(answer: str | Mapping[str, Any]) -> Remembered:
    """Parse a model's answer, given as text or as decoded JSON. Without any JSON there are no turns."""
    document = _document(answer) if isinstance(answer, str) else dict(answer)
    turns = [_turn(item) for item in _items(document.get("turns"))]
    observations: list[Observation] = []
    refusals: list[Refusal] = []
    for item in _items(document.get("observations"))[:MAX_OBSERVATIONS]:
        try:
            observations.append(_observation(item))
        except (ValidationError, TypeError):
            refusals.append(Refusal(observation=_shown(item), reason=Reason.MALFORMED))
    return Remembered(turns, observations, refusals)


def _document(text: str) -> dict[str, Any]:
    """The JSON object with turns or observations in a text; an array counts as observations."""
    fallback: dict[str, Any] = {}
    for found in _json_values(text):
        if isinstance(found, dict):
            document = cast(dict[str, Any], found)
            if "turns" in document or "observations" in document:
                return document
        elif isinstance(found, list) and not fallback:
            fallback = {"observations": found}
    return fallback


def _json_values(text: str) -> Iterator[object]:
    """The outermost JSON objects and arrays in a text, in order."""
    decoder = json.JSONDecoder(strict=False)
    at = 0
    while (start := _next_bracket(text, at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
        else:
            yield value


def _next_bracket(text: str, start: int) -> int:
    found = [at for bracket in "{[" if (at := text.find(bracket, start)) >= 0]
    return min(found, default=-1)


def _items(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return list(cast(Sequence[object], value))
    return [] if value is None else [value]


def _turn(item: object) -> WrittenTurn:
    if not isinstance(item, Mapping):
        return WrittenTurn(summary=_text(item))
    fields = cast(Mapping[str, object], item)
    keywords = fields.get("keywords")
    words = keywords.split(",") if isinstance(keywords, str) else _items(keywords)
    return WrittenTurn(
        summary=_text(fields.get("summary")),
        keywords=tuple(dict.fromkeys(word for one in words if (word := _text(one)))),
    )


def _observation(item: object) -> Observation:
    if not isinstance(item, Mapping):
        raise TypeError("an observation is an object")
    fields = {str(name).lower(): value for name, value in cast(Mapping[object, object], item).items()}
    op = _OPS.get(_text(fields.get("op")).lower(), "update" if fields.get("id") else "add")
    category = _category(fields.get("category"))
    key = _cut(_text(fields.get("key")), MAX_KEY_CHARS) or category.lower()
    value = _cut(_text(fields.get("value")), MAX_VALUE_CHARS) or (key if op == "retire" else "")
    quote = fields.get("quote")
    said = " … ".join(map(_text, _items(quote)))
    return Observation.model_validate(
        {
            "turn": max(_number(fields.get("turn"), 1), 1),
            "op": op,
            "id": _text(fields.get("id")) or None,
            "subject": _subject(_text(fields.get("subject"))),
            "category": category,
            "key": key,
            "value": value,
            "quote": said[:MAX_QUOTE_CHARS].strip(),
            "says": "assistant" if _text(fields.get("says")).lower() in _CHARACTER else "user",
            "when": _date(fields.get("when")),
            "until": _date(fields.get("until")),
            "importance": min(max(_number(fields.get("importance"), DEFAULT_IMPORTANCE), 1), 10),
        }
    )


def _text(value: object) -> str:
    return _SPACE.sub(" ", clean(str(value))) if isinstance(value, str | int | float) else ""


def _cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut after a whole word where there is one."""
    if len(text) <= limit:
        return text
    head, _, _ = text[: limit + 1].rpartition(" ")
    return head or text[:limit]


def _category(value: object) -> Category:
    name = _text(value).upper().replace(" ", "_").replace("-", "_")
    return Category.__members__.get(name, Category.OTHER)


def _subject(name: str) -> str:
    folded = name.lower()
    if folded in _USER:
        return "user"
    if folded in _CHARACTER:
        return "character"
    person = name.partition(":")[2].strip() if folded.startswith("person:") else name
    return f"person:{person[:100]}" if person else "user"


def _number(value: object, default: int) -> int:
    try:
        return int(float(value)) if isinstance(value, str | int | float) else default
    except (ValueError, OverflowError):
        return default


def _date(value: object) -> date | None:
    found = _DATE.match(_text(value))
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def _shown(item: object) -> str:
    try:
        text = json.dumps(item, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(item)
    return clean(text)[:MAX_REFUSED_CHARS]
