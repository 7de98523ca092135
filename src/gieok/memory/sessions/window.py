"""The window of a session: the messages that a reply is based on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from pydantic import Field

from gieok.engine import AnyStep, Data, ReadStep, StepContext
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage, MessageHead, MessageId, MessageRange
from gieok.memory.sessions.rules import is_cleared, turns_from, window_size
from gieok.memory.sessions.steps import CONTEXT_SELECT, SessionInputs
from gieok.memory.sessions.store import LogView


class WindowMetadata(Data):
    recent_messages: Annotated[int, Field(ge=0, le=MAX_MESSAGES)]
    keep_messages: Annotated[int, Field(ge=0, le=MAX_MESSAGES)]
    """How many of the last messages stay when a summary covers them."""


class Window(Data):
    messages: tuple[ChatMessage, ...]
    revision: int
    """The revision of the session in the same snapshot."""
    is_start: bool
    """Whether the user has said nothing in this session yet."""
    summary_ids: tuple[UUID, ...]
    """The memories that cover the earlier part of the session, in the order of its messages."""


class WindowInputs(SessionInputs):
    replaces: MessageId | None = None
    """A message of the last turn, if this turn replaces it: then the window is the one before it."""


class LoadWindow(ReadStep[WindowMetadata, WindowInputs, Window]):
    """Load the last `recentMessages` messages. What was summarised leaves the window, except for the last
    `keepMessages`; once an ended session is summarised, all of it.
    """

    type = "LoadWindow"
    stages = CONTEXT_SELECT

    def read(
        self, view: LogView, metadata: WindowMetadata, inputs: WindowInputs, context: StepContext
    ) -> Window:
        session = view.sessions.get(inputs.session_ref)
        if session is None:
            return Window(messages=(), revision=0, is_start=True, summary_ids=())
        replaced: Sequence[MessageHead] = ()
        if inputs.replaces is not None:
            heads = view.messages.heads(inputs.session_ref, MessageRange(first=1, last=session.log_length))
            replaced = turns_from(heads, inputs.replaces)
        jobs = view.jobs.summaries(inputs.session_ref) if session.summarized_count else ()
        messages: Sequence[ChatMessage] = ()
        if not is_cleared(session):
            size = window_size(
                session.log_length,
                jobs[-1].last_seq if jobs else 0,
                recent_messages=metadata.recent_messages,
                keep_messages=metadata.keep_messages,
            )
            before = replaced[0].seq if replaced else None
            messages = view.messages.window(inputs.session_ref, size, before)
        context.note("messages", len(messages))
        is_whole = len(messages) + len(replaced) >= session.message_count
        return Window(
            messages=tuple(messages),
            revision=session.revision + len(replaced),  # each withdrawal raises it
            is_start=is_whole and all(message.role != "user" for message in messages),
            summary_ids=tuple(job.memory_id for job in jobs if job.memory_id is not None),
        )


STEPS: tuple[type[AnyStep], ...] = (LoadWindow,)
