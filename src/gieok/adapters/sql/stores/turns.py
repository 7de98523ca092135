"""Turn memory in SQL: sealed rows, and postings in a blind index."""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterable, Sequence
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.errors import Conflict, InputRefused, StoreDamaged
from gieok.memory.turns.records import MemoryItem, RecalledMemory
from gieok.memory.turns.rules import (
    check_search,
    long_words,
    match_terms,
    matches_part,
    query_stems,
    stem_length,
)
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place

_WORDS = "turn_memories.keywords.word"
_STEMS = "turn_memories.keywords.stem"
_FIRST_TOKEN = -(2**63)


class SqlMemoryStore:
    """Turn memory of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, item: MemoryItem) -> None:
        if type(item) is not MemoryItem:
            raise InputRefused("must be a MemoryItem; turn memory stores nothing else", at="item")
        row, at = item.id.bytes, to_micros(item.timestamp)
        saved = self._tx.run(
            "save_turn_memory",
            id=row,
            session_ref=item.session_ref,
            at=at,
            summary=self._seal("summary", item.id, item.summary),
            keywords=self._seal("keywords", item.id, json.dumps(item.keywords, ensure_ascii=False)),
        )
        if not saved:
            raise Conflict(f"turn memory {item.id} exists already")
        self._tx.run_many("save_turn_postings", self._postings(row, item.session_ref, at, item.keywords))

    def search(self, session_ref: str, query: str, top_k: int) -> list[RecalledMemory]:
        check_ref(session_ref, "sessionRef")
        check_search(query, top_k)
        tokens = self._word_tokens(session_ref, match_terms(query))
        rows = self._tx.all("search_turn_memories", tokens=tokens, top_k=top_k) if tokens else []
        found = [self._recall(session_ref, *row) for row in rows]
        if len(found) < top_k:
            found_ids = {memory.id.bytes for memory in found}
            found += self._search_parts(session_ref, query, top_k - len(found), found_ids)
        return found

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Reseal the next rows by id. Returns their number and the next cursor, if any."""
        rows = self._tx.all("list_turn_seals", after=after, limit=limit)
        for identity, summary, keywords in rows:
            row = UUID(bytes=identity)
            self._tx.run(
                "replace_turn_seals",
                id=identity,
                summary=self._keys.reseal(_place("summary", row), summary),
                keywords=self._keys.reseal(_place("keywords", row), keywords),
            )
        return len(rows), rows[-1][0] if len(rows) == limit else None

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Add the missing postings of the next rows by id. Returns the next cursor, if any."""
        rows = self._tx.all("list_turn_keywords", after=after, limit=limit)
        for identity, session_ref, at, sealed in rows:
            keywords = self._all_keywords(UUID(bytes=identity), sealed)
            postings = self._postings(identity, session_ref, at, keywords)
            self._tx.run_many("add_missing_turn_postings", postings)
        return rows[-1][0] if len(rows) == limit else None

    def remove_stale(self, after: bytes, limit: int) -> bytes | None:
        """Remove the postings of the next tokens whose keyword no longer has that term."""
        first = int.from_bytes(after, "big", signed=True) + 1 if after else _FIRST_TOKEN
        tokens = [token for (token,) in self._tx.all("list_turn_tokens", first=first, limit=limit)]
        rows = self._tx.all("list_turn_postings", tokens=tokens) if tokens else []
        stale = [
            {"token": token, "at": at, "id": identity, "keyword": number}
            for token, at, identity, number, session_ref, sealed in rows
            if token not in self._tokens_of(identity, session_ref, sealed, number)
        ]
        self._tx.run_many("remove_turn_postings", stale)
        return tokens[-1].to_bytes(8, "big", signed=True) if len(tokens) == limit else None

    def _tokens_of(self, identity: bytes, session_ref: str, sealed: bytes | None, number: int) -> set[int]:
        (keyword,) = self._keywords(identity, sealed, [str(number)])
        return self._keyword_tokens(session_ref, keyword)

    def _postings(
        self, identity: bytes, session_ref: str, at: int, keywords: Sequence[str]
    ) -> list[dict[str, int | bytes]]:
        return [
            {"token": token, "at": at, "id": identity, "keyword": number}
            for number, keyword in enumerate(keywords)
            for token in self._keyword_tokens(session_ref, keyword)
        ]

    def _search_parts(
        self, session_ref: str, query: str, top_k: int, found_ids: set[bytes]
    ) -> list[RecalledMemory]:
        """Memories with a keyword of which a query word is only a prefix.

        A posting says that a keyword has the same first letters. Whether the whole query word is its prefix
        shows only when the keyword is opened, so candidates are opened best first and no more than needed.
        """
        stems = query_stems(query)
        if not stems:
            return []
        tokens = self._stem_tokens(session_ref, stems)
        best: list[tuple[int, int, bytes, Row]] = []
        for *memory, sealed, numbers in self._tx.all("list_turn_candidates", tokens=tokens):
            identity, at = memory[0], memory[1]
            candidates = numbers.split(",")
            if len(best) >= top_k and best[top_k - 1] < (-len(candidates), -at, identity):
                break  # sorted by the number of candidate keywords: no later one can rank higher
            if identity in found_ids:
                continue
            matched = sum(matches_part(word, stems) for word in self._keywords(identity, sealed, candidates))
            if matched:
                insort(best, (-matched, -at, identity, tuple(memory)))
        return [self._recall(session_ref, *memory) for *_, memory in best[:top_k]]

    def _keyword_tokens(self, session_ref: str, keyword: str) -> set[int]:
        return {
            *self._word_tokens(session_ref, match_terms(keyword)),
            *self._stem_tokens(session_ref, long_words(keyword)),
        }

    def _word_tokens(self, session_ref: str, terms: Iterable[str]) -> list[int]:
        return self._keys.tokens(_WORDS, session_ref, terms)

    def _stem_tokens(self, session_ref: str, words: Iterable[str]) -> list[int]:
        return self._keys.tokens(_STEMS, session_ref, {word[: stem_length(word)] for word in words})

    def _recall(
        self, session_ref: str, identity: bytes, at: int, stored_ref: str | None, summary: bytes | None
    ) -> RecalledMemory:
        memory_id = UUID(bytes=identity)
        if summary is None or stored_ref != session_ref:
            raise _not_where_indexed(memory_id)
        text = self._open("summary", memory_id, summary).decode()
        return RecalledMemory(id=memory_id, summary=text, timestamp=from_micros(at))

    def _keywords(self, identity: bytes, sealed: bytes | None, numbers: Iterable[str]) -> list[str]:
        memory_id = UUID(bytes=identity)
        keywords = self._all_keywords(memory_id, sealed) if sealed else []
        wanted = [int(number) for number in numbers]
        if max(wanted) >= len(keywords):
            raise _not_where_indexed(memory_id)
        return [keywords[number] for number in wanted]

    def _all_keywords(self, memory_id: UUID, sealed: bytes) -> list[str]:
        return json.loads(self._open("keywords", memory_id, sealed))

    def _seal(self, column: str, row: UUID, text: str) -> bytes:
        return self._keys.seal(_place(column, row), text.encode())

    def _open(self, column: str, row: UUID, sealed: bytes) -> bytes:
        return self._keys.open(_place(column, row), sealed)


def _place(column: str, row: UUID) -> Place:
    return Place("turn_memories", column, str(row))


def _not_where_indexed(memory_id: UUID) -> StoreDamaged:
    return StoreDamaged(f"turn memory {memory_id} is in the index but not in its session; restore a backup")
