"""Messages, as clients send them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import uuid4

from pydantic import AfterValidator, Field, StringConstraints

from gieok.interfaces.rest.wire.base import Asked, example
from gieok.interfaces.rest.wire.fields import MessageTime, Ref
from gieok.memory.conversation.records import Message
from gieok.memory.fields import MAX_MESSAGE_CHARS, storable
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage, Role

Content = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS), AfterValidator(storable)
]


class MessageIn(Asked):
    """One message. Without an `id` it gets one; without a `timestamp` it was said now."""

    model_config = example(
        id="m1", role="user", content="내일 중요한 면접이 있어", timestamp="2025-10-27T12:00:00Z"
    )

    id: Ref | None = None
    role: Role
    content: Content
    timestamp: MessageTime | None = None


Messages = Annotated[list[MessageIn], Field(min_length=1, max_length=MAX_MESSAGES)]
Window = Annotated[list[MessageIn], Field(max_length=MAX_MESSAGES)]


def to_log(messages: Sequence[MessageIn], now: datetime) -> list[ChatMessage]:
    """Messages to be saved."""
    return [
        ChatMessage(
            id=each.id or str(uuid4()),
            role=each.role,
            content=each.content,
            timestamp=each.timestamp or now,
        )
        for each in messages
    ]


def to_window(messages: Sequence[MessageIn]) -> tuple[Message, ...]:
    """Messages that only one prompt sees."""
    return tuple(Message(role=each.role, content=each.content) for each in messages)
