"""The step that stores a conversation of another program as a session that has ended."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import AnyStep, Data, NoData, StepContext, WriteStep
from gieok.memory.sessions.records import MAX_MESSAGES, Appended, ChatMessage, SessionStart
from gieok.memory.sessions.steps import AppendOutput
from gieok.memory.sessions.store import LogView


class ImportInputs(Data):
    start: SessionStart
    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]


class ImportMessages(WriteStep[NoData, ImportInputs, AppendOutput]):
    """Start a session, append all messages of a conversation, and end it, with the times of its messages.

    Conflict if the session exists.
    """

    type = "ImportMessages"
    input_sources = {"messages": frozenset({"request"})}  # noqa: RUF012

    def apply(
        self, view: LogView, metadata: NoData, inputs: ImportInputs, context: StepContext
    ) -> AppendOutput:
        messages, ref = inputs.messages, inputs.start.session_ref
        view.sessions.start(inputs.start, messages[0].timestamp)
        count = 0
        for first in range(0, len(messages), MAX_MESSAGES):
            batch = messages[first : first + MAX_MESSAGES]
            count = view.messages.append(ref, batch, batch[-1].timestamp, first).message_count
        view.sessions.end(ref, messages[-1].timestamp)
        context.note("messages", count)
        return AppendOutput(session_ref=ref, appended=Appended(added=count, message_count=count))


STEPS: tuple[type[AnyStep], ...] = (ImportMessages,)
