"""What is said: kept the moment it arrives, and read back as the window of recent messages."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

from pydantic import AfterValidator, Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import NotFound
from gieok.memory.fields import SessionRef
from gieok.memory.reader import Reader
from gieok.memory.sessions.records import MAX_MESSAGES, Appended, ChatMessage, Session
from gieok.memory.sessions.rules import check_batch, is_cleared
from gieok.memory.sessions.store import LogRooms, SessionRooms


class LoadInputs(Data):
    session_ref: SessionRef


class LoadedSession(Data):
    session: Session


class LoadSession(Step[NoData, LoadInputs, LoadedSession]):
    """The session as it stands; NotFound where there is none."""

    type = "LoadSession"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[SessionRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: NoData, inputs: LoadInputs, context: StepContext) -> LoadedSession:
        session = await self._rooms.read(lambda rooms: rooms.sessions.get(inputs.session_ref), brief=True)
        if session is None:
            raise NotFound("no such session")
        return LoadedSession(session=session)


class WindowMetadata(Data):
    recent_messages: Annotated[int, Field(ge=0, le=MAX_MESSAGES)]


class Window(Data):
    messages: tuple[ChatMessage, ...]
    message_count: int
    """How many the session had when the window was read, from the same view."""


class LoadWindow(Step[WindowMetadata, LoadInputs, Window]):
    """The last `recentMessages` messages: the working memory, empty once an ended session is summarised."""

    type = "LoadWindow"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[LogRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: WindowMetadata, inputs: LoadInputs, context: StepContext) -> Window:
        def load(rooms: LogRooms) -> Window:
            session = rooms.sessions.get(inputs.session_ref)
            if session is None:
                return Window(messages=(), message_count=0)
            if is_cleared(session):
                return Window(messages=(), message_count=session.message_count)
            messages = rooms.messages.window(inputs.session_ref, metadata.recent_messages)
            return Window(messages=tuple(messages), message_count=session.message_count)

        window = await self._rooms.read(load, brief=True)
        context.note("messages", len(window.messages))
        return window


class AppendInputs(Data):
    session_ref: SessionRef
    messages: Annotated[tuple[ChatMessage, ...], AfterValidator(check_batch)]


class Saved(Data):
    session_ref: SessionRef


def _append(
    context: StepContext, session_ref: str, messages: tuple[ChatMessage, ...], expected_count: int | None
) -> Saved:
    def append(rooms: LogRooms) -> Appended:
        return rooms.messages.append(session_ref, messages, context.now, expected_count)

    context.stage_write(append)
    return Saved(session_ref=session_ref)


class AppendMessages(Step[NoData, AppendInputs, Saved]):
    """Keeps messages that a client sends, in their order. Those that are known change nothing."""

    type = "AppendMessages"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: AppendInputs, context: StepContext) -> Saved:
        return _append(context, inputs.session_ref, inputs.messages, None)


class TurnInputs(Data):
    session_ref: SessionRef
    message: str
    reply: str
    message_count: int
    """How many the session had when the window was read: the reply must be based on all of them."""


class AppendTurn(Step[NoData, TurnInputs, Saved]):
    """Keeps what the user said and what was answered. Conflict where someone wrote meanwhile."""

    type = "AppendTurn"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: TurnInputs, context: StepContext) -> Saved:
        said = ChatMessage(id=str(uuid4()), role="user", content=inputs.message, timestamp=context.now)
        answered = ChatMessage(id=str(uuid4()), role="assistant", content=inputs.reply, timestamp=context.now)
        return _append(context, inputs.session_ref, (said, answered), inputs.message_count)
