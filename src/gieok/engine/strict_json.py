"""A JSON parser that refuses ambiguous input, used for plans, request bodies and imports.

Parsers disagree on duplicate keys, NaN, 1e999, lone surrogates and very long numbers. A value that was
checked by one parser could be read differently by the next, so such input is refused, with the place in it.

Valid input costs one pass of the standard parser and a few byte scans. Only suspicious input is walked, or
parsed a second time to find the place of the error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn, cast

MAX_DIGITS = 40
"""Digits of an integer: more than fit into 64 bits, or than a float can tell apart."""
MAX_PLACE = 200
"""Characters of a place or a key in an error message."""

Location = tuple[int | str, ...]

_SUSPICIOUS_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
"""An escaped NUL or surrogate. A complete surrogate pair is valid, which only the parsed value shows."""
_NUL_OR_SURROGATE = re.compile("[\x00\ud800-\udfff]")


class JsonRefused(ValueError):
    """Not JSON, ambiguous JSON, or too large. `at` is the place in the value (`messages[2].content`)."""

    def __init__(self, message: str, at: str | None = None) -> None:
        super().__init__(message)
        self.at = at


def parse_json(content: bytes, *, depth: int, items: int | None = None) -> Any:
    """Parse UTF-8 JSON strictly. JsonRefused says what is wrong and where.

    `depth` limits the levels of nesting (`[1]` has two). `items` limits the members of all objects and lists
    together.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonRefused(f"not UTF-8: byte {error.start + 1} cannot be decoded") from None
    if text.startswith("\ufeff"):
        raise JsonRefused("starts with a byte order mark; send UTF-8 without one")
    try:
        value = _STRICT.decode(text)
    except json.JSONDecodeError as error:
        raise JsonRefused(f"not JSON: line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _too_deep(depth) from None
    except _AmbiguousError:
        _check(_LENIENT.decode(text), None)
        raise
    if content.count(b"[") + content.count(b"{") >= depth and is_deeper(value, depth):
        raise _too_deep(depth)
    if _SUSPICIOUS_ESCAPE.findall(content) or (items is not None and content.count(b",") >= items):
        _check(value, items)
    return value


def is_deeper(value: Any, depth: int) -> bool:
    """Whether a parsed value has more than `depth` levels. A scalar has one."""
    level, levels = [value], 0
    while level and levels <= depth:
        levels += 1
        level = [child for node in level for _, child in _members(node)]
    return levels > depth


def json_path(location: Location) -> str:
    """`("steps", 2, "stage")` as `steps[2].stage`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _check(root: Any, items: int | None) -> None:
    """Walk a value without recursion and raise JsonRefused for the first problem."""
    pending: list[tuple[Location, Any]] = [((), root)]
    count = 0
    while pending:
        location, value = pending.pop()
        if problem := _problem(value):
            at = _NUL_OR_SURROGATE.sub("�", json_path(location)[:MAX_PLACE])
            raise JsonRefused(problem, at or None)
        members = [*_members(value)]
        count += len(members)
        if items is not None and count > items:
            raise JsonRefused(f"more than {items} values")
        pending.extend(((*location, name), child) for name, child in reversed(members))


def _members(value: Any) -> Iterable[tuple[int | str, Any]]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).items()
    return enumerate(cast("list[Any]", value)) if isinstance(value, list) else ()


def _problem(value: Any) -> str | None:
    if isinstance(value, str):
        return "contains a NUL or half of a surrogate pair" if _NUL_OR_SURROGATE.findall(value) else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is a number too large for a float"
    if isinstance(value, _LongInteger):
        return f"may have at most {MAX_DIGITS} digits"
    if isinstance(value, _DuplicateKey):
        return f"has the key {json.dumps(value.key[:MAX_PLACE])} twice in one object"
    if isinstance(value, dict) and any(map(_NUL_OR_SURROGATE.findall, cast("dict[str, Any]", value))):
        return "has a key with a NUL or half of a surrogate pair"
    return None


def _too_deep(depth: int) -> JsonRefused:
    return JsonRefused(f"nested deeper than {depth} levels")


class _AmbiguousError(Exception):
    """Raised inside the strict decoder. The lenient decoder then finds the place."""


class _DuplicateKey(dict[str, Any]):
    """An object in which a key occurs twice."""

    key = ""


class _LongInteger:
    """Stands for an integer with too many digits: the time to convert it grows with the square of them."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _AmbiguousError
    return made


def _mark_duplicate_key(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = _DuplicateKey(pairs)
    if len(made) == len(pairs):
        return dict(made)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            made.key = key
            break
        seen.add(key)
    return made


def _short_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _AmbiguousError
    return int(digits)


def _mark_long_integer(digits: str) -> int | _LongInteger:
    return _LongInteger() if len(digits) > MAX_DIGITS else int(digits)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _AmbiguousError
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise JsonRefused(f"{name} is not a JSON number")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique_keys,
    parse_int=_short_integer,
    parse_float=_finite_float,
    parse_constant=_refuse_constant,
)
_LENIENT = json.JSONDecoder(
    object_pairs_hook=_mark_duplicate_key,
    parse_int=cast(Any, _mark_long_integer),
    parse_constant=_refuse_constant,
)
