"""The part of a session in summarising it: which messages a job is about, and that they are covered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import StoreDamaged
from gieok.memory.fields import AccountPlan, SessionRef, Timestamp
from gieok.memory.jobs.records import Job
from gieok.memory.reader import Reader
from gieok.memory.sessions.records import ChatMessage, MessageRange, Session
from gieok.memory.sessions.store import LogRooms, SessionRooms


class JobInputs(Data):
    job: Job


class ConversationMetadata(Data):
    chars_per_message: Annotated[int, Field(ge=1)]


class Conversation(Data):
    """The messages of a job, and what a memory of them has to know."""

    session_ref: SessionRef
    persona_id: str
    account_plan: AccountPlan
    messages: tuple[ChatMessage, ...]
    occurred_at: Timestamp
    memory_id: UUID | None
    """The memory that an earlier run of the job made, to be bettered."""


class LoadConversation(Step[ConversationMetadata, JobInputs, Conversation]):
    """Reads what a job is to summarise, at most `charsPerMessage` of each message."""

    type = "LoadConversation"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[LogRooms]) -> None:
        self._rooms = rooms

    async def run(
        self, metadata: ConversationMetadata, inputs: JobInputs, context: StepContext
    ) -> Conversation:
        job = inputs.job
        span = MessageRange(first=job.first_seq, last=job.last_seq)

        def load(rooms: LogRooms) -> tuple[Session | None, Sequence[ChatMessage]]:
            return rooms.sessions.get(job.session_ref), rooms.messages.between(job.session_ref, span)

        session, messages = await self._rooms.read(load)
        context.note("messages", len(messages))
        return _conversation(job, session, messages, metadata.chars_per_message)


def _conversation(
    job: Job, session: Session | None, messages: Sequence[ChatMessage], chars: int
) -> Conversation:
    """No partial result: a summary of fewer messages than the job has would pass for one of all."""
    if session is None or session.persona_id is None or len(messages) != job.last_seq - job.first_seq + 1:
        raise StoreDamaged(f"job {job.id} is about messages that are not all there; restore a backup")
    return Conversation(
        session_ref=job.session_ref,
        persona_id=session.persona_id,
        account_plan=session.account_plan,
        messages=tuple(
            message.model_copy(update={"content": message.content[:chars]}) for message in messages
        ),
        occurred_at=messages[-1].timestamp,
        memory_id=job.memory_id,
    )


class CoverMessages(Step[NoData, JobInputs, NoData]):
    """Notes, with the memory itself, that a memory covers the messages of the job."""

    type = "CoverMessages"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: JobInputs, context: StepContext) -> NoData:
        job = inputs.job

        def cover(rooms: SessionRooms) -> None:
            if job.memory_id is None:
                rooms.sessions.cover(job.session_ref, job.last_seq - job.first_seq + 1)

        context.stage_write(cover)
        return NoData()
