"""What the client reads of the wire: an emotion is the library's own, whatever the service calls it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator

from gieok import wire
from gieok.memory.companion.records import Emotion

EmotionName = Annotated[Emotion, BeforeValidator(Emotion.parse)]
"""The service names an emotion in the language of its reader."""


class Memory(wire.Memory[EmotionName]):
    """One memory. `archived_at` is None while it is active."""


class MemoryHit(wire.MemoryHit[EmotionName]):
    """A memory that was found, and why."""


class MemoryPage(wire.MemoryPage[Memory]):
    """Part of a list. `total` counts all that the filter lets through."""


class Kept(wire.Kept[Memory]):
    """A memory that was kept, what lost its place to it, and what the user is to be told."""


class Summary(wire.Summary[Memory]):
    """The memory of what was said. None where every message was summarised before."""


class Token(wire.Told):
    """A piece of a reply, as it is being said."""

    text: str


class ChatTurn(wire.ChatTurn[Memory]):
    """The reply, what it was based on, what it changed, and what the user is to be told."""


class StartedSession(wire.StartedSession[Memory]):
    """A new session, and the memories that its conversation begins with."""


class ClosedSession(wire.Told):
    """A session that has ended: the jobs that summarise it, or after waiting the memory and the notices."""

    job_id: UUID | None = None
    job_ids: tuple[UUID, ...] = ()
    memory: Memory | None = None
    notices: tuple[str, ...] = ()
