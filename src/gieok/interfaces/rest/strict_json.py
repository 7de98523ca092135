"""JSON that means one thing only.

Parsers disagree on doubled keys, NaN, 1e999, half surrogate pairs and very long numbers, and there one check
may see another value than the next. Such a body is refused, with the place that is wrong.

The common body pays for one pass of the parser and a search for the few signs of trouble. Only where one is
found is the value walked, or parsed again to find the place.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from gieok.engine.plan import place
from gieok.errors import InputRefused

DEPTH = 64
"""Lists and objects inside each other."""
ITEMS = 50_000
"""Members and items of all objects and lists together."""
DIGITS = 40
"""Of one number: more than any that fits 64 bits, or that a float can tell from its neighbour."""
LONGEST_PLACE = 200

Location = tuple[int | str, ...]

_SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""A NUL or a surrogate as an escape; with both halves of a pair, all is well."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class _Doubled(dict[str, Any]):
    """An object that had a key twice."""

    key = ""


class _TooLong:
    """A number with more digits than any may have; Python would take the square of their count to read it."""


def parse(body: bytes) -> Any:
    """The value. InputRefused where it is not JSON, or not strictly."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputRefused(f"the body is not UTF-8: byte {error.start + 1} cannot be read") from None
    if text.startswith("\ufeff"):
        raise InputRefused("the body begins with a byte order mark; send UTF-8 without one")
    try:
        value = _STRICT.decode(text)
    except json.JSONDecodeError as error:
        raise InputRefused(f"the body is not JSON: line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _too_deep() from None
    except _NotStrictError:
        _check(_LENIENT.decode(text))
        raise
    if _SUSPICIOUS.search(body) or body.count(b",") >= ITEMS or _may_be_deep(body):
        _check(value)
    return value


def _may_be_deep(body: bytes) -> bool:
    return body.count(b"[") + body.count(b"{") > DEPTH


def _check(root: Any) -> None:
    """Walk everything, which may be deep; InputRefused names the first place that is wrong."""
    waiting: list[tuple[Location, Any]] = [((), root)]
    items = 0
    while waiting:
        location, value = waiting.pop()
        wrong = _wrong_with(value)
        if wrong:
            raise InputRefused(wrong, at=_at(location))
        members = _members(value)
        items += len(members)
        if items > ITEMS:
            raise InputRefused(f"the body may have at most {ITEMS} values")
        if members and len(location) >= DEPTH:
            raise _too_deep()
        waiting.extend(((*location, name), each) for name, each in reversed(members))


def _members(value: Any) -> Sequence[tuple[int | str, Any]]:
    if isinstance(value, dict):
        return [*cast(dict[str, Any], value).items()]
    if isinstance(value, list):
        return [*enumerate(cast(list[Any], value))]
    return ()


def _wrong_with(value: Any) -> str | None:
    if isinstance(value, str):
        return "holds a NUL or half of a surrogate pair" if _UNSTORABLE.search(value) else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is a number too large to be one"
    if isinstance(value, _TooLong):
        return f"may have at most {DIGITS} digits"
    if isinstance(value, _Doubled):
        return f"has the key {_short(value.key)} twice"
    if isinstance(value, dict) and any(map(_UNSTORABLE.search, cast(dict[str, Any], value))):
        return "has a key with a NUL or half of a surrogate pair"
    return None


def _at(location: Location) -> str | None:
    shown = place(location)[:LONGEST_PLACE] if location else ""
    return _UNSTORABLE.sub("�", shown) or None


def _short(key: str) -> str:
    return json.dumps(key[:LONGEST_PLACE])


def _too_deep() -> InputRefused:
    return InputRefused(f"lists and objects may lie at most {DEPTH} deep inside each other")


class _NotStrictError(Exception):
    """A doubled key, or a number that is none; the second parser finds out where."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _NotStrictError
    return made


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = _Doubled(pairs)
    if len(made) == len(pairs):
        return dict(made)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            made.key = key
            break
        seen.add(key)
    return made


def _short_whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise _NotStrictError
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NotStrictError
    return number


def _any_whole(digits: str) -> int | _TooLong:
    return _TooLong() if len(digits) > DIGITS else int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise InputRefused(f"{name} is not a number of JSON")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_short_whole, parse_float=_finite, parse_constant=_refuse_constant
)
_LENIENT = json.JSONDecoder(
    object_pairs_hook=_marked, parse_int=cast(Any, _any_whole), parse_constant=_refuse_constant
)
