"""The message log in SQL: sealed, append-only, numbered without gaps, with index terms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from gieok.adapters.sql.driver.database import Row, Tx, Value, from_micros, to_micros
from gieok.adapters.sql.stores.archived import (
    ARCHIVED,
    NOTHING_ARCHIVED,
    ArchivedContent,
    ContentArchived,
    is_archived,
)
from gieok.adapters.sql.stores.cached import CachedWindow, new_tag
from gieok.adapters.sql.stores.persona_index import change_entries, pack_row
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.adapters.sql.stores.search import IndexEntry
from gieok.adapters.sql.stores.sessions import SqlSessionStore
from gieok.errors import Conflict, SealBroken, StoreDamaged
from gieok.memory.companion.recall.query import label_terms, spoken_terms
from gieok.memory.sessions.records import MAX_LABELS, Appended, ChatMessage, MessageHead, MessageRange
from gieok.memory.sessions.rules import check_appendable
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place

_VERSION = 1
"""Messages are never changed."""
_END = 2**62


class SqlMessageStore:
    """The messages of one owner inside one transaction."""

    def __init__(
        self,
        tx: Tx,
        keys: OwnerKeys,
        archived: ArchivedContent = NOTHING_ARCHIVED,
        sessions: SqlSessionStore | None = None,
        cached: CachedWindow | None = None,
    ) -> None:
        """`archived` are copies of messages whose text is in the archive. `sessions` are those of the same
        transaction. `cached` is the window of one session in a cache."""
        self._tx = tx
        self._keys = keys
        self._archived = archived
        self._sessions = sessions or SqlSessionStore(tx)
        self._cached = cached

    def append(
        self, session_ref: str, messages: Sequence[ChatMessage], at: datetime, expected_revision: int | None
    ) -> Appended:
        session = self._sessions.lock(session_ref)
        new = list(_new_messages(messages, self._stored(session_ref, messages)))
        if not new:
            return Appended(added=0, message_count=session.message_count)
        check_appendable(session, expected_revision)
        assert session.persona_id is not None  # noqa: S101  `check_appendable` has refused a session without
        revision, number = change_entries(self._tx, session.persona_id, added=len(new))
        length = session.log_length + len(new)
        rows = [
            {
                **self._row(session_ref, length - left, message),
                "persona_id": session.persona_id,
                "number": number - left,
                "changed": revision,
                "terms": self._terms(session.persona_id, message, ()),
            }
            for left, message in zip(range(len(new) - 1, -1, -1), new, strict=True)
        ]
        self._tx.run_many("add_messages", rows)
        before, tag = self._sessions.log_tag(session_ref), new_tag()
        self._tx.run(
            "count_messages", session_ref=session_ref, message_count=length, log_tag=tag, at=to_micros(at)
        )
        if self._cached is not None and self._cached.session_ref == session_ref:
            self._cached.append(self._keys, before, tag, new, is_first=session.log_length == 0)
        return Appended(added=len(new), message_count=session.message_count + len(new))

    def window(self, session_ref: str, limit: int, before: int | None = None) -> list[ChatMessage]:
        check_ref(session_ref, "sessionRef")
        cached, tag = self._cached, self._sessions.log_tag(session_ref)
        if cached is None or tag is None or before is not None or cached.session_ref != session_ref:
            return self._newest(session_ref, limit, before)
        messages = cached.get(self._keys, tag, limit)
        if messages is None:
            messages = self._newest(session_ref, limit, None)
            cached.keep(tag, limit, messages)
        return messages

    def _newest(self, session_ref: str, limit: int, before: int | None) -> list[ChatMessage]:
        rows = self._tx.all(
            "list_newest_messages", session_ref=session_ref, before=before or _END, limit=limit
        )[::-1]
        if rows and rows[-1][1] - rows[0][1] != len(rows) - 1:
            span = MessageRange(first=rows[0][1], last=rows[-1][1])  # what is missing must be withdrawn
            _without_gaps([(session_ref, *head) for head in self.heads(session_ref, span)])
        return self._logged(rows)

    def heads(self, session_ref: str, span: MessageRange) -> list[MessageHead]:
        check_ref(session_ref, "sessionRef")
        rows = self._tx.all("list_message_heads", session_ref=session_ref, first=span.first, last=span.last)
        return [
            MessageHead(seq, message_id, role, bool(withdrawn)) for seq, message_id, role, withdrawn in rows
        ]

    def between(self, session_ref: str, span: MessageRange) -> list[ChatMessage]:
        check_ref(session_ref, "sessionRef")
        rows = self._tx.all(
            "list_messages_between", session_ref=session_ref, first=span.first, last=span.last
        )
        return self._logged(_without_gaps(rows))

    def labels(self, session_ref: str, span: MessageRange) -> list[tuple[str, ...]]:
        """The words that describe each message of this range, in order."""
        rows = self._tx.all(
            "list_messages_between", session_ref=session_ref, first=span.first, last=span.last
        )
        return [tuple(_open_details(self._keys, row).get("labels", ())) for row in rows]

    def describe(self, session_ref: str, labels: Mapping[str, Sequence[str]]) -> None:
        persona_id = self._lock_index(session_ref)
        rows = self._tx.all("list_messages_to_describe", session_ref=session_ref, ids=list(labels))
        if rows:
            self._index(persona_id, rows, labels)

    def unindex(self, session_ref: str, ids: Sequence[str]) -> None:
        self._lock_index(session_ref)
        rows = self._tx.all("list_messages_to_describe", session_ref=session_ref, ids=list(ids))
        found = [(*row[:9], 0) for row in rows]
        for persona_id, some in _by_persona(found).items():
            self._index(persona_id, some)

    def index_missing(self, limit: int) -> int:
        """Index messages that an older release stored. Returns how many."""
        rows = self._tx.all("list_messages_to_index", limit=limit)
        for persona_id, some in _by_persona(rows).items():
            self._index(persona_id, some)
        return len(rows)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next messages. Returns the last one, None at the end."""
        number, session_ref = int.from_bytes(after[:8], "big"), after[8:].decode()
        rows = self._tx.all("list_messages_to_reindex", session_ref=session_ref, seq=number, limit=limit)
        for persona_id, some in _by_persona(rows).items():
            self._index(persona_id, some)
        if len(rows) < limit:
            return None
        return rows[-1][1].to_bytes(8, "big") + rows[-1][0].encode()

    @property
    def is_indexed(self) -> bool:
        """Whether every message can be found. Not while the archive that has the text of some is away."""
        return self._archived.failure is None and self._tx.one("has_messages_to_index") is None

    def turn(self, session_ref: str, message_id: str) -> list[ChatMessage]:
        return self._logged(self._tx.all("list_turn_messages", session_ref=session_ref, id=message_id))

    def withdraw(self, session_ref: str, first: int, at: datetime) -> int:
        rows = self._tx.all("withdraw_messages", session_ref=session_ref, first=first, at=to_micros(at))
        ids = [identity for (identity,) in rows]
        if ids:
            self._tx.run("count_withdrawn", session_ref=session_ref)
            self._tx.run("clear_turn_requests", session_ref=session_ref, ids=ids)
            self._tx.run("remove_turn_cycles", session_ref=session_ref, ids=ids, first=first)
        return len(ids)

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the terms of the next messages, as far as these open and their text is in the database.
        Returns the last one, None at the end."""
        number, session_ref = int.from_bytes(after[:8], "big"), after[8:].decode()
        rows = self._tx.all("list_message_entries", session_ref=session_ref, seq=number, limit=limit)
        entries: list[IndexEntry] = []
        for *row, persona_id, terms in rows:
            position = row[1].to_bytes(8, "big") + row[0].encode()
            with suppress(SealBroken, ContentArchived):
                labels = _open_details(self._keys, tuple(row)).get("labels", ())
                expected = self._terms(persona_id, open_message(self._keys, tuple(row)), labels)
                entries.append(IndexEntry(f"{row[0]} {row[1]}", after, position, bytes(terms) == expected))
            after = position
        return entries, after if len(rows) == limit else None

    def delete_inactive(self, before: datetime, limit: int) -> int:
        """Delete the oldest messages, at most `limit`, of a session without activity since `before` and
        without a queued job. Returns how many; 0 if there is no such session."""
        row = self._tx.one("get_inactive_session", before=to_micros(before))
        if row is None:
            return 0
        session_ref, removed = row
        SqlSessionStore(self._tx).lock(session_ref)
        span = {"session_ref": session_ref, "last": removed + limit}
        for persona_id, count in self._tx.all("count_first_entries", **span):
            change_entries(self._tx, persona_id, added=-count)
        deleted = self._tx.run("delete_first_messages", **span)
        self._tx.run("count_removed_messages", **span)
        return deleted

    def removed_count(self, session_ref: str) -> int:
        """How many of the first messages of a session were deleted."""
        row = self._tx.one("get_removed_count", session_ref=session_ref)
        return row[0] if row else 0

    def deleted(self, session_refs: Sequence[str], ids: Sequence[str]) -> set[tuple[str, str]]:
        """Those messages of these sessions with these ids that were deleted, as session and id."""
        removed = [ref for (ref,) in self._tx.all("list_sessions_with_removed", session_refs=session_refs)]
        kept = {
            (ref, message_id)
            for ref in removed
            for _, _, message_id, *_ in self._tx.all("list_messages_by_id", session_ref=ref, ids=ids)
        }
        return {(ref, each) for ref in removed for each in ids} - kept

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by session and number."""
        number, session_ref = int.from_bytes(after[:8], "big"), after[8:].decode()
        rows = self._tx.all("list_message_seals", session_ref=session_ref, seq=number, limit=limit)
        sealed: list[SealedRow] = []
        for row in rows:
            key: dict[str, Value] = {"session_ref": row[0], "seq": row[1]}
            values: dict[str, tuple[Place, bytes]] = {}
            if is_archived(row[5]):
                key["content"] = ARCHIVED
            else:
                values["content"] = (message_place(row), row[5])
            if row[6] is None:
                key["details"] = None
            else:
                values["details"] = (message_place(row, "details"), row[6])
            persona_id, index_number, space, vector = row[7:]
            if vector is None:
                key["vector"] = None
            else:
                values["vector"] = (vector_place(persona_id, index_number, space), vector)
            sealed.append(SealedRow("replace_message_seal", key, values))
        has_more = len(rows) == limit
        return SealPage(sealed, rows[-1][1].to_bytes(8, "big") + rows[-1][0].encode() if has_more else None)

    def _stored(self, session_ref: str, messages: Sequence[ChatMessage]) -> dict[str, ChatMessage]:
        ids = [message.id for message in messages]
        rows = self._tx.all("list_messages_by_id", session_ref=session_ref, ids=ids)
        return {message.id: message for message in self._logged(rows)}

    def _row(self, session_ref: str, seq: int, message: ChatMessage) -> dict[str, Value]:
        at = to_micros(message.timestamp)
        columns = (session_ref, seq, message.id, message.role, at)
        return {
            "session_ref": session_ref,
            "seq": seq,
            "id": message.id,
            "role": message.role,
            "at": at,
            "content": self._keys.seal(message_place(columns), message.content.encode()),
            "details": self._seal_details(columns, {"speaker": message.speaker} if message.speaker else {}),
        }

    def _logged(self, rows: Sequence[Row]) -> list[ChatMessage]:
        """Messages with their marks, which are in column 7."""
        return [
            message.model_copy(update={"withdrawn_at": from_micros(row[7])}) if row[7] else message
            for row, message in zip(rows, open_messages(self._keys, rows, self._archived), strict=True)
        ]

    def _seal_details(self, row: Sequence[object], details: Mapping[str, Any]) -> bytes | None:
        if not details:
            return None
        return self._keys.seal(
            message_place(row, "details"), json.dumps(details, ensure_ascii=False).encode()
        )

    def _terms(self, persona_id: str, message: ChatMessage, labels: Sequence[str]) -> bytes:
        own = spoken_terms(message.content, message.speaker, is_reply=message.role == "assistant")
        return pack_row(self._keys, persona_id, _VERSION, own, label_terms(labels))

    def _index(
        self, persona_id: str | None, rows: Sequence[Row], labels: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Index rows that end with their persona, their number in the index, if they have one, and whether
        they may be found. Labels are added to those that they have.

        A session that an older release started may have no persona; then its messages cannot be found.
        """
        new = sum(row[8] is None and row[9] == 1 for row in rows)
        revision, last = change_entries(self._tx, persona_id, added=new) if persona_id else (None, 0)
        messages = open_messages(self._keys, rows, self._archived)
        for row, message in zip(rows, messages, strict=True):
            number, is_found = row[8], persona_id is not None and row[9] == 1
            if number is None and is_found:
                number, last = last, last - 1
            details = _open_details(self._keys, row)
            if labels:
                more = dict.fromkeys((*details.get("labels", ()), *labels[row[2]]))
                details["labels"] = list(more)[:MAX_LABELS]
            if not is_found:
                details.pop("labels", None)
            self._tx.run(
                "index_message",
                session_ref=row[0],
                seq=row[1],
                details=self._seal_details(row, details),
                persona_id=persona_id,
                number=number,
                changed=None if number is None else revision,
                terms=self._terms(persona_id, message, details.get("labels", ()))
                if persona_id is not None and is_found
                else b"",
            )

    def _lock_index(self, session_ref: str) -> str | None:
        """Lock the index that has the messages of a session. Returns its persona."""
        session = SqlSessionStore(self._tx).get(session_ref)
        if session is None or session.persona_id is None:
            return None
        change_entries(self._tx, session.persona_id)
        return session.persona_id


def _new_messages(messages: Iterable[ChatMessage], stored: dict[str, ChatMessage]) -> Iterator[ChatMessage]:
    """The messages whose ids are not stored. Raises Conflict if one is stored with another content, or
    was withdrawn."""
    for message in messages:
        before = stored.setdefault(message.id, message)
        if before is message:
            yield message
        elif (before.role, before.content) != (message.role, message.content):
            raise Conflict(f"message {message.id} exists with another content; use a new id")
        elif before.withdrawn_at is not None:
            raise Conflict(f"message {message.id} was withdrawn; use a new id")


def _without_gaps(rows: Sequence[Row]) -> Sequence[Row]:
    if rows and rows[-1][1] - rows[0][1] != len(rows) - 1:
        raise StoreDamaged("messages of a session are missing; restore a backup")
    return rows


def open_message(keys: OwnerKeys, row: Row, archived: ArchivedContent = NOTHING_ARCHIVED) -> ChatMessage:
    """Decrypt a row with the columns session, number, id, role, time, content, details."""
    _, _, message_id, role, at, content, *_ = row
    copied = archived.text_of(keys, row)
    return ChatMessage(
        id=message_id,
        role=role,
        content=keys.open(message_place(row), content).decode() if copied is None else copied,
        timestamp=from_micros(at),
        speaker=_open_details(keys, row).get("speaker"),
    )


def open_messages(keys: OwnerKeys, rows: Sequence[Row], archived: ArchivedContent) -> list[ChatMessage]:
    """Decrypt rows. Asks for all texts that are in the archive at once."""
    archived.check(rows)
    return [open_message(keys, row, archived) for row in rows]


def open_labels(keys: OwnerKeys, row: Row) -> tuple[str, ...]:
    """The words that describe a message, of the same row."""
    return tuple(_open_details(keys, row).get("labels", ()))


def _open_details(keys: OwnerKeys, row: Row) -> dict[str, Any]:
    return {} if row[6] is None else json.loads(keys.open(message_place(row, "details"), row[6]))


def vector_place(persona_id: str, number: int, space: str) -> Place:
    """Binds the vector of a message to its persona, its number in the index and its space."""
    return Place("messages", f"vector in {space}", f"{persona_id} {number}", _VERSION)


def _by_persona(rows: Sequence[Row]) -> dict[str | None, list[Row]]:
    """Rows that have their persona in column 7."""
    found: dict[str | None, list[Row]] = {}
    for row in rows:
        found.setdefault(row[7], []).append(row)
    return dict(sorted(found.items(), key=lambda each: each[0] or ""))  # locked in one order by all writers


def message_place(row: Sequence[object], column: str = "content") -> Place:
    """Binds the seal to every column: a message moved to another session, role or time does not open."""
    session_ref, seq, message_id, role, at = row[:5]
    return Place("messages", column, f"{session_ref} {seq} {message_id} {role} {at}")
