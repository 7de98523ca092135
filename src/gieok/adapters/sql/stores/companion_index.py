"""The blind index of companion memory: postings that reveal no word, and what a score is made of."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast
from uuid import UUID

from gieok.adapters.sql.cache import OwnerCache
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.companion_rows import read_memory
from gieok.errors import NotFound, StoreDamaged
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.store import Entry, Match, Matches, Tally
from gieok.vault import OwnerKeys

_FIELD = "memories.terms"
_TERM = struct.Struct(">qH")
_MOST = 2**16 - 1
_SECOND = 1_000_000
_AWAY = (-1, -2, 1, 2)
"""Where the neighbours that a query gives stand: before, and after."""


class Posting(NamedTuple):
    """Where a memory stands in the index."""

    number: int
    is_archived: bool
    words: int
    terms: bytes
    """Its tokens, each with how often its term is there."""


def pack_terms(keys: OwnerKeys, persona_id: str, terms: Iterable[str]) -> bytes:
    """The terms of a memory as its row keeps them, in an order that says nothing about the text."""
    counted = Counter(keys.tokens(_FIELD, persona_id, terms))
    return b"".join(_TERM.pack(token, min(counted[token], _MOST)) for token in sorted(counted))


def find_posting(tx: Tx, memory_id: UUID) -> tuple[str, Posting]:
    """The persona of a memory, and where the memory stands. NotFound."""
    row = tx.one("get_memory_index", id=memory_id.bytes)
    if row is None:
        raise NotFound(f"there is no memory {memory_id}")
    persona_id, number, archived_at, words, terms = row
    return persona_id, Posting(number, archived_at is not None, words, terms)


def add_posting(tx: Tx, persona_id: str, posting: Posting, *, created: int = 0) -> None:
    """Make a memory findable, and count it; `created` is 1 for one that was not there before."""
    number, archived, words = posting.number, int(posting.is_archived), posting.words
    postings = [
        {"token": token, "archived": archived, "number": number, "times": times, "words": words}
        for token, times in unpack_terms(posting.terms)
    ]
    tx.run_many("add_memory_postings", postings)
    tx.run_many("count_memory_terms", _rows(posting))
    _count(tx, persona_id, posting, 1, created)


def remove_posting(tx: Tx, persona_id: str, posting: Posting) -> None:
    """Leave no trace of a memory in the index and in the counts."""
    rows = _rows(posting)
    tx.run_many("remove_memory_postings", [{**row, "number": posting.number} for row in rows])
    tx.run_many("discount_memory_terms", rows)
    tx.run_many("forget_memory_terms", rows)
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
    """The tokens of a memory, each with how often its term is there."""
    return cast("Iterator[tuple[int, int]]", _TERM.iter_unpack(terms))


def entry_of(number: int, importance: int, occurred_at: int, session_ref: str | None) -> Entry:
    """The entry of a row."""
    return Entry(number, importance, occurred_at / _SECOND, session_ref)


class State(NamedTuple):
    """How the memories of a persona stand."""

    recall: bool
    """Whether the user lets them be recalled."""
    active_limit: int | None
    """How many the user lets be active; None is no limit but the account's."""
    revision: int
    """How often they were changed."""
    last_number: int
    active: int
    archived: int
    words_active: int
    words_archived: int

    @property
    def memories(self) -> tuple[int, ...]:
        """What changes with the memories. Their revision does at each change; the rest shows what was done by
        a process of a version that knew of none."""
        return self[2:]

    def tally(self, *, include_archived: bool) -> Tally:
        """What is searched."""
        if include_archived:
            return Tally(self.active + self.archived, self.words_active + self.words_archived)
        return Tally(self.active, self.words_active)


NO_STATE = State(True, None, 0, 0, 0, 0, 0, 0)


def read_state(tx: Tx, persona_id: str) -> State:
    """How they stand in this transaction."""
    row = tx.one("get_memory_state", persona_id=persona_id)
    return State(bool(row[0]), *row[1:]) if row else NO_STATE


class SqlMemoryIndex:
    """The memories of one persona of one owner, by their words, inside one transaction."""

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

    def rarity(self, terms: Collection[str]) -> Mapping[str, int]:
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
        asked = {"tokens": list(by_token), "archived": self._archived}
        if among is None:
            rows = self._tx.all("list_memory_postings", **asked)
        else:
            rows = self._tx.all("list_memory_postings_among", **asked, numbers=list(among))
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
            number: {other: away for other, away in zip(others, _AWAY, strict=True) if other is not None}
            for number, *others in rows
        }

    def open(self, numbers: Sequence[int]) -> list[ReadMemory]:
        if not numbers:
            return []
        rows = self._tx.all("list_memories_by_number", persona_id=self._persona_id, numbers=list(numbers))
        self._check(len(rows), numbers)
        by_number = {row[2]: row for row in rows}
        return [read_memory(self._keys, self._cache, by_number[number]) for number in numbers]

    def _tokens_of(self, terms: Collection[str]) -> Mapping[str, int]:
        """The tokens of these terms, and of others."""
        unknown = [term for term in terms if term not in self._tokens]
        if unknown:
            tokens = self._keys.tokens(_FIELD, self._persona_id, unknown)
            self._tokens.update(zip(unknown, tokens, strict=True))
        return self._tokens

    def _by_token(self, terms: Collection[str]) -> dict[int, str]:
        tokens = self._tokens_of(terms)
        return {tokens[term]: term for term in terms}

    def _check(self, found: int, numbers: Collection[int]) -> None:
        if found != len(numbers):
            raise StoreDamaged(
                f"the index of persona {self._persona_id} leads to {len(numbers)} memories, of which "
                f"{len(numbers) - found} are not there; restore a backup"
            )
