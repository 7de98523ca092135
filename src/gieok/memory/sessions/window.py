"""The window of a session: the messages that a reply is based on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from gieok.engine import AnyStep, Data, ReadStep, StepContext
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage, MessageHead, MessageId, MessageRange
from gieok.memory.sessions.rules import is_cleared, turns_from
from gieok.memory.sessions.steps import CONTEXT_SELECT, SessionInputs
from gieok.memory.sessions.store import LogView


class WindowMetadata(Data):
    recent_messages: Annotated[int, Field(ge=0, le=MAX_MESSAGES)]


class Window(Data):
    messages: tuple[ChatMessage, ...]
    revision: int
    """The revision of the session in the same snapshot."""


class WindowInputs(SessionInputs):
    replaces: MessageId | None = None
    """A message of the last turn, if this turn replaces it: then the window is the one before it."""


class LoadWindow(ReadStep[WindowMetadata, WindowInputs, Window]):
    """Load the last `recentMessages` messages. The window is empty once an ended session is summarised."""

    type = "LoadWindow"
    stages = CONTEXT_SELECT

    def read(
        self, view: LogView, metadata: WindowMetadata, inputs: WindowInputs, context: StepContext
    ) -> Window:
        session = view.sessions.get(inputs.session_ref)
        messages: Sequence[ChatMessage] = ()
        replaced: Sequence[MessageHead] = ()
        if session is not None and inputs.replaces is not None:
            heads = view.messages.heads(inputs.session_ref, MessageRange(first=1, last=session.log_length))
            replaced = turns_from(heads, inputs.replaces)
        if session is not None and not is_cleared(session):
            before = replaced[0].seq if replaced else None
            messages = view.messages.window(inputs.session_ref, metadata.recent_messages, before)
        context.note("messages", len(messages))
        revision = session.revision + len(replaced) if session else 0  # each withdrawal raises it
        return Window(messages=tuple(messages), revision=revision)


STEPS: tuple[type[AnyStep], ...] = (LoadWindow,)
