"""The message log in SQL: sealed, append-only, numbered without gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.sessions import SqlSessionStore
from gieok.errors import Conflict, StoreDamaged
from gieok.memory.sessions.records import Appended, ChatMessage, MessageRange, Role
from gieok.memory.sessions.rules import check_appendable
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place


class SqlMessageStore:
    """The messages of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def append(
        self, session_ref: str, messages: Sequence[ChatMessage], at: datetime, expected_count: int | None
    ) -> Appended:
        session = SqlSessionStore(self._tx).lock(session_ref)
        new = list(_new_messages(messages, self._stored(session_ref, messages)))
        if not new:
            return Appended(added=0, message_count=session.message_count)
        check_appendable(session, expected_count)
        rows = [
            self._row(session_ref, seq, message)
            for seq, message in enumerate(new, start=session.message_count + 1)
        ]
        self._tx.run_many("add_messages", rows)
        count = session.message_count + len(new)
        self._tx.run("count_messages", session_ref=session_ref, message_count=count, at=to_micros(at))
        return Appended(added=len(new), message_count=count)

    def window(self, session_ref: str, limit: int) -> list[ChatMessage]:
        check_ref(session_ref, "sessionRef")
        rows = self._tx.all("list_newest_messages", session_ref=session_ref, limit=limit)
        return [self._open(row) for row in _without_gaps(rows[::-1])]

    def roles(self, session_ref: str, span: MessageRange) -> list[Role]:
        check_ref(session_ref, "sessionRef")
        rows = self._tx.all("list_roles", session_ref=session_ref, first=span.first, last=span.last)
        return [role for (role,) in rows]

    def between(self, session_ref: str, span: MessageRange) -> list[ChatMessage]:
        check_ref(session_ref, "sessionRef")
        rows = self._tx.all(
            "list_messages_between", session_ref=session_ref, first=span.first, last=span.last
        )
        return [self._open(row) for row in _without_gaps(rows)]

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Reseal the next rows under the current key. Returns their number and the next cursor, if any."""
        number, session_ref = int.from_bytes(after[:8], "big"), after[8:].decode()
        rows = self._tx.all("list_message_seals", session_ref=session_ref, seq=number, limit=limit)
        for row in rows:
            session_ref, number, *_, content = row
            place = _place(row)
            self._tx.run(
                "replace_message_seal",
                session_ref=session_ref,
                seq=number,
                content=self._keys.reseal(place, content),
            )
        return len(rows), number.to_bytes(8, "big") + session_ref.encode() if len(rows) == limit else None

    def _stored(self, session_ref: str, messages: Sequence[ChatMessage]) -> dict[str, ChatMessage]:
        ids = [message.id for message in messages]
        rows = self._tx.all("list_messages_by_id", session_ref=session_ref, ids=ids)
        return {message.id: message for message in (self._open(row) for row in rows)}

    def _row(self, session_ref: str, seq: int, message: ChatMessage) -> dict[str, str | int | bytes]:
        at = to_micros(message.timestamp)
        place = _place((session_ref, seq, message.id, message.role, at))
        return {
            "session_ref": session_ref,
            "seq": seq,
            "id": message.id,
            "role": message.role,
            "at": at,
            "content": self._keys.seal(place, message.content.encode()),
        }

    def _open(self, row: Row) -> ChatMessage:
        _, _, message_id, role, at, content = row
        text = self._keys.open(_place(row), content).decode()
        return ChatMessage(id=message_id, role=role, content=text, timestamp=from_micros(at))


def _new_messages(messages: Iterable[ChatMessage], stored: dict[str, ChatMessage]) -> Iterator[ChatMessage]:
    """The messages whose ids are not stored. Raises Conflict if one is stored with another content."""
    for message in messages:
        before = stored.setdefault(message.id, message)
        if before is message:
            yield message
        elif (before.role, before.content) != (message.role, message.content):
            raise Conflict(f"message {message.id} exists with another content; use a new id")


def _without_gaps(rows: Sequence[Row]) -> Sequence[Row]:
    if rows and rows[-1][1] - rows[0][1] != len(rows) - 1:
        raise StoreDamaged("messages of a session are missing; restore a backup")
    return rows


def _place(row: Sequence[object]) -> Place:
    """Binds the seal to every column: a message moved to another session, role or time does not open."""
    session_ref, seq, message_id, role, at = row[:5]
    return Place("messages", "content", f"{session_ref} {seq} {message_id} {role} {at}")
