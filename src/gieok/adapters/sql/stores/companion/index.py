"""The blind search index of companion memory in SQL: postings with tokens instead of words."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast
from uuid import UUID

from gieok.adapters.sql.cache import OwnerCache
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.companion.rows import read_memory
from gieok.errors import NotFound, StoreDamaged
from gieok.memory.companion.store import AnalyzedMemory, Entry, Match, Matches, Tally
from gieok.vault import OwnerKeys

_FIELD = "memories.terms"
_TERM = struct.Struct(">qH")
_MAX_COUNT = 2**16 - 1
_SECOND = 1_000_000
_DISTANCES = (-1, -2, 1, 2)
"""Distances of the neighbours in the columns of `list_memory_neighbours`."""


class Posting(NamedTuple):
    """The index entry of a memory."""

    number: int
    is_archived: bool
    words: int
    terms: bytes
    """Its packed tokens with their counts."""


def pack_terms(keys: OwnerKeys, persona_id: str, terms: Iterable[str]) -> bytes:
    """Pack the terms of a memory for its row, sorted by token so that the order reveals nothing."""
    counted = Counter(keys.tokens(_FIELD, persona_id, terms))
    return b"".join(_TERM.pack(token, min(counted[token], _MAX_COUNT)) for token in sorted(counted))


def find_posting(tx: Tx, memory_id: UUID) -> tuple[str, Posting]:
    """The persona of a memory, and its index entry. NotFound."""
    row = tx.one("get_memory_index", id=memory_id.bytes)
    if row is None:
        raise NotFound(f"there is no memory {memory_id}")
    persona_id, number, archived_at, words, terms = row
    return persona_id, Posting(number, archived_at is not None, words, terms)


def add_posting(tx: Tx, persona_id: str, posting: Posting, *, created: int = 0) -> None:
    """Add a memory to the index and to the counts; `created` is 1 for a new memory."""
    number, archived, words = posting.number, int(posting.is_archived), posting.words
    postings = [
        {"token": token, "archived": archived, "number": number, "times": times, "words": words}
        for token, times in unpack_terms(posting.terms)
    ]
    tx.run_many("add_memory_postings", postings)
    tx.run_many("count_memory_terms", _rows(posting))
    _count(tx, persona_id, posting, 1, created)


def remove_posting(tx: Tx, persona_id: str, posting: Posting) -> None:
    """Remove a memory from the index and from the counts."""
    rows = _rows(posting)
    tx.run_many("remove_memory_postings", [{**row, "number": posting.number} for row in rows])
    tx.run_many("discount_memory_terms", rows)
    tx.run_many("remove_unused_memory_terms", rows)
    _count(tx, persona_id, posting, -1, 0)


def _count(tx: Tx, persona_id: str, posting: Posting, sign: int, created: int) -> None:
    archived = int(posting.is_archived)
    tx.run(
        "change_memory_counts",
        persona_id=persona_id,
        created=created,
        active=sign * (1 - archived),
        archived=sign * archived,
        words_active=sign * (1 - archived) * posting.words,
        words_archived=sign * archived * posting.words,
    )


def _rows(posting: Posting) -> list[dict[str, int]]:
    archived = int(posting.is_archived)
    return [{"token": token, "archived": archived} for token, _ in unpack_terms(posting.terms)]


def unpack_terms(terms: bytes) -> Iterator[tuple[int, int]]:
    """The tokens of a memory, each with its count."""
    return cast("Iterator[tuple[int, int]]", _TERM.iter_unpack(terms))


def entry_of(number: int, importance: int, occurred_at: int, session_ref: str | None) -> Entry:
    """The entry of a row."""
    return Entry(number, importance, occurred_at / _SECOND, session_ref)


class State(NamedTuple):
    """Settings, counts and revision of a persona's memories."""

    recall: bool
    """Whether recall is enabled."""
    active_limit: int | None
    """The user's limit of active memories; None if only the account's limit applies."""
    revision: int
    """Grows with every change."""
    last_number: int
    active: int
    archived: int
    words_active: int
    words_archived: int

    @property
    def memories(self) -> tuple[int, ...]:
        """Everything that changes with the memories. The counts also detect changes by a process of an older
        version, which has no revision."""
        return self[2:]

    def tally(self, *, include_archived: bool) -> Tally:
        """Number of memories and words that are searched."""
        if include_archived:
            return Tally(self.active + self.archived, self.words_active + self.words_archived)
        return Tally(self.active, self.words_active)


