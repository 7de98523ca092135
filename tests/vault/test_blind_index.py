"""Tokens are equal for equal words of one owner and field, and reveal nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.vault import OwnerKeys, Vault
from gieok.vault.blind_index import BlindIndex

KEY = bytes(range(100, 132))
words = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=4).map(tuple)


@given(words)
def test_a_token_is_deterministic(parts: tuple[str, ...]) -> None:
    """It is the same in every process, and it fits a signed 64-bit column."""
    token = BlindIndex(KEY).token("turn.word", *parts)
    assert token == BlindIndex(KEY).token("turn.word", *parts)
    assert -(2**63) <= token < 2**63


@given(st.lists(words, min_size=2, max_size=5, unique=True))
def test_different_parts_give_different_tokens(lists: list[tuple[str, ...]]) -> None:
    """Even if their concatenation is the same."""
    index = BlindIndex(KEY)
    assert len({index.token("turn.word", *parts) for parts in lists}) == len(lists)


def test_parts_are_separated_unambiguously() -> None:
    """A session and a word cannot be split in two ways."""
    index = BlindIndex(KEY)
    ways = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("ab\0", "c"), ("a", "b", "c")]
    assert len({index.token("turn.word", *parts) for parts in ways}) == len(ways)


@pytest.mark.req("OPS-4")
def test_tokens_differ_between_fields_and_owners(vault: Vault) -> None:
    """It is not visible that two owners, or two fields, share a word."""
    kim, lee = vault.create("kim"), vault.create("lee")
    tokens = {keys.token(field, "영화") for keys in (kim, lee) for field in ("turn.word", "companion.word")}
    assert len(tokens) == 4


def test_an_unknown_owner_matches_nothing(vault: Vault) -> None:
    """Throw-away keys give new tokens each time."""
    tokens = {vault.create("kim").token("turn.word", "영화")}
    tokens |= {OwnerKeys.unknown("kim").token("turn.word", "영화") for _ in range(3)}
    assert len(tokens) == 4


def test_stored_tokens_have_not_changed() -> None:
    """Data that an earlier version indexed is still found."""
    index = BlindIndex(KEY)
    assert index.token("turn.word", "영화") == -869224995445630980
    assert index.token("turn.word", "session-1", "영화") == 4844660588556072869
    assert index.token("turn.word") == -3404176326200832419


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), words)
def test_tokens_of_many_words_are_the_tokens_of_each_word(place: str, many: tuple[str, ...]) -> None:
    index = BlindIndex(KEY)
    assert index.tokens("turn.word", place, many) == [index.token("turn.word", place, one) for one in many]
