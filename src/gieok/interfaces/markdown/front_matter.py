"""The lines between `---` and `---` at the top of a Markdown file.

A small part of YAML, enough for what such files say: `key: value`, `key: [a, b]`, a list of `- item` lines,
quotes and comments. Anything deeper under a key is kept apart unread, since another tool put it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from gieok.errors import InputRefused

Value = str | tuple[str, ...]

_FENCE = "---"
_END = frozenset({"---", "..."})
_KEY = re.compile(r"(\w[\w .-]*):(?:[ \t](.*))?")
_ITEM = re.compile(r"-(?:[ \t](.*))?")


class FrontMatter(NamedTuple):
    """What stands at the top of a file, and the text below it. A key without a value has ()."""

    values: Mapping[str, Value]
    unread: frozenset[str]
    """Keys with something below them that is more than a list."""
    body: str
    lines: Sequence[str] = ()
    """The lines as they stand there."""


def split(text: str) -> FrontMatter:
    """Take the front matter off a text with `\\n` lines. A text without any is all body."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != _FENCE:
        return FrontMatter({}, frozenset(), text)
    lines = rest.split("\n")
    end = next((number for number, line in enumerate(lines) if line.rstrip() in _END), None)
    if end is None:
        raise InputRefused("the front matter begins with --- and never ends; add a line --- below it")
    values, unread = _read(lines[:end])
    return FrontMatter(values, unread, "\n".join(lines[end + 1 :]), lines[:end])


def without(lines: Sequence[str], keys: Collection[str]) -> list[str]:
    """The lines of a front matter but for those that belong to one of these keys. Comments stay."""
    kept: list[str] = []
    is_theirs = False
    for line in lines:
        if found := _key(line):
            is_theirs = found[0] in keys
        if not is_theirs or line.startswith("#"):
            kept.append(line)
    return kept


def quoted(text: str) -> str:
    """A text as a value on one line, whatever it holds."""
    return json.dumps(text, ensure_ascii=False)


def _read(lines: list[str]) -> tuple[dict[str, Value], frozenset[str]]:
    values: dict[str, Value] = {}
    unread: set[str] = set()
    for key, value, below in _entries(lines):
        if key in values or key in unread:
            raise InputRefused(f"'{key}' stands twice in the front matter; keep one of them")
        items = [_ITEM.fullmatch(line.strip()) for line in below]
        if not below and value:
            values[key] = _value(value)
        elif not value and all(items):
            values[key] = tuple(_scalar(item[1] or "") for item in items if item)
        else:
            unread.add(key)
    return values, frozenset(unread)


def _entries(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Each key with what follows it on its line, and the lines that belong to it."""
    current: tuple[str, str, list[str]] | None = None
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if found := _key(line):
            if current:
                yield current
            current = (*found, [])
        elif current and line[0] in " \t-":
            current[2].append(line)
        else:
            raise InputRefused("the front matter has a line that is neither `key: value` nor `- item`")
    if current:
        yield current


def _key(line: str) -> tuple[str, str] | None:
    """The key that a line begins with, and its value; None for any other line."""
    found = None if line[:1] in " \t-#" else _KEY.fullmatch(line.rstrip())
    return (found[1].rstrip().casefold(), _without_comment(found[2] or "")) if found else None


def _without_comment(value: str) -> str:
    value = value.strip()
    if value[:1] in ('"', "'"):
        return value
    return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].strip()


def _value(text: str) -> Value:
    if text.startswith("[") and text.endswith("]"):
        return tuple(_scalar(item) for item in text[1:-1].split(",") if item.strip())
    return _scalar(text)


def _scalar(text: str) -> str:
    text = _without_comment(text)
    try:
        if text.startswith('"'):
            return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except json.JSONDecodeError:
        raise InputRefused("the front matter has a value whose quotes do not match") from None
    if text.startswith("'"):
        found = re.match(r"'((?:[^']|'')*)'", text)
        if not found:
            raise InputRefused("the front matter has a value whose quotes do not match")
        return found[1].replace("''", "'")
    return text
