"""Ambiguous JSON is refused, with the place in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.engine.strict_json import MAX_DIGITS, JsonRefused, is_deeper, parse_json

DEPTH, ITEMS = 65, 50_000


def parse(content: bytes) -> Any:
    return parse_json(content, depth=DEPTH, items=ITEMS)


TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
NUMBERS = st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_valid_json_is_parsed(value: Any, escaped: bool) -> None:
    body = json.dumps(value, ensure_ascii=escaped).encode()
    assert parse(body) == value


@pytest.mark.parametrize(
    ("body", "message", "at"),
    [
        (b'{"a": 1, "a": 2}', 'the key "a" twice', None),
        (b'{"m": [{}, {"x": {"k": 1, "k": 1}}]}', 'the key "k" twice', "m[1].x"),
        (b'{"a": NaN}', "NaN is not a JSON number", None),
        (b"[-Infinity]", "-Infinity is not a JSON number", None),
        (b'{"a": 1e999}', "too large", "a"),
        (b'{"a": [-1E+00999]}', "too large", "a[0]"),
        (b'{"a": ' + b"9" * 400 + b".0}", "too large", "a"),
        (b'{"a": ' + b"9" * (MAX_DIGITS + 1) + b"}", "at most 40 digits", "a"),
        (b'{"a": ' + b"9" * 100_000 + b"}", "at most 40 digits", "a"),
        (rb'{"a": {"b": "\ud800"}}', "surrogate", "a.b"),
        (rb'{"a": "\udc00\ud800"}', "surrogate", "a"),
        (rb'{"\udfff": 1}', "surrogate", None),
        (rb'["", "\u0000"]', "NUL", "[1]"),
        (b'{"a": "\x00"}', "not JSON: line 1, column 8", None),
        (b'{"a": "\xff"}', "not UTF-8: byte 8", None),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8", None),
        (b"\xef\xbb\xbf{}", "byte order mark", None),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8", None),
        (b"{'a': 1}", "not JSON", None),
        (b'{"a": 1} {}', "not JSON", None),
        (b'{"a": 01}', "not JSON", None),
        (b"", "not JSON", None),
        (b"[" * (DEPTH + 1) + b"]" * (DEPTH + 1), "deeper than 65 levels", None),
        (b"[" * DEPTH + b"1" + b"]" * DEPTH, "deeper than 65 levels", None),
        (b"[" * 1_000_000, "deeper than 65 levels", None),
        (b"[" + b"1," * ITEMS + b"1]", "more than 50000 values", None),
    ],
)
def test_ambiguous_or_large_json_is_refused_with_its_place(body: bytes, message: str, at: str | None) -> None:
    with pytest.raises(JsonRefused, match=message) as refused:
        parse(body)
    assert refused.value.at == at


@pytest.mark.parametrize(
    "body",
    [
        rb'{"a": "\ud83d\ude00"}',
        b'{"a": "1e999, ' + b"9" * 500 + b'"}',
        b'{"a": "' + b"[,{" * ITEMS + b'"}',
        b'{"a": 1e308}',
        b'{"a": -0.0}',
        b"[" * DEPTH + b"]" * DEPTH,
        b' \n"text"\t',
    ],
)
def test_valid_json_that_looks_suspicious_is_parsed(body: bytes) -> None:
    assert parse(body) == json.loads(body)


def test_scalars_count_as_a_level() -> None:
    assert not is_deeper([[1]], 3)
    assert is_deeper([[1]], 2)


def test_the_number_of_values_is_not_limited_by_default() -> None:
    assert len(parse_json(b"[" + b"1," * ITEMS + b"1]", depth=2)) == ITEMS + 1
