"""The search index as arrays: packed terms, changes, and damage."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gieok.ranking import EMPTY_INDEX, Damaged, IndexRow, SearchIndex, pack_keywords, pack_terms

TOKENS = st.integers(-(2**63), 2**63 - 1)
FIELD = st.dictionaries(st.integers(-3, 3), st.integers(1, 3), max_size=5)


def row(number: int, terms: bytes, *, version: int = 1, session: str | None = None) -> IndexRow:
    identity = number.to_bytes(16, "big")
    return IndexRow(identity, number, version, number, number, 5, session, False, terms)


def packed(tokens: dict[int, int], version: int = 1) -> bytes:
    return pack_terms(version, tokens, own_words=sum(tokens.values()))


def content(index: SearchIndex) -> dict[int, dict[int, tuple[int, int]]]:
    """The counts of each token in both fields, by the number of the row."""
    rows: dict[int, dict[int, tuple[int, int]]] = {int(number): {} for number in index.columns.numbers}
    for token, row, own, added in zip(
        index.tokens.tolist(), *map(np.ndarray.tolist, index.postings), strict=True
    ):
        rows[int(index.columns.numbers[row])][token] = (own, added)
    return rows


@given(st.dictionaries(TOKENS, st.integers(1, 70_000), max_size=8), st.integers(1, 2**40))
def test_packed_terms_come_back(tokens: dict[int, int], version: int) -> None:
    """Counts above 65,535 are cut."""
    index = EMPTY_INDEX.with_changes([row(1, packed(tokens, version), version=version)])
    assert content(index) == {1: {token: (min(count, 65_535), 0) for token, count in tokens.items()}}
    assert index.columns.own_words.tolist() == [min(sum(tokens.values()), 65_535)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), FIELD, FIELD), max_size=8))
def test_changes_in_any_order_give_the_index_of_the_last_rows(
    changes: list[tuple[int, dict[int, int], dict[int, int]]],
) -> None:
    index, last = EMPTY_INDEX, dict[int, IndexRow]()
    for place, (number, own, added) in enumerate(changes, 1):
        terms = pack_terms(place, own, added, own_words=sum(own.values()), added_words=sum(added.values()))
        last[number] = row(number, terms, version=place, session=f"s{place % 2}")
        index = index.with_changes([last[number]])
        assert content(index) == content(EMPTY_INDEX.with_changes(list(last.values())))
        assert np.all(index.tokens[1:] >= index.tokens[:-1])
        for match in index.find(range(-3, 4)).values():
            assert np.all(match.rows[1:] > match.rows[:-1])
            assert np.all(match.own + match.added > 0)


def test_several_rows_are_replaced_at_once() -> None:
    index = EMPTY_INDEX.with_changes([row(number, packed({number: 1})) for number in range(1, 6)])
    changed = index.with_changes([row(2, packed({7: 1})), row(4, packed({})), row(9, packed({9: 2}))])
    assert content(changed) == {
        1: {1: (1, 0)},
        2: {7: (1, 0)},
        3: {3: (1, 0)},
        4: {},
        5: {5: (1, 0)},
        9: {9: (2, 0)},
    }
    assert content(index)[2] == {2: (1, 0)}, "an index in use does not change"


def test_rows_whose_ids_share_a_half_are_different() -> None:
    halves = [(1, 2), (3, 4), (5, 6), (7, 8)]
    ids = [high.to_bytes(8, "big") + low.to_bytes(8, "big") for high, low in halves]
    rows = [row(number, packed({number: 1}))._replace(id=one) for number, one in enumerate(ids, 1)]
    mixed = row(5, packed({5: 1}))._replace(id=ids[0][:8] + ids[2][8:])
    index = EMPTY_INDEX.with_changes([*rows, mixed])
    assert content(index.with_changes([rows[0], rows[2]])) == content(index)


def test_a_missing_token_is_left_out() -> None:
    index = EMPTY_INDEX.with_changes([row(1, packed({5: 1}))])
    assert list(index.find([4, 5, 6])) == [5]
    assert index.find([]) == EMPTY_INDEX.find([5]) == {}


def test_keywords_are_numbered_from_1() -> None:
    index = EMPTY_INDEX.with_changes([row(1, pack_keywords(1, [{5, 6}, {6}]))])
    assert {token: match.own.tolist() for token, match in index.find([5, 6]).items()} == {5: [1], 6: [1, 2]}


GOOD = packed({3: 1, 5: 2}, version=2)
DAMAGE = {
    "empty": b"",
    "cut off": GOOD[:-1],
    "a record without its header": GOOD[12:],
    "of another version": packed({3: 1}, version=1),
    "out of order": GOOD[:12] + GOOD[24:36] + GOOD[12:24],
    "a token without a count": GOOD[:20] + bytes(4) + GOOD[24:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_terms_are_reported_with_their_row(damage: bytes) -> None:
    rows = [row(1, GOOD, version=2), row(2, damage, version=2), row(3, GOOD, version=2)]
    with pytest.raises(Damaged) as damaged:
        EMPTY_INDEX.with_changes(rows)
    assert damaged.value.row_id == (2).to_bytes(16, "big")


def test_the_order_of_packed_terms_reveals_nothing() -> None:
    words = Counter([3, -1, 3, 2])
    assert packed(words) == packed(dict(sorted(words.items(), reverse=True)))
