"""A search index as arrays: the rows of one scope, and which of them contain which tokens.

A row carries its terms in one packed value: a header with the row's version and the lengths of its two
fields, then one record for each token with its count in both fields. The fields are the words of the row, and
words that were added later to describe it. Tokens are numbers; the index does not know the words.

An index is never changed in place: `with_changes` makes a new one, so that a search on another thread is not
disturbed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Counts = NDArray[np.uint16]
Flags = NDArray[np.bool_]
Column = NDArray[Any]

MAX_COUNT = 2**16 - 1
NO_SESSION = -1

_RECORD = Struct(">qHH")
_PACKED = np.dtype([("token", ">i8"), ("own", ">u2"), ("added", ">u2")])
_ID = np.dtype("V16")


class Damaged(ValueError):
    """The packed terms of a row do not decode, or belong to another version of the row."""

    def __init__(self, row_id: bytes) -> None:
        super().__init__("the packed terms of a row are damaged")
        self.row_id = row_id


def pack_terms(
    version: int,
    own: Mapping[int, int],
    added: Mapping[int, int] | None = None,
    *,
    own_words: int,
    added_words: int = 0,
) -> bytes:
    """Pack the tokens of a row with their counts, sorted by token so that the order reveals nothing.

    `own_words` and `added_words` are the lengths of the fields.
    """
    added = added or {}
    return b"".join(
        (
            _RECORD.pack(version, min(own_words, MAX_COUNT), min(added_words, MAX_COUNT)),
            *(
                _RECORD.pack(token, min(own.get(token, 0), MAX_COUNT), min(added.get(token, 0), MAX_COUNT))
                for token in sorted(own.keys() | added.keys() if added else own)
            ),
        )
    )


def pack_keywords(version: int, keywords: Sequence[Collection[int]]) -> bytes:
    """Pack the tokens of each keyword of a row. In place of a count stands the keyword's number, from 1."""
    records = sorted((token, number) for number, tokens in enumerate(keywords, 1) for token in tokens)
    header = _RECORD.pack(version, len(keywords), 0)
    return b"".join((header, *(_RECORD.pack(token, number, 0) for token, number in records)))


def packed_tokens(terms: bytes) -> tuple[int, ...]:
    """The tokens of packed terms."""
    return tuple(token for token, _, _ in _RECORD.iter_unpack(terms[_RECORD.size :]))


class IndexRow(NamedTuple):
    """A row as the database returns it."""

    id: bytes
    """16 bytes."""
    number: int
    """Grows with every new row of the scope."""
    version: int
    """The version of the row that its terms belong to."""
    changed: int
    """The revision of the scope at which the row was written or changed last."""
    at: int
    """Microseconds since 1970."""
    importance: int
    session: str | None
    is_archived: bool
    terms: bytes
    kind: int = 0
    """What the row is, where a scope has rows of several kinds."""


class Match(NamedTuple):
    """The rows that contain a token, in ascending order, with its count in both fields of each."""

    rows: Rows
    own: Counts
    added: Counts


class Columns(NamedTuple):
    """The columns of all rows."""

    ids: Column
    numbers: Column
    changed: Column
    at: Column
    importance: Column
    sessions: Column
    """Number of the session, `NO_SESSION` without one."""
    is_archived: Column
    own_words: Column
    added_words: Column
    kinds: Column


class Neighbours(NamedTuple):
    """The rows of sessions in the order of time, each kind by itself."""

    order: Rows
    """Rows, by session and time. Rows without a session are left out."""
    next_is_near: Flags
    """For each place in `order` but the last: whether the next place is of the same session and kind."""
    second_is_near: Flags
    """The same for the place after the next."""


class Part(NamedTuple):
    """The rows that a search looks at."""

    visible: Flags | None
    """None is all."""
    size: int
    """How many rows these are."""
    neighbours: Neighbours


