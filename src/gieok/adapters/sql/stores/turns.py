"""Turn memory in SQL: sealed rows, and the blind index of their keywords."""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx, from_micros, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.adapters.sql.stores.search import (
    UNCACHED_INDEXES,
    IndexCache,
    IndexEntry,
    Revision,
    change_scope,
    scope_revision,
)
from gieok.errors import Conflict, InputRefused, SealBroken, StoreDamaged
from gieok.memory.turns.records import MemoryItem, RecalledMemory
from gieok.memory.turns.rules import check_search, matches_part, whole_words, word_parts
from gieok.ranking import SearchIndex, pack_keywords
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place

_WORDS = "turn_memories.keywords.word"
_PARTS = "turn_memories.keywords.stem"
_VERSION = 1
"""Turn memories are never changed."""
_OPENED = 64
"""How many candidates for a partial match are decrypted at a time."""


class SqlMemoryStore:
    """Turn memory of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, indexes: IndexCache = UNCACHED_INDEXES) -> None:
        self._tx = tx
        self._keys = keys
        self._indexes = indexes

    def save(self, item: MemoryItem, *, message_id: str | None = None) -> None:
        if type(item) is not MemoryItem:
            raise InputRefused("must be a MemoryItem; turn memory stores nothing else", at="item")
        saved = self._tx.run(
            "save_turn_memory",
            id=item.id.bytes,
            session_ref=item.session_ref,
            message_id=message_id,
            at=to_micros(item.timestamp),
            summary=self._seal("summary", item.id, item.summary),
            keywords=self._seal("keywords", item.id, json.dumps(item.keywords, ensure_ascii=False)),
            terms=self._packed(item.session_ref, item.keywords),
            changed=change_scope(self._tx, "turns", item.session_ref, added=1),
        )
        if not saved:
            raise Conflict(f"turn memory {item.id} exists already")

    def delete(self, session_ref: str, message_ids: Sequence[str] | None = None) -> int:
        check_ref(session_ref, "sessionRef")
        if message_ids is None:
            deleted = self._tx.run("remove_turn_memories", session_ref=session_ref)
        else:
            ids = [*message_ids]
            deleted = self._tx.run("remove_withdrawn_turns", session_ref=session_ref, ids=ids) if ids else 0
        if deleted:
            change_scope(self._tx, "turns", session_ref, added=-deleted)
        return deleted

    def search(self, session_ref: str, query: str, top_k: int) -> list[RecalledMemory]:
        check_search(query, top_k)
        revision = scope_revision(self._tx, "turns", check_ref(session_ref, "sessionRef"))
        if revision is None:
            return []
        index = self._index(session_ref, revision)
        found = self._with_whole_words(index, session_ref, query, top_k)
        if len(found) < top_k:
            found += self._with_parts(index, session_ref, query, top_k - len(found), found)
        return self._recall(session_ref, [index.columns.ids[row].tobytes() for row in found])

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by id."""
        rows = self._tx.all("list_turn_seals", after=after, limit=limit)
        sealed = [
            SealedRow(
                "replace_turn_seals",
                {"id": identity},
                {
                    "summary": (_place("summary", UUID(bytes=identity)), summary),
                    "keywords": (_place("keywords", UUID(bytes=identity)), keywords),
                },
            )
            for identity, summary, keywords in rows
        ]
        return SealPage(sealed, rows[-1][0] if len(rows) == limit else None)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next rows by id. Returns the next cursor, if any."""
        rows = self._tx.all("list_turn_keywords", after=after, limit=limit)
        sessions = sorted({session_ref for _, session_ref, _ in rows})
        revisions = {session_ref: change_scope(self._tx, "turns", session_ref) for session_ref in sessions}
        for identity, session_ref, sealed in rows:
            keywords = self._open_keywords(UUID(bytes=identity), sealed)
            self._tx.run(
                "reindex_turn_memory",
                id=identity,
                terms=self._packed(session_ref, keywords),
                changed=revisions[session_ref],
            )
        return rows[-1][0] if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the terms of the next rows by id, as far as their keywords open. Returns the next cursor,
        if any."""
        rows = self._tx.all("list_turn_entries", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for identity, session_ref, sealed, terms in rows:
            row = UUID(bytes=identity)
            with suppress(SealBroken):
                expected = self._packed(session_ref, self._open_keywords(row, sealed))
                entries.append(IndexEntry(str(row), after, identity, bytes(terms) == expected))
            after = identity
        return entries, after if len(rows) == limit else None

    def _index(self, session_ref: str, revision: Revision) -> SearchIndex:
        return self._indexes.get(
            ("turns", session_ref),
            revision,
            lambda after: self._tx.all("list_turn_index", session_ref=session_ref, after=after),
        )

    def _with_whole_words(self, index: SearchIndex, session_ref: str, query: str, top_k: int) -> list[int]:
        """The rows with most keywords that share a whole word with the query, then the newest."""
        candidates = _candidates(index, self._word_tokens(session_ref, query))
        return [candidate.row for candidate in candidates[:top_k]]

    def _with_parts(
        self, index: SearchIndex, session_ref: str, query: str, top_k: int, found: Sequence[int]
    ) -> list[int]:
        """The rows with most keywords that share a part of a word with the query, then the newest.

        The index says that a part may match. Whether it does shows only when the keywords are opened, so
        candidates are opened best first and no more than needed.
        """
        candidates = [
            candidate
            for candidate in _candidates(index, self._part_tokens(session_ref, query))
            if candidate.row not in found
        ]
        best: list[_Candidate] = []
        for start in range(0, len(candidates), _OPENED):
            chunk = candidates[start : start + _OPENED]
            if len(best) >= top_k and best[top_k - 1] < chunk[0]:
                break  # no later one can rank higher
            stored = self._read(session_ref, [candidate.id for candidate in chunk])
            for candidate in chunk:
                keywords = self._open_keywords(UUID(bytes=candidate.id), stored[candidate.id][2])
                if max(candidate.keywords) > len(keywords):
                    raise StoreDamaged(
                        f"turn memory {UUID(bytes=candidate.id)} has other keywords than its index; "
                        "restore a backup"
                    )
                count = sum(matches_part(keywords[number - 1], query) for number in candidate.keywords)
                if count:
                    insort(best, candidate._replace(fewer=-count))
        return [candidate.row for candidate in best[:top_k]]

    def _recall(self, session_ref: str, ids: Sequence[bytes]) -> list[RecalledMemory]:
        stored = self._read(session_ref, ids) if ids else {}
        return [
            RecalledMemory(
                id=UUID(bytes=identity),
                summary=self._open("summary", UUID(bytes=identity), stored[identity][1]).decode(),
                timestamp=from_micros(stored[identity][0]),
            )
            for identity in ids
        ]

    def _read(self, session_ref: str, ids: Sequence[bytes]) -> dict[bytes, tuple[int, bytes, bytes]]:
        rows = self._tx.all("list_turn_memories", session_ref=session_ref, ids=ids)
        if len(rows) != len(ids):
            raise StoreDamaged(
                f"the index of session {session_ref} refers to {len(ids)} turn memories, of which "
                f"{len(ids) - len(rows)} do not exist; restore a backup"
            )
        return {identity: (at, summary, keywords) for identity, at, summary, keywords in rows}

    def _packed(self, session_ref: str, keywords: Sequence[str]) -> bytes:
        return pack_keywords(
            _VERSION,
            [
                {*self._word_tokens(session_ref, keyword), *self._part_tokens(session_ref, keyword)}
                for keyword in keywords
            ],
        )

    def _word_tokens(self, session_ref: str, text: str) -> list[int]:
        return self._keys.tokens(_WORDS, session_ref, whole_words(text))

    def _part_tokens(self, session_ref: str, text: str) -> list[int]:
        return self._keys.tokens(_PARTS, session_ref, word_parts(text))

    def _open_keywords(self, memory_id: UUID, sealed: bytes) -> list[str]:
        return json.loads(self._open("keywords", memory_id, sealed))

    def _seal(self, column: str, row: UUID, text: str) -> bytes:
        return self._keys.seal(_place(column, row), text.encode())

    def _open(self, column: str, row: UUID, sealed: bytes) -> bytes:
        return self._keys.open(_place(column, row), sealed)


class _Candidate(NamedTuple):
    """A row with one of the tokens of a query. They sort best first."""

    fewer: int
    """Minus the number of its matching keywords."""
    older: int
    """Minus its time."""
    id: bytes
    row: int
    keywords: tuple[int, ...]
    """The numbers of its keywords with one of the tokens, from 1."""


def _candidates(index: SearchIndex, tokens: Sequence[int]) -> list[_Candidate]:
    matched: dict[int, set[int]] = {}
    for match in index.find(tokens).values():
        for row, keyword in zip(match.rows.tolist(), match.own.tolist(), strict=True):
            matched.setdefault(row, set()).add(keyword)
    ids, at = index.columns.ids, index.columns.at
    return sorted(
        _Candidate(-len(keywords), -int(at[row]), ids[row].tobytes(), row, tuple(keywords))
        for row, keywords in matched.items()
    )


def _place(column: str, row: UUID) -> Place:
    return Place("turn_memories", column, str(row))
