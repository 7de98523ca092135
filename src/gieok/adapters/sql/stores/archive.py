"""What the archive gets of one owner, and messages whose text is in the archive only, in SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import groupby
from typing import Literal, NamedTuple, Protocol, TypeVar, cast
from uuid import UUID

from gieok.adapters.copies import Copy, Key, MessageCopy, SummaryCopy
from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.archived import ARCHIVED, MessageText, is_archived, open_text, seal_text
from gieok.adapters.sql.stores.companion.rows import memory_place, open_memory
from gieok.adapters.sql.stores.messages import SqlMessageStore, message_place, open_message
from gieok.errors import SealBroken
from gieok.memory.companion.records import Memory
from gieok.memory.sessions.records import ChatMessage, Role
from gieok.vault import OwnerKeys

C = TypeVar("C", bound=Copy)
Row_co = TypeVar("Row_co", bound=Copy, covariant=True)
Problem = Literal["missing", "extra", "different", "seal"]
_NEVER_CHANGED, _WITHDRAWN = 1, 2
"""Revisions of a message."""
_OWN_COLUMNS = {"revision", "generation", "content", "number"}
"""Columns of a copy that may differ from those of the row."""


class Revisions(NamedTuple):
    """Which rows exist, their revisions, and the generation of the data key."""

    generation: int
    rows: Mapping[Key, int]


class SqlRows(Protocol[Row_co]):
    """The rows of one owner that are copied to one collection, inside one transaction."""

    def get(self, keys: Collection[Key]) -> Sequence[Row_co]:
        """Copies of the rows with these keys. Those that do not exist are left out."""
        ...

    def page(self, after: Key, limit: int) -> Sequence[Row_co]:
        """Copies of the next rows in the order of their keys; `after` is empty at the start."""
        ...

    def keys_after(self, after: Key, limit: int) -> Sequence[Key]:
        """The keys of the same rows."""
        ...

    def revisions(self, keys: Collection[Key]) -> Revisions:
        """Whether rows have changed since they were copied, or the key that seals copies."""
        ...


class SqlMessageRows:
    """Messages. A message changes only by being withdrawn."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def get(self, keys: Collection[Key]) -> list[MessageCopy]:
        return [self.copy(row) for row in self._rows(keys)]

    def page(self, after: Key, limit: int) -> list[MessageCopy]:
        return [self.copy(row) for row in self._page(after, limit)]

    def keys_after(self, after: Key, limit: int) -> list[Key]:
        return [(row[0], row[1]) for row in self._page(after, limit)]

    def revisions(self, keys: Collection[Key]) -> Revisions:
        rows = {(row[0], row[1]): _revision(row) for row in self._rows(keys)}
        return Revisions(self._keys.generation, rows)

    def keys_of(self, messages: Iterable[tuple[str, str]]) -> list[Key]:
        """The keys of messages that are given by session and id."""
        found: list[Key] = []
        for session_ref, some in groupby(sorted(messages), key=lambda each: each[0]):
            ids = [message_id for _, message_id in some]
            rows = self._tx.all("list_messages_by_id", session_ref=session_ref, ids=ids)
            found += [(row[0], row[1]) for row in rows]
        return found

    def copy(self, row: Row) -> MessageCopy:
        session_ref, seq, identity, role, at, content, _, persona_id, withdrawn_at = row
        copy = MessageCopy(
            session_ref=session_ref,
            seq=seq,
            id=identity,
            role=role,
            at=at,
            persona_id=persona_id,
            withdrawn_at=withdrawn_at,
            revision=_revision(row),
            generation=self._keys.generation,
            content=None,
        )
        if is_archived(content):
            return copy
        message = open_message(self._keys, row)
        sealed = seal_text(self._keys, copy, MessageText(message.content, message.speaker))
        return replace(copy, content=sealed)

    def _rows(self, keys: Collection[Key]) -> list[Row]:
        found: list[Row] = []
        for session_ref, some in groupby(sorted(keys), key=lambda key: key[0]):
            seqs = [int(seq) for _, seq in some]
            found += self._tx.all("list_messages_to_copy", session_ref=session_ref, seqs=seqs)
        return found

    def _page(self, after: Key, limit: int) -> list[Row]:
        session_ref, seq = after or ("", 0)
        return self._tx.all("list_next_messages_to_copy", session_ref=session_ref, seq=seq, limit=limit)


