"""The steps that queue the remembering of exchanges, and load them for it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from gieok.engine import AnyStep, Data, NoData, ReadStep, StepContext, WriteStep
from gieok.errors import StoreDamaged
from gieok.memory.fields import PersonaId, SessionRef, Timestamp
from gieok.memory.observations import Exchange, Observation, SpokenMessage, TurnNote
from gieok.memory.sessions.records import MAX_MESSAGES, Appended, ChatMessage, MessageRange
from gieok.memory.sessions.rules import exchange_ends, labels_of, unremembered
from gieok.memory.sessions.steps import CONTEXT_SELECT, JobInputs, SessionInputs, queue_jobs
from gieok.memory.sessions.store import LogView


class QueueRememberingMetadata(Data):
    every: Annotated[int, Field(ge=1, le=MAX_MESSAGES)]
    """How many exchanges one model call remembers."""
    at_most: Annotated[int, Field(ge=1, le=MAX_MESSAGES)]
    """How many it remembers at most, if more were saved at once."""


class QueueRememberingInputs(SessionInputs):
    appended: Appended | None = None
    """The messages that this cycle has added; None for a plan that may end the session."""
    wanted: bool = True
    """Whether the added messages are to be remembered."""


class QueuedRemembering(Data):
    jobs: tuple[UUID, ...]


class QueueRemembering(WriteStep[QueueRememberingMetadata, QueueRememberingInputs, QueuedRemembering]):
    """Queue a job that remembers the exchanges since the last one, once there are `every` of them.

    In a session that has ended, all the rest is queued. The jobs of a persona run one at a time, in order.
    """

    type = "QueueRemembering"

    def apply(
        self,
        view: LogView,
        metadata: QueueRememberingMetadata,
        inputs: QueueRememberingInputs,
        context: StepContext,
    ) -> QueuedRemembering:
        session, added = view.sessions.lock(inputs.session_ref), inputs.appended
        waiting = session.unremembered_count + (added.added if added else 0)
        if not waiting or (added is None and session.ended_at is None):
            return QueuedRemembering(jobs=())
        # Messages that are not to be remembered are the last ones. What waits before them is queued now.
        last = session.log_length - (added.added if added and not inputs.wanted else 0)
        span = MessageRange(first=session.log_length - waiting + 1, last=last)
        heads = view.messages.heads(inputs.session_ref, span)
        is_over = session.ended_at is not None or not inputs.wanted
        spans = unremembered(
            [head for head in heads if not head.is_withdrawn],
            every=metadata.every,
            at_most=metadata.at_most,
            is_over=is_over,
        )
        jobs = queue_jobs(view, "remember", inputs.session_ref, spans, context.now, lane=session.persona_id)
        done = spans[-1].last if spans else span.first - 1
        view.sessions.set_unremembered(inputs.session_ref, 0 if is_over else last - done)
        context.note("jobs", jobs)
        return QueuedRemembering(jobs=jobs)


class ExchangesMetadata(Data):
    before: Annotated[int, Field(ge=0, le=MAX_MESSAGES)]
    """How many messages before the exchanges are loaded with them."""
    chars_per_message: Annotated[int, Field(ge=1)]


class LoadedExchanges(Data):
    session_ref: SessionRef
    persona_id: PersonaId
    exchanges: tuple[Exchange, ...]
    before: tuple[SpokenMessage, ...]
    timestamps: tuple[Timestamp, ...]
    """When each exchange ended."""
    message_ids: tuple[str | None, ...]
    """The last message of each exchange."""
    query: str
    """What was said, with the message before it, to find the facts that matter."""


class LoadExchanges(ReadStep[ExchangesMetadata, JobInputs, LoadedExchanges]):
    """Load the exchanges that a job remembers, and the messages before them. At most `charsPerMessage` each.

    StoreDamaged if one is missing, because the job would claim to remember it.
    """

    type = "LoadExchanges"
    stages = CONTEXT_SELECT

    def read(
        self, view: LogView, metadata: ExchangesMetadata, inputs: JobInputs, context: StepContext
    ) -> LoadedExchanges:
        job, chars = inputs.job, metadata.chars_per_message
        session = view.sessions.get(job.subject)
        messages = view.messages.between(job.subject, MessageRange(first=job.first_seq, last=job.last_seq))
        if session is None or session.persona_id is None or len(messages) != job.last_seq - job.first_seq + 1:
            raise StoreDamaged(f"messages of job {job.id} are missing; restore a backup")
        own = [_spoken(message, chars) for message in messages if message.withdrawn_at is None]
        before = view.messages.window(job.subject, metadata.before, before=job.first_seq)
        ends = exchange_ends([message.role for message in own], is_over=True)
        exchanges = tuple(
            Exchange(messages=tuple(own[begin:end])) for begin, end in zip((0, *ends), ends, strict=False)
        )
        context.note("exchanges", len(exchanges))
        return LoadedExchanges(
            session_ref=job.subject,
            persona_id=session.persona_id,
            exchanges=exchanges,
            before=tuple(_spoken(message, chars) for message in before),
            timestamps=tuple(exchange.messages[-1].at for exchange in exchanges),
            message_ids=tuple(exchange.messages[-1].id for exchange in exchanges),
            query="\n".join(each.content for each in (*before[-1:], *messages)),
        )


class DescribeInputs(Data):
    session_ref: SessionRef
    exchanges: tuple[Exchange, ...]
    items: tuple[TurnNote, ...]
    """The note of each exchange, with its keywords."""
    observations: tuple[Observation, ...] = ()


class DescribeMessages(WriteStep[NoData, DescribeInputs, None]):
    """Index messages also by what was understood of them: the keywords of their exchange, and the keys and
    values of the observations that they state."""

    type = "DescribeMessages"
    input_sources = {  # noqa: RUF012
        "session_ref": frozenset({"AppendTurn", "LoadExchanges"}),
        "items": frozenset({"SummarizeMemory"}),
        "observations": frozenset({"GroundFacts"}),
    }

    def apply(self, view: LogView, metadata: NoData, inputs: DescribeInputs, context: StepContext) -> None:
        labels = labels_of(inputs.exchanges, inputs.items, inputs.observations)
        context.note("described", len(labels))
        if labels:
            view.messages.describe(inputs.session_ref, labels)


def _spoken(message: ChatMessage, chars: int) -> SpokenMessage:
    return SpokenMessage(id=message.id, role=message.role, text=message.content[:chars], at=message.timestamp)


STEPS: tuple[type[AnyStep], ...] = (QueueRemembering, LoadExchanges, DescribeMessages)
