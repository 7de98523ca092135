"""The archive: sealed copies of messages and memories in another database.

A copy has the same plain columns as its row in the main database. Its content is sealed with the owner's data
key and bound to the collection, so that a copy cannot take the place of a row, nor of another copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from gieok.vault import OwnerKeys, Place

ARCHIVE = "archive"
"""The name of the archive among the consumers of events."""
CHAT_MESSAGES = "chat_messages"
SUMMARIES = "memory_summary_archives"

Key = tuple[str | int, ...]
"""Which copy of an owner: the values of its `KEY`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """What all copies have. Times are microseconds since 1970."""

    COLLECTION: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]

    revision: int
    """A copy never replaces one of a higher revision."""
    generation: int
    """The generation of the data key that sealed the content."""
    content: bytes | None
    """Sealed. None if the main database has it in the archive only."""

    @property
    def key(self) -> Key:
        return tuple(getattr(self, name) for name in self.KEY)

    @property
    def place(self) -> Place:
        """What the content is bound to."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCopy(Copy):
    """A message. Its content is JSON: the text and, if it has one, the speaker."""

    COLLECTION: ClassVar[str] = CHAT_MESSAGES
    KEY: ClassVar[tuple[str, ...]] = ("session_ref", "seq")

    session_ref: str
    seq: int
    id: str
    role: str
    at: int
    persona_id: str | None
    withdrawn_at: int | None

    @property
    def place(self) -> Place:
        row = f"{self.session_ref} {self.seq} {self.id} {self.role} {self.at}"
        return Place(CHAT_MESSAGES, "content", row)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCopy(Copy):
    """A memory, which the archive calls a summary. Its content is that of the row."""

    COLLECTION: ClassVar[str] = SUMMARIES
    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: str
    persona_id: str
    number: int
    session_ref: str | None
    origin: int
    importance: int
    created_at: int
    occurred_at: int
    archived_at: int | None
    version: int

    @property
    def place(self) -> Place:
        columns = (self.number, self.origin, self.importance, self.created_at, self.occurred_at)
        row = f"{self.id} {self.persona_id} {self.session_ref or ''} {' '.join(map(str, columns))}"
        return Place(SUMMARIES, "content", row, self.version)


class Archive(Protocol):
    """What the main database needs of its archive. StoreUnavailable if it cannot be reached."""

    async def check(self) -> None:
        """Raise StoreUnavailable if it cannot be reached."""
        ...

    async def messages(self, owner: str, keys: Sequence[Key]) -> Sequence[MessageCopy]:
        """The copies of these messages. Those that do not exist are left out."""
        ...

    async def reseal(self, owner: str, keys: OwnerKeys) -> int:
        """Reseal every copy of the owner under the current key. Returns how many."""
        ...