class SqlSummaryRows:
    """Memories. Their revision is that of the persona's index at their last change."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def get(self, keys: Collection[Key]) -> list[SummaryCopy]:
        return [self._copy(row) for row in self._rows(keys)]

    def page(self, after: Key, limit: int) -> list[SummaryCopy]:
        return [self._copy(row) for row in self._page(after, limit)]

    def keys_after(self, after: Key, limit: int) -> list[Key]:
        return [_summary_key(row) for row in self._page(after, limit)]

    def revisions(self, keys: Collection[Key]) -> Revisions:
        return Revisions(self._keys.generation, {_summary_key(row): row[-1] for row in self._rows(keys)})

    def _rows(self, keys: Collection[Key]) -> list[Row]:
        return self._tx.all("list_memories_to_copy", ids=[UUID(str(key[0])).bytes for key in keys])

    def _page(self, after: Key, limit: int) -> list[Row]:
        last = UUID(str(after[0])).bytes if after else b""
        return self._tx.all("list_next_memories_to_copy", after=last, limit=limit)

    def _copy(self, row: Row) -> SummaryCopy:
        *columns, archived_at, version, content, changed = row
        _, persona_id, number, session_ref, origin, importance, created_at, occurred_at = columns
        copy = SummaryCopy(
            id=str(_summary_key(row)[0]),
            persona_id=persona_id,
            number=number,
            session_ref=session_ref,
            origin=int(origin),
            importance=importance,
            created_at=created_at,
            occurred_at=occurred_at,
            archived_at=archived_at,
            version=version,
            revision=changed,
            generation=self._keys.generation,
            content=None,
        )
        opened = self._keys.open(memory_place(row[:8], version), content)
        return replace(copy, content=self._keys.seal(copy.place, opened))


class Texts(NamedTuple):
    """Messages of one session, in order, whose text may leave the database."""

    copies: Sequence[MessageCopy]
    sealed: Sequence[bytes]
    """The content of each row: it is removed only if the row still has it."""


class SqlArchiveStore:
    """The archive as the database of one owner sees it, inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys
        self.messages = SqlMessageRows(tx, keys)
        self.summaries = SqlSummaryRows(tx, keys)

    def compare(self, own: Iterable[C], copies: Iterable[C]) -> dict[Key, Problem]:
        """What is missing, different or cannot be opened among the copies of these rows."""
        stored, found = {copy.key: copy for copy in copies}, dict[Key, Problem]()
        for one in own:
            other = stored.get(one.key)
            problem = "missing" if other is None else self._problem(one, other)
            if problem is not None:
                found[one.key] = problem
        return found

    def has_texts(self, before: datetime) -> bool:
        """Whether `next_texts` has some."""
        return self._tx.one("get_session_to_archive", before=to_micros(before)) is not None

    def next_texts(self, before: datetime, limit: int) -> Texts | None:
        """Texts of the session that is inactive for longest, since `before`; None if none may leave."""
        row = self._tx.one("get_session_to_archive", before=to_micros(before))
        if row is None:
            return None
        session_ref, done = row
        seqs = list(range(done + 1, done + 1 + limit))
        rows = self._tx.all("list_messages_to_copy", session_ref=session_ref, seqs=seqs)
        rows = sorted((each for each in rows if not is_archived(each[5])), key=lambda each: each[1])
        return (
            Texts([self.messages.copy(each) for each in rows], [each[5] for each in rows]) if rows else None
        )

    def remove_texts(self, texts: Texts) -> None:
        """Remove texts that are in the archive. Their rows and index terms stay."""
        for copy, sealed in zip(texts.copies, texts.sealed, strict=True):
            row = {"session_ref": copy.session_ref, "seq": copy.seq}
            self._tx.run("remove_text", content=sealed, archived=ARCHIVED, **row)
        last = texts.copies[-1]
        self._tx.run("set_archived_count", session_ref=last.session_ref, archived_count=last.seq)

    def archived_texts(self, limit: int) -> list[Key]:
        """The last messages of a session whose texts are in the archive only; empty if there are none."""
        row = self._tx.one("get_archived_session")
        if row is None:
            return []
        session_ref, removed, archived = row
        return [(session_ref, seq) for seq in range(max(removed, archived - limit) + 1, archived + 1)]

    def put_back(self, keys: Sequence[Key], copies: Iterable[MessageCopy]) -> int:
        """Put texts back. `keys` are those of `archived_texts`. Returns how many."""
        count = 0
        for copy in copies:
            columns = (copy.session_ref, copy.seq, copy.id, copy.role, copy.at)
            sealed = self._keys.seal(message_place(columns), open_text(self._keys, copy).content.encode())
            row = {"session_ref": copy.session_ref, "seq": copy.seq}
            count += self._tx.run("put_text_back", content=sealed, archived=ARCHIVED, **row)
        session_ref, first = keys[0]
        self._tx.run("set_archived_count", session_ref=session_ref, archived_count=int(first) - 1)
        return count

    def append(self, copies: Sequence[MessageCopy]) -> int:
        """Append messages of one session that the database has lost and that follow its last one. Returns
        how many. Raises NotFound or SessionEnded for the session."""
        log, session_ref = SqlMessageStore(self._tx, self._keys), copies[0].session_ref
        messages = [_message(copy, open_text(self._keys, copy)) for copy in copies]
        added = log.append(session_ref, messages, messages[-1].timestamp, None).added
        withdrawn = [copy for copy in copies if copy.withdrawn_at is not None]
        for copy in withdrawn:
            self._tx.run("withdraw_message", session_ref=session_ref, id=copy.id, at=copy.withdrawn_at)
        if withdrawn:
            self._tx.run("count_withdrawn", session_ref=session_ref)
            log.unindex(session_ref, [copy.id for copy in withdrawn])
        return added

    def memory(self, copy: SummaryCopy) -> Memory:
        """The memory of a copy. SealBroken if the copy was altered or moved."""
        opened = self._keys.open(copy.place, copy.content or b"")
        columns = (
            *(UUID(copy.id).bytes, copy.persona_id, copy.number, copy.session_ref, copy.origin),
            *(copy.importance, copy.created_at, copy.occurred_at),
        )
        sealed = self._keys.seal(memory_place(columns, copy.version), opened)
        return open_memory(self._keys, (*columns, copy.archived_at, copy.version, sealed))

    def _problem(self, own: Copy, other: Copy) -> Problem | None:
        """A row whose text is in the archive only is compared by its columns; the copy must open."""
        try:
            opened = self._keys.open(other.place, other.content or b"")
        except SealBroken:
            return "seal"
        same_text = own.content is None or self._keys.open(own.place, own.content) == opened
        return None if same_text and _columns(own) == _columns(other) else "different"


def _columns(copy: Copy) -> dict[str, object]:
    return {name: value for name, value in asdict(copy).items() if name not in _OWN_COLUMNS}


def _revision(row: Row) -> int:
    return _NEVER_CHANGED if row[8] is None else _WITHDRAWN


def _summary_key(row: Row) -> Key:
    return (str(UUID(bytes=row[0])),)


def _message(copy: MessageCopy, text: MessageText) -> ChatMessage:
    return ChatMessage(
        id=copy.id,
        role=cast(Role, copy.role),
        content=text.content,
        timestamp=from_micros(copy.at),
        speaker=text.speaker,
    )
