"""Withdrawing turns: their messages stay in the log, marked, and the jobs that work on them are cancelled.

Other rooms take back what they made of the turn, in the same commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from gieok.engine import AnyStep, Data, NoData, StepContext, WriteStep
from gieok.memory.fields import SessionRef
from gieok.memory.jobs.records import Job, JobOutcome
from gieok.memory.sessions.records import MessageHead, MessageId, MessageRange, Session
from gieok.memory.sessions.rules import turns_from
from gieok.memory.sessions.steps import SessionInputs
from gieok.memory.sessions.store import LogView

WITHDRAWN = "WITHDRAWN"
"""The error code of a job that was cancelled because its messages were withdrawn."""


class WithdrawInputs(SessionInputs):
    turn_id: MessageId | None = None
    """A message of the first turn to withdraw; None for the last turn."""


class WithdrawnTurns(Data):
    session_ref: SessionRef
    persona_id: str | None
    messages: int
    """How many messages were withdrawn now."""
    message_ids: tuple[str, ...]
    """The messages of the withdrawn exchanges. Empty if the turn was withdrawn before."""
    job_ids: tuple[UUID, ...]
    """The jobs that have remembered or were to remember only these messages."""
    memory_ids: tuple[UUID, ...]
    """The memories whose summaries cover some of these messages."""


class WithdrawTurn(WriteStep[NoData, WithdrawInputs, WithdrawnTurns]):
    """Withdraw the turn that contains a message, and all later ones, also in a session that has ended.

    NotFound if the session has no such message, or none at all. Changes nothing if the turn was withdrawn
    before.
    """

    type = "WithdrawTurn"

    def apply(
        self, view: LogView, metadata: NoData, inputs: WithdrawInputs, context: StepContext
    ) -> WithdrawnTurns:
        session = view.sessions.lock(inputs.session_ref)
        heads = view.messages.heads(inputs.session_ref, MessageRange(first=1, last=session.log_length))
        exchange = turns_from(heads, inputs.turn_id)
        if not exchange:
            return _nothing(session)
        first = exchange[0].seq
        jobs = _cancel_remembering(view, session, first, context.now)
        count = view.messages.withdraw(inputs.session_ref, first, context.now)
        memories = _withdraw_from_summaries(view, session, heads, first, context.now)
        context.note("messages", count)
        return WithdrawnTurns(
            session_ref=inputs.session_ref,
            persona_id=session.persona_id,
            messages=count,
            message_ids=tuple(head.id for head in exchange),
            job_ids=tuple(jobs),
            memory_ids=tuple(memories),
        )


def _nothing(session: Session) -> WithdrawnTurns:
    return WithdrawnTurns(
        session_ref=session.session_ref,
        persona_id=session.persona_id,
        messages=0,
        message_ids=(),
        job_ids=(),
        memory_ids=(),
    )


def _cancel_remembering(view: LogView, session: Session, first: int, at: datetime) -> list[UUID]:
    """Cancel the jobs that are to remember messages from number `first` on, or leave them the earlier ones.

    A worker that runs one now can no longer store its result. Returns the jobs of these messages only.
    """
    withdrawn: list[UUID] = []
    for job in view.jobs.of_messages("remember", session.session_ref, first):
        if job.first_seq >= first:
            withdrawn.append(job.id)
        if job.status == "done":
            continue
        if job.first_seq >= first:
            view.jobs.override(job, JobOutcome(status="done", error=WITHDRAWN))
        else:
            view.jobs.override(job, _again(job, at), last_seq=first - 1)
    return withdrawn


def _withdraw_from_summaries(
    view: LogView, session: Session, heads: Sequence[MessageHead], first: int, at: datetime
) -> list[UUID]:
    """Cancel summaries that have no other messages, and restart those that have. Returns their memories."""
    live = [head.seq for head in heads if not head.is_withdrawn and head.seq < first]
    memories: list[UUID] = []
    for job in view.jobs.of_messages("summary", session.session_ref, first):
        if job.memory_id is not None:
            memories.append(job.memory_id)
        elif job.status != "done" and any(job.first_seq <= seq <= job.last_seq for seq in live):
            view.jobs.override(job, _again(job, at))
        elif job.status != "done":
            view.jobs.override(job, JobOutcome(status="done", error=WITHDRAWN))
            view.sessions.mark_summarized(session.session_ref, job.last_seq - job.first_seq + 1)
    if not any(seq > session.claimed_count for seq in live):  # nothing is left that waits for a summary
        view.sessions.mark_queued(session.session_ref, session.log_length)
        view.sessions.mark_summarized(session.session_ref, session.log_length - session.claimed_count)
    return memories


def _again(job: Job, at: datetime) -> JobOutcome:
    """Queue a job again, from the start. One that has failed waits until it is retried by hand."""
    if job.status == "failed":
        return JobOutcome(status="failed", error=job.error)
    return JobOutcome(status="queued", due_at=at)


class RedoInputs(SessionInputs):
    deleted: tuple[UUID, ...]
    """The memories that were deleted because their summaries covered withdrawn messages."""


class RedoSummaries(WriteStep[NoData, RedoInputs, None]):
    """Queue the summaries of deleted memories again, for the messages that are left of them."""

    type = "RedoSummaries"

    def apply(self, view: LogView, metadata: NoData, inputs: RedoInputs, context: StepContext) -> None:
        if not inputs.deleted:
            return
        for job in view.jobs.of_messages("summary", inputs.session_ref, 1):
            if job.memory_id not in inputs.deleted:
                continue
            span = MessageRange(first=job.first_seq, last=job.last_seq)
            if all(head.is_withdrawn for head in view.messages.heads(inputs.session_ref, span)):
                view.jobs.override(job, JobOutcome(status="done", error=WITHDRAWN))
            else:
                view.jobs.override(job, JobOutcome(status="queued", due_at=context.now))
                view.sessions.mark_summarized(inputs.session_ref, job.first_seq - job.last_seq - 1)


class UnindexInputs(SessionInputs):
    message_ids: tuple[str, ...]


class UnindexMessages(WriteStep[NoData, UnindexInputs, None]):
    """Remove messages from the search index, which this locks: it comes after the facts."""

    type = "UnindexMessages"

    def apply(self, view: LogView, metadata: NoData, inputs: UnindexInputs, context: StepContext) -> None:
        if inputs.message_ids:
            view.messages.unindex(inputs.session_ref, inputs.message_ids)


STEPS: tuple[type[AnyStep], ...] = (WithdrawTurn, RedoSummaries, UnindexMessages)
