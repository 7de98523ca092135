"""Values of a shared cache that a chat turn uses: the window of its session, and the revision of its persona.

A value is sealed with the owner's key, and used only if it opens under what the reading transaction finds in
the database. So an outdated value, or one of another session or persona, is a miss. Every change of a
session's log writes another random number to the session's row, its tag, and a window is bound to it. The
content of a persona is bound to the id of its version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import randbits

from pydantic import ValidationError

from gieok.engine import Data
from gieok.errors import SealBroken
from gieok.memory.sessions.records import ChatMessage
from gieok.vault import OwnerKeys, Place

MAX_BYTES = 128 * 1024
"""A larger value is not cached: it would take longer to send than to read."""
CacheName = tuple[str, str]
"""What a value is of: "session" or "persona", and its id."""


def new_tag() -> int:
    """A tag that no log has had."""
    return randbits(63)


class _Sealed(Data):
    messages: tuple[ChatMessage, ...]
    is_whole: bool
    """Whether the session has no other messages."""


@dataclass(frozen=True, slots=True)
class _Read:
    tag: int
    limit: int
    window: _Sealed


class CachedWindow:
    """What the cache had of one session when a cycle began, and what to write to it after the commit."""

    def __init__(self, session_ref: str, sealed: bytes | None) -> None:
        self.session_ref = session_ref
        self.is_hit = False
        self.to_save: bytes | None = None
        """The window after the commit, sealed. Valid once the transaction is committed."""
        self._found = sealed
        self._read: _Read | None = None

    def get(self, keys: OwnerKeys, tag: int, limit: int) -> list[ChatMessage] | None:
        """The newest messages; None if the cache does not have them as they are at this tag."""
        if self._found is None:
            return None
        try:
            window = _Sealed.model_validate_json(keys.open(_place(self.session_ref, tag), self._found))
        except (SealBroken, ValidationError):
            return None
        if len(window.messages) < limit and not window.is_whole:
            return None
        self.is_hit = True
        newest = window.messages[max(0, len(window.messages) - limit) :]
        is_whole = window.is_whole and len(newest) == len(window.messages)
        self._read = _Read(tag, limit, _Sealed(messages=newest, is_whole=is_whole))
        return list(newest)

    def keep(self, tag: int, limit: int, messages: Sequence[ChatMessage]) -> None:
        """Keep what was read from the database instead."""
        window = _Sealed(messages=tuple(messages), is_whole=len(messages) < limit)
        self._read = _Read(tag, limit, window)

    def append(
        self, keys: OwnerKeys, before: int | None, after: int, new: Sequence[ChatMessage], *, is_first: bool
    ) -> None:
        """Seal the window with these messages after it, if this cycle has read it at the tag `before`.

        It keeps so many messages that the next turn finds all that it may ask for.
        """
        self.to_save, read = None, self._read
        if is_first:
            window = _Sealed(messages=tuple(new), is_whole=True)
        elif read is not None and read.tag == before:
            messages = (*read.window.messages, *new)[-(read.limit + len(new)) :]
            window = _Sealed(messages=messages, is_whole=read.window.is_whole)
        else:
            return
        content = window.model_dump_json(by_alias=True).encode()
        if len(content) <= MAX_BYTES:
            self.to_save = keys.seal(_place(self.session_ref, after), content)


def _place(session_ref: str, tag: int) -> Place:
    return Place("cache", "window", f"{session_ref} {tag}")


class CachedPersona:
    """The sealed content of a persona's active version, as the cache had it when a cycle began.

    These are the bytes that the database has, too: they are bound to every other column of the version.
    """

    def __init__(self, persona_id: str, sealed: bytes | None) -> None:
        self.persona_id = persona_id
        self.sealed = sealed
        self.is_hit = False
        self.to_save: bytes | None = None

    def keep(self, sealed: bytes) -> None:
        """Keep what was read from the database instead."""
        if len(sealed) <= MAX_BYTES:
            self.to_save = sealed


@dataclass(frozen=True, slots=True)
class CachedReads:
    """What the cache had for one cycle."""

    window: CachedWindow | None = None
    persona: CachedPersona | None = None

    def to_save(self) -> Mapping[CacheName, bytes]:
        """What to write to the cache after the commit."""
        return dict(self._to_save())

    def _to_save(self) -> Iterator[tuple[CacheName, bytes]]:
        if self.window is not None and self.window.to_save is not None:
            yield ("session", self.window.session_ref), self.window.to_save
        if self.persona is not None and self.persona.to_save is not None:
            yield ("persona", self.persona.persona_id), self.persona.to_save


NOTHING_CACHED = CachedReads()