NO_STATE = State(True, None, 0, 0, 0, 0, 0, 0)


def read_state(tx: Tx, persona_id: str) -> State:
    """Read the state in this transaction."""
    row = tx.one("get_memory_state", persona_id=persona_id)
    return State(bool(row[0]), *row[1:]) if row else NO_STATE


class SqlMemoryIndex:
    """Search index of one persona inside one transaction."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        cache: OwnerCache,
        persona_id: str,
        state: State,
        *,
        include_archived: bool,
    ) -> None:
        self._tx = tx
        self._keys = keys
        self._cache = cache
        self._persona_id = persona_id
        self._state = state
        self._archived = int(include_archived)
        self._tokens: dict[str, int] = {}

    @property
    def recall(self) -> bool:
        return self._state.recall

    def tally(self) -> Tally:
        return self._state.tally(include_archived=bool(self._archived))

    def document_frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        by_token = self._by_token(terms)
        if not by_token:
            return {}
        rows = self._tx.all("list_memory_terms", tokens=list(by_token), archived=self._archived)
        return {by_token[token]: int(memories) for token, memories in rows}

    def with_term(self, term: str, limit: int) -> list[int]:
        token = self._tokens_of([term])[term]
        numbers: list[int] = []
        for archived in range(self._archived + 1):
            rows = self._tx.all("list_memories_with_term", token=token, archived=archived, limit=limit)
            numbers += [number for (number,) in rows]
        return sorted(numbers, reverse=True)[:limit]

    def recent(self, limit: int) -> list[int]:
        rows = self._tx.all(
            "list_recent_memories", persona_id=self._persona_id, archived=self._archived, limit=limit
        )
        return [number for (number,) in rows]

    def important(self, limit: int) -> list[int]:
        rows = self._tx.all("list_important_memories", persona_id=self._persona_id, limit=limit)
        return [number for (number,) in rows]

    def matches(self, terms: Collection[str], among: Collection[int] | None = None) -> Matches:
        by_token = self._by_token(terms)
        if not by_token or (among is not None and not among):
            return {}
        params = {"tokens": list(by_token), "archived": self._archived}
        if among is None:
            rows = self._tx.all("list_memory_postings", **params)
        else:
            rows = self._tx.all("list_memory_postings_among", **params, numbers=list(among))
        found: dict[str, list[Match]] = {}
        for number, token, times, words in rows:
            found.setdefault(by_token[token], []).append((number, times, words))
        return found

    def entries(self, numbers: Collection[int]) -> list[Entry]:
        if not numbers:
            return []
        rows = self._tx.all("list_memory_entries", persona_id=self._persona_id, numbers=list(numbers))
        self._check(len(rows), numbers)
        return [entry_of(*row) for row in rows]

    def neighbours(self, numbers: Collection[int]) -> Mapping[int, Mapping[int, int]]:
        if not numbers:
            return {}
        rows = self._tx.all(
            "list_memory_neighbours",
            persona_id=self._persona_id,
            numbers=list(numbers),
            archived=self._archived,
        )
        return {
            number: {
                other: distance
                for other, distance in zip(others, _DISTANCES, strict=True)
                if other is not None
            }
            for number, *others in rows
        }

    def open(self, numbers: Sequence[int]) -> list[AnalyzedMemory]:
        if not numbers:
            return []
        rows = self._tx.all("list_memories_by_number", persona_id=self._persona_id, numbers=list(numbers))
        self._check(len(rows), numbers)
        by_number = {row[2]: row for row in rows}
        return [read_memory(self._keys, self._cache, by_number[number]) for number in numbers]

    def _tokens_of(self, terms: Collection[str]) -> Mapping[str, int]:
        """Tokens by term, of at least these terms."""
        missing = [term for term in terms if term not in self._tokens]
        if missing:
            tokens = self._keys.tokens(_FIELD, self._persona_id, missing)
            self._tokens.update(zip(missing, tokens, strict=True))
        return self._tokens

    def _by_token(self, terms: Collection[str]) -> dict[int, str]:
        tokens = self._tokens_of(terms)
        return {tokens[term]: term for term in terms}

    def _check(self, found: int, numbers: Collection[int]) -> None:
        if found != len(numbers):
            raise StoreDamaged(
                f"the index of persona {self._persona_id} refers to {len(numbers)} memories, of which "
                f"{len(numbers) - found} do not exist; restore a backup"
            )
