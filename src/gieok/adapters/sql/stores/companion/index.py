"""The search index of a persona's memories inside one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gieok.adapters.sql.cache import OwnerCache
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.companion.rows import open_memory
from gieok.errors import StoreDamaged
from gieok.memory.companion.recall.query import memory_terms, word_count
from gieok.memory.companion.records import Memory
from gieok.memory.companion.store import AnalyzedMemory
from gieok.ranking import Flags, Match, Neighbours, SearchIndex, pack_terms
from gieok.vault import OwnerKeys

_FIELD = "memories.terms"
_MEMORY_BYTES = 2_000
_BYTES_PER_SEALED_BYTE = 6


def packed_terms(keys: OwnerKeys, memory: Memory) -> bytes:
    """The terms of a memory for its row."""
    terms = memory_terms(memory)
    counts = Counter(keys.tokens(_FIELD, memory.persona_id, terms))
    return pack_terms(memory.version, counts, own_words=word_count(terms))


class SqlMemoryIndex:
    """Implements `MemoryIndex`. Decrypted memories are cached by the revision at which they changed last."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        cache: OwnerCache,
        persona_id: str,
        rows: SearchIndex,
        *,
        recall: bool,
        include_archived: bool,
    ) -> None:
        self.recall = recall
        self.rows = rows
        self.visible: Flags | None = None if include_archived else rows.active
        self.count = len(rows) if self.visible is None else int(self.visible.sum())
        self._include_archived = include_archived
        self._tx = tx
        self._keys = keys
        self._cache = cache
        self._persona_id = persona_id

    @property
    def neighbours(self) -> Neighbours:
        return self.rows.neighbours if self._include_archived else self.rows.active_neighbours

    def find(self, terms: Sequence[str]) -> dict[str, Match]:
        tokens = self._keys.tokens(_FIELD, self._persona_id, terms)
        found = self.rows.find(tokens)
        matches = {term: found[token] for term, token in zip(terms, tokens, strict=True) if token in found}
        if self.visible is None:
            return matches
        kept = {term: _only(match, self.visible[match.rows]) for term, match in matches.items()}
        return {term: match for term, match in kept.items() if len(match.rows)}

    def open(self, rows: Sequence[int]) -> list[AnalyzedMemory]:
        columns = self.rows.columns
        numbers, changed = columns.numbers[rows].tolist(), columns.changed[rows].tolist()
        cached = {
            number: self._cache.get(("memory", self._persona_id, number, revision))
            for number, revision in zip(numbers, changed, strict=True)
        }
        missing = [number for number, memory in cached.items() if memory is None]
        if missing:
            opened = self._read(missing)
            revisions = dict(zip(numbers, changed, strict=True))
            for number, (memory, size) in opened.items():
                cached[number] = memory
                self._cache.put(("memory", self._persona_id, number, revisions[number]), memory, size)
        return [cached[number] for number in numbers]

    def _read(self, numbers: Sequence[int]) -> Mapping[int, tuple[AnalyzedMemory, int]]:
        rows = self._tx.all("list_memories_by_number", persona_id=self._persona_id, numbers=numbers)
        if len(rows) != len(numbers):
            raise StoreDamaged(
                f"the index of persona {self._persona_id} refers to {len(numbers)} memories, of which "
                f"{len(numbers) - len(rows)} do not exist; restore a backup"
            )
        return {
            row[2]: (
                AnalyzedMemory(open_memory(self._keys, row)),
                _MEMORY_BYTES + _BYTES_PER_SEALED_BYTE * len(row[-1]),
            )
            for row in rows
        }


def _only(match: Match, kept: Flags) -> Match:
    return Match(match.rows[kept], match.own[kept], match.added[kept])
