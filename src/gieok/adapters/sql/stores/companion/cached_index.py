"""The search index of a persona in memory, so that repeated searches do not read it from the database.

It holds tokens instead of words, and the memories that searches have decrypted. It is cleared together with
the owner's keys. Every search reads the revision of the memories in its own transaction, so that all
processes agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

from gieok.adapters.sql.cache import OwnerCache
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.adapters.sql.stores.companion.index import (
    NO_STATE,
    SqlMemoryIndex,
    State,
    entry_of,
    unpack_terms,
)
from gieok.memory.companion.store import AnalyzedMemory, Entry, Match, Matches
from gieok.vault import OwnerKeys

MAX_WORDS = 40_000
"""A persona with more words is searched in the database, because reading them all would block others."""
WORDS_PER_SEARCH = 2_000
"""A search in the database takes about as long as loading so many words. The index is loaded after as many
searches as its loading costs, so at worst the total time doubles."""
ENTRY_BYTES = 5_000
"""Estimated size of an entry together with its decrypted memory."""
WORD_BYTES = 100
"""Estimated size of a posting."""


class CachedIndex:
    """The index entries of a persona at one revision. `grown` makes the one of a later revision."""

    __slots__ = ("_neighbours", "_sessions", "bytes", "entries", "opened", "postings", "state")

    def __init__(
        self,
        state: State,
        entries: Mapping[int, Entry],
        postings: Mapping[int, Sequence[Match]],
        sessions: Mapping[str, Sequence[tuple[float, int]]],
        opened: dict[int, AnalyzedMemory],
    ) -> None:
        """`opened` is filled by searches."""
        self.state = state
        self.entries = entries
        self.postings = postings
        self.opened = opened
        words = state.words_active + state.words_archived
        self.bytes = ENTRY_BYTES * (1 + len(entries)) + WORD_BYTES * words
        self._sessions = sessions
        self._neighbours: dict[int, Mapping[int, int]] = {}

    def grown(self, state: State, rows: Iterable[Row]) -> CachedIndex:
        """A copy with the memories that were added since."""
        entries, postings, sessions = dict(self.entries), dict(self.postings), dict(self._sessions)
        found: dict[int, list[Match]] = {}
        by_session: dict[str, list[tuple[float, int]]] = {}
        for number, importance, occurred_at, session_ref, words, terms in rows:
            entry = entries[number] = entry_of(number, importance, occurred_at, session_ref)
            for token, times in unpack_terms(terms):
                found.setdefault(token, []).append((number, times, words))
            if session_ref is not None:
                by_session.setdefault(session_ref, []).append((entry.occurred_at, number))
        for token, matches in found.items():
            postings[token] = [*postings.get(token, ()), *matches]
        for session_ref, added in by_session.items():
            sessions[session_ref] = sorted([*sessions.get(session_ref, ()), *added])
        return CachedIndex(state, entries, postings, sessions, self.opened)

    def neighbours_of(self, number: int) -> Mapping[int, int]:
        """The two memories before and the two after a memory in its session, with their distances."""
        found = self._neighbours.get(number)
        if found is None:
            found = self._neighbours[number] = self._find_neighbours(self.entries[number])
        return found

    def _find_neighbours(self, entry: Entry) -> Mapping[int, int]:
        if entry.session_ref is None:
            return {}
        session = self._sessions[entry.session_ref]
        own = bisect_left(session, (entry.occurred_at, entry.number))
        first, last = max(own - 2, 0), min(own + 2, len(session) - 1)
        return {session[other][1]: other - own for other in range(first, last + 1) if other != own}


def cached_index(
    tx: Tx, cache: OwnerCache, persona_id: str, state: State, *, include_archived: bool
) -> CachedIndex | None:
    """The index at the revision of this transaction. None after too few searches to load it, or if the
    cached one is of a later revision."""
    key = ("memory index", persona_id, include_archived)  # its value is the index, or the number of searches
    cached: CachedIndex | int = cache.get(key) or 0
    before, searches = (cached, 1) if isinstance(cached, CachedIndex) else (None, cached + 1)
    if before is not None and state.revision < before.state.revision:
        return None
    if before is not None and state.memories == before.state.memories:
        return before
    base = before if before is not None and _only_added(before.state, state) else None
    words = state.tally(include_archived=include_archived).words
    if words > MAX_WORDS or (base is None and searches * WORDS_PER_SEARCH < words):
        cache.put(key, searches, WORD_BYTES)
        return None
    base = base or CachedIndex(NO_STATE, {}, {}, {}, {})
    after, archived = base.state.last_number, int(include_archived)
    rows = tx.all("list_memory_index", persona_id=persona_id, after=after, archived=archived)
    grown = base.grown(state, rows)
    cache.put(key, grown, grown.bytes)
    return grown


def _only_added(before: State, now: State) -> bool:
    """Whether the only changes since were new memories."""
    added = now.last_number - before.last_number
    more = now.active + now.archived - before.active - before.archived
    return added == more == now.revision - before.revision


class CachedMemoryIndex(SqlMemoryIndex):
    """Searches the index in memory, and reads the rest from the database."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        cache: OwnerCache,
        persona_id: str,
        cached: CachedIndex,
        state: State,
        *,
        include_archived: bool,
    ) -> None:
        super().__init__(tx, keys, cache, persona_id, state, include_archived=include_archived)
        self.cached = cached

    def document_frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        postings, tokens = self.cached.postings, self._tokens_of(terms)
        return {term: len(found) for term in terms if (found := postings.get(tokens[term]))}

    def with_term(self, term: str, limit: int) -> list[int]:
        matches = self.cached.postings.get(self._tokens_of([term])[term], ())
        return sorted((number for number, _, _ in matches), reverse=True)[:limit]

    def matches(self, terms: Collection[str], among: Collection[int] | None = None) -> Matches:
        postings, tokens = self.cached.postings, self._tokens_of(terms)
        found = {term: matches for term in terms if (matches := postings.get(tokens[term]))}
        if among is None or not found:
            return found
        wanted = frozenset(among)
        chosen = {term: [one for one in matches if one[0] in wanted] for term, matches in found.items()}
        return {term: matches for term, matches in chosen.items() if matches}

    def entries(self, numbers: Collection[int]) -> list[Entry]:
        entries = self.cached.entries
        found = [entries[number] for number in numbers if number in entries]
        self._check(len(found), numbers)
        return found

    def neighbours(self, numbers: Collection[int]) -> Mapping[int, Mapping[int, int]]:
        return {
            number: self.cached.neighbours_of(number) for number in numbers if number in self.cached.entries
        }

    def open(self, numbers: Sequence[int]) -> list[AnalyzedMemory]:
        opened = self.cached.opened
        missing = [number for number in numbers if number not in opened]
        opened.update(zip(missing, super().open(missing), strict=True))
        return [opened[number] for number in numbers]
