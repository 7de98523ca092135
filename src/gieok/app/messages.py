"""What a caller says, checked at the door: before any step runs, with the place that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from gieok.errors import InputRefused
from gieok.memory.conversation.records import Message
from gieok.memory.fields import MAX_MESSAGE_CHARS, storable


def check_message(message: object) -> None:
    """Refuse a message that cannot be meant, or could not be kept."""
    if not isinstance(message, str):
        raise InputRefused("must be a text", at="message")
    if not message.strip():
        raise InputRefused("must not be empty", at="message")
    if len(message) > MAX_MESSAGE_CHARS:
        raise InputRefused(f"may have at most {MAX_MESSAGE_CHARS} characters", at="message")
    try:
        storable(message)
    except ValueError as error:
        raise InputRefused(str(error), at="message") from None


def check_recent(messages: object) -> tuple[Message, ...]:
    """The messages of a client's own window; refused where it is no list of them."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise InputRefused("must be a list of messages", at="recentMessages")
    return tuple(cast("Sequence[Message]", messages))
