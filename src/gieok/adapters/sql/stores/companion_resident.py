"""The index of a persona in memory: what is searched again and again is not read from the database each time.

It holds what the rows of memories say, tokens instead of words, and beside them what was opened for a search.
It is cached, and cleared together with the owner's keys. The database says what is current: every search
reads the revision of the persona's memories in its own transaction, so that several processes agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

from gieok.adapters.sql.cache import OwnerCache
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.adapters.sql.stores.companion_index import NO_STATE, SqlMemoryIndex, State, entry_of, unpack_terms
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.store import Entry, Match, Matches
from gieok.vault import OwnerKeys

MOST = 40_000
"""More words than these are searched in the database: to read all of them would hold others up."""
WORTH = 2_000
"""A search in the database takes about as long as it takes to read so many words into the index. So the index
is made after as many searches as would have paid for it: then it costs twice the time at the worst."""
ENTRY_BYTES = 5_000
"""Estimated size of an entry together with its decrypted memory."""
WORD_BYTES = 100
"""Estimated size of a posting."""


class ResidentIndex:
    """The memories of a persona as they stood at one revision. A later one is made of it, and it stays."""

    __slots__ = ("_beside", "_sessions", "bytes", "entries", "opened", "postings", "state")

    def __init__(
        self,
        state: State,
        entries: Mapping[int, Entry],
        postings: Mapping[int, Sequence[Match]],
        sessions: Mapping[str, Sequence[tuple[float, int]]],
        opened: dict[int, ReadMemory],
    ) -> None:
        """`opened` is filled as memories are asked for."""
        self.state = state
        self.entries = entries
        self.postings = postings
        self.opened = opened
        words = state.words_active + state.words_archived
        self.bytes = ENTRY_BYTES * (1 + len(entries)) + WORD_BYTES * words
        self._sessions = sessions
        self._beside: dict[int, Mapping[int, int]] = {}

    def grown(self, state: State, rows: Iterable[Row]) -> ResidentIndex:
        """The same with these memories, which were added since."""
        entries, postings, sessions = dict(self.entries), dict(self.postings), dict(self._sessions)
        found: dict[int, list[Match]] = {}
        said: dict[str, list[tuple[float, int]]] = {}
        for number, importance, occurred_at, session_ref, words, terms in rows:
            entry = entries[number] = entry_of(number, importance, occurred_at, session_ref)
            for token, times in unpack_terms(terms):
                found.setdefault(token, []).append((number, times, words))
            if session_ref is not None:
                said.setdefault(session_ref, []).append((entry.occurred_at, number))
        for token, matches in found.items():
            postings[token] = [*postings.get(token, ()), *matches]
        for session_ref, told in said.items():
            sessions[session_ref] = sorted([*sessions.get(session_ref, ()), *told])
        return ResidentIndex(state, entries, postings, sessions, self.opened)

    def beside(self, number: int) -> Mapping[int, int]:
        """The two memories before and the two after one in its session."""
        found = self._beside.get(number)
        if found is None:
            found = self._beside[number] = self._look_beside(self.entries[number])
        return found

    def _look_beside(self, entry: Entry) -> Mapping[int, int]:
        if entry.session_ref is None:
            return {}
        told = self._sessions[entry.session_ref]
        place = bisect_left(told, (entry.occurred_at, entry.number))
        first, last = max(place - 2, 0), min(place + 2, len(told) - 1)
        return {told[each][1]: each - place for each in range(first, last + 1) if each != place}


def resident_index(
    tx: Tx, cache: OwnerCache, persona_id: str, state: State, *, include_archived: bool
) -> ResidentIndex | None:
    """The index as of this transaction. None where it is not worth its making, or where another transaction
    has seen more than this one can."""
    name = ("memory index", persona_id, include_archived)  # or under it, how often one was wanted
    kept: ResidentIndex | int = cache.get(name) or 0
    before, wanted = (kept, 1) if isinstance(kept, ResidentIndex) else (None, kept + 1)
    if before is not None and state.revision < before.state.revision:
        return None
    if before is not None and state.memories == before.state.memories:
        return before
    base = before if before is not None and _only_added(before.state, state) else None
    words = state.tally(include_archived=include_archived).words
    if words > MOST or (base is None and wanted * WORTH < words):
        cache.put(name, wanted, WORD_BYTES)
        return None
    base = base or ResidentIndex(NO_STATE, {}, {}, {}, {})
    after, archived = base.state.last_number, int(include_archived)
    rows = tx.all("list_memory_index", persona_id=persona_id, after=after, archived=archived)
    made = base.grown(state, rows)
    cache.put(name, made, made.bytes)
    return made


def _only_added(before: State, now: State) -> bool:
    """Whether everything that was done since was to add memories."""
    added = now.last_number - before.last_number
    more = now.active + now.archived - before.active - before.archived
    return added == more == now.revision - before.revision


class ResidentMemoryIndex(SqlMemoryIndex):
    """A search in the index in memory. What that does not know is asked of the database."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        cache: OwnerCache,
        persona_id: str,
        resident: ResidentIndex,
        state: State,
        *,
        include_archived: bool,
    ) -> None:
        super().__init__(tx, keys, cache, persona_id, state, include_archived=include_archived)
        self.resident = resident

    def rarity(self, terms: Collection[str]) -> Mapping[str, int]:
        postings, tokens = self.resident.postings, self._tokens_of(terms)
        return {term: len(found) for term in terms if (found := postings.get(tokens[term]))}

    def with_term(self, term: str, limit: int) -> list[int]:
        matches = self.resident.postings.get(self._tokens_of([term])[term], ())
        return sorted((number for number, _, _ in matches), reverse=True)[:limit]

    def matches(self, terms: Collection[str], among: Collection[int] | None = None) -> Matches:
        postings, tokens = self.resident.postings, self._tokens_of(terms)
        found = {term: matches for term in terms if (matches := postings.get(tokens[term]))}
        if among is None or not found:
            return found
        wanted = frozenset(among)
        chosen = {term: [one for one in matches if one[0] in wanted] for term, matches in found.items()}
        return {term: matches for term, matches in chosen.items() if matches}

    def entries(self, numbers: Collection[int]) -> list[Entry]:
        known = self.resident.entries
        found = [known[number] for number in numbers if number in known]
        self._check(len(found), numbers)
        return found

    def neighbours(self, numbers: Collection[int]) -> Mapping[int, Mapping[int, int]]:
        return {number: self.resident.beside(number) for number in numbers if number in self.resident.entries}

    def open(self, numbers: Sequence[int]) -> list[ReadMemory]:
        opened = self.resident.opened
        missing = [number for number in numbers if number not in opened]
        opened.update(zip(missing, super().open(missing), strict=True))
        return [opened[number] for number in numbers]