@dataclass(frozen=True)
class SearchIndex:
    """All searchable rows of one scope. Rows are counted from 0 in no particular order."""

    columns: Columns
    tokens: Ints
    """Sorted. Each occurs once for each row that contains it."""
    postings: Match
    """Parallel to `tokens`."""
    session_numbers: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.columns.ids)

    @property
    def bytes(self) -> int:
        """Estimated size."""
        arrays = (*self.columns, self.tokens, *self.postings)
        return (
            1_000 + sum(array.nbytes for array in arrays) + 20 * len(self) + 120 * len(self.session_numbers)
        )

    def with_changes(self, rows: Sequence[IndexRow]) -> SearchIndex:
        """The index with new rows, and with the new state of changed rows. Damaged."""
        if not rows:
            return self
        if not len(self):
            return _read(rows, {})
        added = _read(rows, self.session_numbers)
        changed = {row.id for row in rows}
        is_stale = np.isin(_low_half(self.columns.ids), _low_half(added.columns.ids))
        for row in np.flatnonzero(is_stale).tolist():
            is_stale[row] = self.columns.ids[row].tobytes() in changed
        return _merge(self._without(is_stale) if is_stale.any() else self, added)

    def find(self, tokens: Sequence[int]) -> dict[int, Match]:
        """The rows that contain each token. Tokens without any are left out."""
        wanted = np.array(tokens, dtype=np.int64)
        starts = self.tokens.searchsorted(wanted)
        ends = self.tokens.searchsorted(wanted, side="right")
        rows, own, added = self.postings
        found = np.flatnonzero(ends > starts)
        return {
            tokens[place]: Match(rows[start:end], own[start:end], added[start:end])
            for place, start, end in zip(
                found.tolist(), starts[found].tolist(), ends[found].tolist(), strict=True
            )
        }

    def part(self, kinds: frozenset[int] = frozenset((0,)), *, include_archived: bool) -> Part:
        """The rows of these kinds that are searched, with or without the archived ones.

        Of other kinds than 0, rows without a word are left out: they must not be found any more.
        """
        key = kinds, include_archived
        if key not in self._parts:
            columns = self.columns
            visible = np.isin(columns.kinds, list(kinds))
            visible &= (columns.kinds == 0) | (columns.own_words > 0) | (columns.added_words > 0)
            if not include_archived:
                visible &= ~columns.is_archived
            count = int(visible.sum())
            if count == len(self):
                self._parts[key] = Part(None, count, self._neighbours(None))
            else:
                self._parts[key] = Part(visible, count, self._neighbours(visible))
        return self._parts[key]

    @cached_property
    def _parts(self) -> dict[tuple[frozenset[int], bool], Part]:
        return {}

    @cached_property
    def by_number(self) -> tuple[Ints, Ints]:
        """The numbers in ascending order, and the row of each."""
        order = np.argsort(self.columns.numbers)
        return self.columns.numbers[order], order

    @cached_property
    def _session_order(self) -> Rows:
        """The rows with a session, by session, kind and time."""
        numbers, at, kinds = self.columns.numbers, self.columns.at, self.columns.kinds
        sessions = self.columns.sessions
        rows = np.flatnonzero(sessions != NO_SESSION)
        return rows[np.lexsort((numbers[rows], at[rows], kinds[rows], sessions[rows]))].astype(np.int32)

    def _neighbours(self, visible: Flags | None) -> Neighbours:
        order = self._session_order if visible is None else self._session_order[visible[self._session_order]]
        sessions, kinds = self.columns.sessions[order], self.columns.kinds[order]
        return Neighbours(
            order,
            (sessions[1:] == sessions[:-1]) & (kinds[1:] == kinds[:-1]),
            (sessions[2:] == sessions[:-2]) & (kinds[2:] == kinds[:-2]),
        )

    def without(self, numbers: Sequence[int]) -> SearchIndex:
        """The index without the rows with these numbers."""
        return self._without(np.isin(self.columns.numbers, numbers)) if numbers else self

    def _without(self, is_stale: Flags) -> SearchIndex:
        kept = ~is_stale
        entries = kept[self.postings.rows]
        renumbered = np.cumsum(kept, dtype=np.int32) - 1
        rows, own, added = self.postings
        return SearchIndex(
            Columns(*(column[kept] for column in self.columns)),
            self.tokens[entries],
            Match(renumbered[rows[entries]], own[entries], added[entries]),
            self.session_numbers,
        )


