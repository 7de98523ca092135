"""The index of a persona in memory: what is searched again and again is not read from the database each time.

It holds what the rows of memories say, tokens instead of words, and beside them what was opened for a search.
It lies with the owner's keys and goes with them. The database says what is current: every search reads the
revision of the persona's memories in its own transaction, so that several processes agree.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gieok.adapters.sql.companion_index import NO_STATE, SqlMemoryIndex, State, entry_of, unpack_terms
from gieok.adapters.sql.database import Row, Tx
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.store import Entry, Match, Matches
from gieok.vault import OwnerKeys

MOST = 2_000
"""A persona with more memories is searched in the database: to read all of them would hold others up."""
WORTH = 100
"""A search in the database takes about as long as it takes to read so many memories into the index. So the
index is made after as many searches as would have paid for it: then it costs twice the time at the worst."""
_TOKENS = 2_000
"""So many terms of queries are known by their tokens; then that begins anew."""


class ResidentIndex:
    """The memories of a persona as they stood at one revision. A later one is made of it, and it stays."""

    __slots__ = ("_beside", "_sessions", "entries", "opened", "postings", "state", "tokens", "weight")

    def __init__(
        self,
        state: State,
        entries: Mapping[int, Entry],
        postings: Mapping[int, Sequence[Match]],
        sessions: Mapping[str, Sequence[tuple[float, int]]],
        opened: dict[int, ReadMemory],
        tokens: dict[str, int],
    ) -> None:
        """`opened` and `tokens` are filled as they are asked for."""
        self.state = state
        self.entries = entries
        self.postings = postings
        self.opened = opened
        self.tokens = tokens
        self.weight = 1 + len(entries)
        self._sessions = sessions
        self._beside: dict[int, Mapping[int, int]] = {}

    def grown(self, state: State, rows: Iterable[Row]) -> ResidentIndex:
        """The same with these memories, which were added since."""
        entries = dict(self.entries)
        sessions = dict(self._sessions)
        new: dict[int, list[Match]] = {}
        for number, importance, occurred_at, session_ref, words, terms in rows:
            entry = entries[number] = entry_of(number, importance, occurred_at, session_ref)
            for token, times in unpack_terms(terms):
                new.setdefault(token, []).append((number, times, words))
            if session_ref is not None:
                told = sessions[session_ref] = [*sessions.get(session_ref, ())]
                insort(told, (entry.occurred_at, number))
        postings = dict(self.postings)
        for token, matches in new.items():
            postings[token] = [*postings.get(token, ()), *matches]
        return ResidentIndex(state, entries, postings, sessions, self.opened, self.tokens)

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


class Wanted(NamedTuple):
    """How often a search would have used an index that is not there."""

    times: int = 0


def resident_index(
    tx: Tx, keys: OwnerKeys, persona_id: str, state: State, *, include_archived: bool
) -> ResidentIndex | None:
    """The index as of this transaction. None where it is not worth its making, or where another transaction
    has seen more than this one can."""
    name = ("memory index", persona_id, include_archived)
    found: ResidentIndex | Wanted = keys.find(name) or Wanted()
    if isinstance(found, ResidentIndex) and state.revision <= found.state.revision:
        return found if state.revision == found.state.revision else None
    base = _base(found, state, memories := state.tally(include_archived=include_archived).memories)
    if base is None or memories > MOST:
        times = found.times if isinstance(found, Wanted) else 0
        keys.keep(name, Wanted(times + 1))
        return None
    after, archived = base.state.last_number, int(include_archived)
    rows = tx.all("list_memory_index", persona_id=persona_id, after=after, archived=archived)
    made = base.grown(state, rows)
    keys.keep(name, made)
    return made


def _base(found: ResidentIndex | Wanted, state: State, memories: int) -> ResidentIndex | None:
    """What the index is made of: the one before where memories were only added since, or else nothing."""
    if isinstance(found, Wanted):
        worth_it = (found.times + 1) * WORTH >= memories
        return ResidentIndex(NO_STATE, {}, {}, {}, {}, {}) if worth_it else None
    added = state.last_number - found.state.last_number
    if added == state.revision - found.state.revision:
        return found
    return _base(Wanted(), state, memories)


class ResidentMemoryIndex(SqlMemoryIndex):
    """A search in the index in memory. What that does not know is asked of the database."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        persona_id: str,
        resident: ResidentIndex,
        state: State,
        *,
        include_archived: bool,
    ) -> None:
        super().__init__(tx, keys, persona_id, state, include_archived=include_archived)
        self.resident = resident
        if len(resident.tokens) > _TOKENS:
            resident.tokens = {}
        self._tokens = resident.tokens

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
