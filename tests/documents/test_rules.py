"""Filters, searchable texts and namespaces: pure rules."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gieok.errors import InputRefused
from gieok.memory.documents.records import MAX_VALUE_BYTES, NamespaceMatch, PutDocument
from gieok.memory.documents.rules import check_filter, matches, namespace_matches, texts_of

VALUE: dict[str, Any] = {
    "title": "Report",
    "score": 4.5,
    "count": 3,
    "done": True,
    "none": None,
    "tags": ["a", "b"],
    "author": {"name": "Mina", "age": 30},
    "parts": [{"text": "first"}, {"text": "second"}],
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        ({"title": "Report"}, True),
        ({"title": "report"}, False),
        ({"missing": "x"}, False),
        ({"missing": None}, True),
        ({"none": None}, True),
        ({"score": {"$gt": 4}}, True),
        ({"score": {"$gt": 4.5}}, False),
        ({"score": {"$gte": 4.5, "$lt": 5}}, True),
        ({"count": {"$lte": 2}}, False),
        ({"count": 3.0}, True),
        ({"done": True}, True),
        ({"done": 1}, False),
        ({"title": {"$ne": "Draft"}}, True),
        ({"missing": {"$ne": "Draft"}}, True),
        ({"title": {"$gt": 3}}, False),
        ({"missing": {"$gt": 3}}, False),
        ({"tags": {"$gt": 3}}, False),
        ({"title": {"$gte": "R"}}, True),
        ({"tags": ["a", "b"]}, True),
        ({"tags": ["a"]}, False),
        ({"tags": [{"$ne": "x"}, "b"]}, True),
        ({"author": {"name": "Mina"}}, True),
        ({"author": {"age": {"$lt": 30}}}, False),
        ({"title": {"name": "Mina"}}, False),
        ({"title": "Report", "count": 4}, False),
    ],
)
def test_a_filter_compares_values_and_applies_operators(wanted: dict[str, Any], expected: bool) -> None:
    check_filter(wanted)
    assert matches(VALUE, wanted) is expected


@pytest.mark.parametrize("wanted", [{"a": {"$in": [1]}}, {"a": {"b": {"$regex": "x"}}}])
def test_an_unknown_operator_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(InputRefused, match="unknown operator"):
        check_filter(wanted)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("title", ["Report"]),
        ("author.name", ["Mina"]),
        ("author", ["Mina", "30"]),
        ("parts[*].text", ["first", "second"]),
        ("parts[0].text", ["first"]),
        ("parts[-1]", ["second"]),
        ("parts[7]", []),
        ("parts.text", []),
        ("author.*", ["Mina", "30"]),
        ("missing.deeper", []),
        ("$", ["Report", "4.5", "3", "a", "b", "Mina", "30", "first", "second"]),
    ],
)
def test_the_text_at_a_path(path: str, expected: list[str]) -> None:
    assert list(texts_of(VALUE, (path,))) == expected
    assert list(texts_of(VALUE, None)) == list(texts_of(VALUE, ("$",)))


@pytest.mark.parametrize(
    ("at", "path", "expected"),
    [
        ("prefix", ("a",), True),
        ("prefix", ("a", "*"), True),
        ("prefix", ("b",), False),
        ("suffix", ("c",), True),
        ("suffix", ("*", "c"), True),
        ("suffix", ("b",), False),
        ("prefix", ("a", "b", "c", "d"), False),
        ("prefix", ("*", "*", "c"), True),
    ],
)
def test_a_namespace_matches_a_path_with_wildcards(at: Any, path: tuple[str, ...], expected: bool) -> None:
    assert namespace_matches(("a", "b", "c"), [NamespaceMatch(at=at, path=path)]) is expected


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        {"a": float("nan")},
        {"a": object()},
        {"a": b"bytes"},
        {"a": "\x00"},
        {"a": "\ud800"},
        {"a": "x" * MAX_VALUE_BYTES},
        nested(40),
        nested(100_000),
        [],
        None,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_that_cannot_be_stored_unchanged_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        PutDocument(namespace=("a",), key="k", value=value)
