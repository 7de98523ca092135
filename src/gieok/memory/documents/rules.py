"""Pure rules of documents: filters on values, searchable text, matching of namespaces."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from gieok.errors import InputRefused
from gieok.memory.documents.records import NamespaceMatch
from gieok.text import other_script_terms, terms, words

WHOLE = "$"
ANY = "*"
_PATH_PART = re.compile(r"([^.\[\]]+)|\[(\*|-?\d+)\]")
_ALTERNATIVES = re.compile(r"\{([^{}]*)\}")
_MAX_QUERY_WORDS = 256

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_ORDERING = frozenset({"$gt", "$gte", "$lt", "$lte"})


def check_filter(wanted: Mapping[str, Any] | None) -> None:
    """InputRefused for an operator that does not exist."""
    pending: list[Any] = list((wanted or {}).values())
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            named = cast("dict[str, Any]", value)
            unknown = [key for key in named if key.startswith("$") and key not in OPERATORS]
            if unknown:
                raise InputRefused(
                    f"has the unknown operator {unknown[0][:32]!r}; use {', '.join(OPERATORS)}", at="filter"
                )
            pending += named.values()


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value fulfils every condition of a filter. A key with dots leads to fields below, unless
    the value has that key itself."""
    return all(_fulfils(_field(value, key), condition) for key, condition in (wanted or {}).items())


def _field(value: Mapping[str, Any], key: str) -> Any:
    if key in value or "." not in key:
        return value.get(key)
    name, _, rest = key.partition(".")
    below = value.get(name)
    return _field(cast("dict[str, Any]", below), rest) if isinstance(below, dict) else None


def _fulfils(value: Any, condition: Any) -> bool:
    """A condition is a value, an object of operators, or an object of conditions on the fields below.

    A list must have as many items, each of which fulfils the condition at its place.
    """
    if isinstance(condition, dict):
        named = cast("dict[str, Any]", condition)
        if any(key.startswith("$") for key in named):
            return all(_compare(key, value, operand) for key, operand in named.items())
        return isinstance(value, dict) and matches(cast("dict[str, Any]", value), named)
    if isinstance(condition, list):
        items = cast("list[Any]", condition)
        if not isinstance(value, list) or len(cast("list[Any]", value)) != len(items):
            return False
        return all(map(_fulfils, cast("list[Any]", value), items))
    return _compare("$eq", value, condition)


def _compare(name: str, value: Any, operand: Any) -> bool:
    """Numbers are compared as numbers, text as text. Values of different kinds have no order."""
    if _kind(value) is not _kind(operand):
        return name == "$ne"
    if name in _ORDERING and _kind(value) not in {float, str}:
        return False
    return OPERATORS[name](value, operand)


def _kind(value: Any) -> type:
    """JSON's kinds: an integer and a fraction are both numbers, true is no number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float if is_number else cast("type[object]", type(value))


def texts_of(value: Mapping[str, Any], paths: Sequence[str] | None) -> Iterator[str]:
    """The searchable texts of a value: at these paths, or all of them. Numbers count as text."""
    for path in (WHOLE,) if paths is None else chain.from_iterable(map(_expanded, paths)):
        parts = [] if path == WHOLE else [name or index for name, index in _PATH_PART.findall(path)]
        for found in _at(value, parts):
            yield from _texts(found)


def _expanded(path: str) -> list[str]:
    """A path with alternatives, such as `author.{name,city}`, as one path for each."""
    found = _ALTERNATIVES.search(path)
    if found is None:
        return [path]
    return [f"{path[: found.start()]}{each.strip()}{path[found.end() :]}" for each in found[1].split(",")]


def _at(value: Any, parts: Sequence[str]) -> Iterator[Any]:
    """The values at a path. `*` is every item of a list or every value of an object."""
    if not parts:
        yield value
        return
    part, rest = parts[0], parts[1:]
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        below = named.values() if part == ANY else [named[part]] if part in named else []
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        below = items if part == ANY else _item(items, part)
    else:
        below = []
    for each in below:
        yield from _at(each, rest)


def _item(items: list[Any], part: str) -> list[Any]:
    index = int(part) if re.fullmatch(r"-?\d{1,6}", part) else len(items)
    return [items[index]] if -len(items) <= index < len(items) else []


def _texts(value: Any) -> Iterator[str]:
    """All texts and numbers inside a value, in order."""
    if isinstance(value, dict):
        for child in cast("dict[str, Any]", value).values():
            yield from _texts(child)
    elif isinstance(value, list):
        for child in cast("list[Any]", value):
            yield from _texts(child)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def document_terms(value: Mapping[str, Any], paths: Sequence[str] | None) -> list[str]:
    """The index terms of a document, with repetitions."""
    return [term for text in texts_of(value, paths) for term in terms(text)]


def query_terms(query: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The terms of a query, and other spellings of them (kimchi, 김치), each with the word it came from."""
    came_from = {term: word for word in words(query)[:_MAX_QUERY_WORDS] for term in terms(word)}
    asked = {term: came_from.get(term, term) for term in terms(query)}
    spelled = {
        spelling: word
        for term, word in asked.items()
        for spelling in other_script_terms(word if term.isascii() else term)
        if spelling not in asked
    }
    return asked, spelled


def namespace_matches(namespace: Sequence[str], conditions: Sequence[NamespaceMatch]) -> bool:
    """Whether a namespace fulfils all conditions."""
    return all(_matches_one(namespace, each) for each in conditions)


def _matches_one(namespace: Sequence[str], condition: NamespaceMatch) -> bool:
    count = len(condition.path)
    if len(namespace) < count:
        return False
    part = namespace[:count] if condition.at == "prefix" else namespace[-count:]
    return all(wanted in (ANY, label) for label, wanted in zip(part, condition.path, strict=True))
