"""The search index of a persona inside one transaction: memories, messages and facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from gieok.adapters.sql.cache import OwnerCache
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.adapters.sql.stores.archived import ArchivedContent
from gieok.adapters.sql.stores.canon import persona_token
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.adapters.sql.stores.companion.rows import open_memory
from gieok.adapters.sql.stores.messages import open_labels, open_message
from gieok.adapters.sql.stores.persona_index import FACT, MEMORY, MESSAGE, pack_row, tokens_of
from gieok.errors import StoreDamaged
from gieok.memory.canon.documents import fact_document
from gieok.memory.companion.hits import FoundFact, FoundMessage, HitKind
from gieok.memory.companion.recall.query import memory_terms
from gieok.memory.companion.records import Memory
from gieok.memory.companion.store import ENTRIES, AnalyzedRow
from gieok.ranking import Flags, Match, Neighbours, SearchIndex, pack_terms
from gieok.vault import OwnerKeys

_KINDS: Mapping[HitKind, int] = {"memory": MEMORY, "message": MESSAGE, "fact": FACT}
_NO_TERMS = pack_terms(1, {}, own_words=0)
_ROW_BYTES = 2_000
_BYTES_PER_SEALED_BYTE = 6


def packed_terms(keys: OwnerKeys, memory: Memory) -> bytes:
    """The terms of a memory for its row."""
    return pack_row(keys, memory.persona_id, memory.version, memory_terms(memory))


def index_rows(tx: Tx, keys: OwnerKeys, persona_id: str, after: int) -> list[Row]:
    """The rows of a persona's index that were changed after a revision, as the columns of an `IndexRow`."""
    rows = tx.all(
        "list_persona_index",
        persona_id=persona_id,
        persona_token=persona_token(keys, persona_id),
        after=after,
    )
    return [row if row[9] == MEMORY else _entry(row) for row in rows]


def _entry(row: Row) -> Row:
    """The row of a message or a fact, with a number apart from those of memories. The id of a message in the
    index is its number."""
    identity, number, version, changed, at, importance, session, archived, terms, kind = row
    number += ENTRIES
    key = identity or number.to_bytes(16, "big")
    return (key, number, version, changed, at, importance, session, archived, terms or _NO_TERMS, kind)


class SqlPersonaIndex:
    """Implements `PersonaIndex`. Decrypted rows are cached by the revision at which they changed last."""

    def __init__(  # noqa: PLR0913  one caller
        self,
        tx: Tx,
        keys: OwnerKeys,
        cache: OwnerCache,
        persona_id: str,
        rows: SearchIndex,
        archived: ArchivedContent,
        *,
        recall: bool,
        kinds: Collection[HitKind],
        include_archived: bool,
    ) -> None:
        self.recall = recall
        self.rows = rows
        part = rows.part(frozenset(_KINDS[kind] for kind in kinds), include_archived=include_archived)
        self.visible: Flags | None = part.visible
        self.count = part.size
        self.neighbours: Neighbours = part.neighbours
        self._tx = tx
        self._keys = keys
        self._cache = cache
        self._persona_id = persona_id
        self._archived = archived

    def find(self, terms: Sequence[str]) -> dict[str, Match]:
        tokens = tokens_of(self._keys, self._persona_id, terms)
        found = self.rows.find(tokens)
        matches = {term: found[token] for term, token in zip(terms, tokens, strict=True) if token in found}
        if self.visible is None:
            return matches
        kept = {term: _only(match, self.visible[match.rows]) for term, match in matches.items()}
        return {term: match for term, match in kept.items() if len(match.rows)}

    def open(self, rows: Sequence[int]) -> list[AnalyzedRow]:
        columns = self.rows.columns
        numbers, changed = columns.numbers[rows].tolist(), columns.changed[rows].tolist()
        cached = {
            number: self._cache.get(("found", self._persona_id, number, revision))
            for number, revision in zip(numbers, changed, strict=True)
        }
        missing = [row for row, number in zip(rows, numbers, strict=True) if cached[number] is None]
        if missing:
            revisions = dict(zip(numbers, changed, strict=True))
            for number, (found, size) in self._read(missing).items():
                cached[number] = found
                self._cache.put(("found", self._persona_id, number, revisions[number]), cached[number], size)
        return [cached[number] for number in numbers]

    def _read(self, rows: Sequence[int]) -> Mapping[int, tuple[AnalyzedRow, int]]:
        """Each record with its estimated size in memory, by its number in the index."""
        numbers = self.rows.columns.numbers[rows].tolist()
        kinds = self.rows.columns.kinds[rows].tolist()

        def of_kind(kind: int, first: int) -> list[int]:
            return [number - first for number, own in zip(numbers, kinds, strict=True) if own == kind]

        memories, messages, facts = of_kind(MEMORY, 0), of_kind(MESSAGE, ENTRIES), of_kind(FACT, ENTRIES)
        found: dict[int, tuple[AnalyzedRow, int]] = {}
        persona = {"persona_id": self._persona_id}
        if memories:
            for row in self._tx.all("list_memories_by_number", numbers=memories, **persona):
                found[row[2]] = AnalyzedRow(open_memory(self._keys, row)), _size(row[-1])
        if messages:
            rows_of_messages = self._tx.all("list_found_messages", numbers=messages, **persona)
            self._archived.check(row[1:] for row in rows_of_messages)
            for row in rows_of_messages:
                found[row[0] + ENTRIES] = self._message(row[1:]), _size(row[-2])
        if facts:
            token = persona_token(self._keys, self._persona_id)
            for row in self._tx.all("list_found_facts", persona_token=token, numbers=facts):
                found[row[0] + ENTRIES] = AnalyzedRow(self._fact(row[1:])), _size(row[-2])
        if len(found) != len(numbers):
            raise StoreDamaged(
                f"the index of persona {self._persona_id} refers to {len(numbers)} rows, of which "
                f"{len(numbers) - len(found)} do not exist; restore a backup"
            )
        return found

    def _message(self, row: Row) -> AnalyzedRow:
        message = open_message(self._keys, row, self._archived)
        content = message.model_dump(exclude={"withdrawn_at"})  # what was withdrawn is not in the index
        return AnalyzedRow(FoundMessage(**content, session_ref=row[0]), open_labels(self._keys, row))

    def _fact(self, row: Row) -> FoundFact:
        version = SqlChainStore(self._tx, self._keys, "fact").open_row(row)
        document = fact_document(version)
        if document.persona_id != self._persona_id:
            raise StoreDamaged(
                f"fact {UUID(bytes=row[0])} is in the wrong place of the index; restore a backup"
            )
        own = {name: getattr(document, name) for name in _FACT_FIELDS}
        return FoundFact(
            **own, root_id=version.root_id, version=version.version, valid_from=version.created_at
        )


_FACT_FIELDS = ("subject", "category", "key", "value", "importance", "when", "until", "source")


def _size(sealed: bytes) -> int:
    return _ROW_BYTES + _BYTES_PER_SEALED_BYTE * len(sealed)


def _only(match: Match, kept: Flags) -> Match:
    return Match(match.rows[kept], match.own[kept], match.added[kept])