EMPTY_INDEX = SearchIndex(
    Columns(
        np.empty(0, _ID),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty(0, np.uint16),
        np.empty(0, np.int32),
        np.empty(0, np.bool_),
        np.empty(0, np.uint16),
        np.empty(0, np.uint16),
        np.empty(0, np.uint8),
    ),
    np.empty(0, np.int64),
    Match(np.empty(0, np.int32), np.empty(0, np.uint16), np.empty(0, np.uint16)),
    {},
)


def _read(rows: Sequence[IndexRow], session_numbers: Mapping[str, int]) -> SearchIndex:
    """The index of these rows alone. Sessions are numbered on from `session_numbers`."""
    ids, numbers, versions, changed, at, importance, sessions, archived, packed, kinds = zip(
        *rows, strict=True
    )
    records, is_header = _decode(ids, versions, packed)
    numbered = dict(session_numbers)
    session_of = [
        NO_SESSION if name is None else numbered.setdefault(name, len(numbered)) for name in sessions
    ]
    headers, records_of = records[is_header], records[~is_header]
    row_of = (np.cumsum(is_header, dtype=np.int32) - 1)[~is_header]
    tokens = records_of["token"].astype(np.int64)
    order = np.argsort(tokens, kind="stable")  # stable, so that the rows of a token ascend
    columns = Columns(
        np.frombuffer(b"".join(ids), dtype=_ID),
        np.array(numbers, np.int64),
        np.array(changed, np.int64),
        np.array(at, np.int64),
        np.array(importance, np.uint16),
        np.array(session_of, np.int32),
        np.array(archived, np.bool_),
        headers["own"].astype(np.uint16),
        headers["added"].astype(np.uint16),
        np.array(kinds, np.uint8),
    )
    postings = Match(
        row_of[order],
        records_of["own"].astype(np.uint16)[order],
        records_of["added"].astype(np.uint16)[order],
    )
    return SearchIndex(columns, tokens[order], postings, numbered)


def _decode(
    ids: Sequence[bytes], versions: Sequence[int], packed: Sequence[bytes]
) -> tuple[NDArray[Any], Flags]:
    """All records, and which of them are headers. Damaged."""
    sizes = np.fromiter(map(len, packed), np.int64, len(packed))
    wrong = (sizes < _PACKED.itemsize) | (sizes % _PACKED.itemsize != 0)
    if wrong.any():
        raise Damaged(ids[int(wrong.argmax())])
    records = np.frombuffer(b"".join(packed), dtype=_PACKED)
    starts = np.concatenate(([0], np.cumsum(sizes[:-1]) // _PACKED.itemsize))
    is_header = np.zeros(len(records), np.bool_)
    is_header[starts] = True
    tokens = records["token"]
    misplaced = np.zeros(len(records), np.bool_)
    misplaced[starts] = tokens[starts] != np.array(versions, np.int64)
    # Tokens ascend, and each occurs in one of the fields.
    first = np.zeros(len(records), np.bool_)
    first[starts[starts + 1 < len(records)] + 1] = True
    misplaced[1:] |= ~is_header[1:] & ~first[1:] & (tokens[1:] < tokens[:-1])
    misplaced |= ~is_header & (records["own"] == 0) & (records["added"] == 0)
    if misplaced.any():
        raise Damaged(ids[int(np.cumsum(is_header)[misplaced.argmax()]) - 1])
    return records, is_header


def _merge(one: SearchIndex, other: SearchIndex) -> SearchIndex:
    """Both indexes together; the rows of `other` come after those of `one`."""
    places = one.tokens.searchsorted(other.tokens, side="right")
    rows, own, added = other.postings
    return SearchIndex(
        Columns(*(np.concatenate(pair) for pair in zip(one.columns, other.columns, strict=True))),
        np.insert(one.tokens, places, other.tokens),
        Match(
            np.insert(one.postings.rows, places, rows + len(one)),
            np.insert(one.postings.own, places, own),
            np.insert(one.postings.added, places, added),
        ),
        other.session_numbers,
    )


def _low_half(ids: Column) -> NDArray[np.uint64]:
    return ids.view(np.uint64)[1::2]
