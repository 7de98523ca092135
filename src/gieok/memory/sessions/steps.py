"""The steps of sessions: plan check, message log, start and end, and the queue of summaries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import AfterValidator, Field

from gieok.engine import AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import NotFound, StoreDamaged
from gieok.memory.fields import AccountPlan, PersonaId, SessionRef, Timestamp
from gieok.memory.jobs.records import Job, JobDraft, JobKind, JobOutcome
from gieok.memory.sessions.deletion import DeleteSession, DeleteSessions
from gieok.memory.sessions.records import (
    MAX_MESSAGES,
    Appended,
    ChatMessage,
    MessageId,
    MessageRange,
    PlanHash,
    PlanMove,
    Role,
    Session,
    SessionPlans,
    SessionStart,
)
from gieok.memory.sessions.rules import (
    check_active,
    check_batch,
    check_resumable,
    inactive_from,
    unclaimed,
    watch_id,
)
from gieok.memory.sessions.store import AccountServices, LogView, MoveView, SessionView

CONTEXT_SELECT = frozenset({Stage.CONTEXT_SELECT})


class SessionInputs(Data):
    session_ref: SessionRef


class SessionOutput(Data):
    session_ref: SessionRef


# The plan that a session runs


class ResumeInputs(SessionInputs):
    persona_id: PersonaId | None = None


class RememberInputs(ResumeInputs):
    account_plan: AccountPlan | None = None


class Resumed(Data):
    known: bool
    account_plan: AccountPlan
    """The one that is given, else that of the session, else the default."""


class ResumeSession(ReadStep[NoData, RememberInputs, Resumed]):
    """Refuse a session that has ended, or that last ran another plan or was with another persona."""

    type = "ResumeSession"
    stages = CONTEXT_SELECT

    def __init__(self, services: AccountServices) -> None:
        self._account_plan: AccountPlan = services.account_plan

    def read(
        self, view: SessionView, metadata: NoData, inputs: RememberInputs, context: StepContext
    ) -> Resumed:
        session = view.sessions.get(inputs.session_ref)
        if session is None:
            return Resumed(known=False, account_plan=inputs.account_plan or self._account_plan)
        check_resumable(session, context.plan_hash, inputs.persona_id)
        return Resumed(known=True, account_plan=inputs.account_plan or session.account_plan)


class PlanMetadata(Data):
    plans: SessionPlans


class RememberPlan(WriteStep[PlanMetadata, RememberInputs, SessionOutput]):
    """Record which plan the session ran, and when. A session that does not exist yet begins here.

    PlanHashMismatch if the session ran another plan. `plans` are the other plans that serve the session.
    """

    type = "RememberPlan"

    def __init__(self, services: AccountServices) -> None:
        self._account_plan: AccountPlan = services.account_plan

    def apply(
        self, view: SessionView, metadata: PlanMetadata, inputs: RememberInputs, context: StepContext
    ) -> SessionOutput:
        _record_plan(view, metadata, inputs, context, self._account_plan)
        return SessionOutput(session_ref=inputs.session_ref)


def _record_plan(
    view: SessionView, metadata: PlanMetadata, inputs: RememberInputs, context: StepContext, plan: AccountPlan
) -> None:
    view.sessions.record_plan(
        inputs.session_ref,
        context.plan_hash,
        context.now,
        plans=metadata.plans,
        persona_id=inputs.persona_id,
        account_plan=inputs.account_plan,
        default_account_plan=plan,
    )


class MoveInputs(SessionInputs):
    to_hash: PlanHash
    plans: SessionPlans | None = None
    """The plans that serve a session of the new plan."""


class Moved(Data):
    move: PlanMove


class MoveSession(WriteStep[NoData, MoveInputs, Moved]):
    """Move a session to another plan. The session's history and the audit trail record the move.

    No other step changes the plan of a session.
    """

    type = "MoveSession"

    def apply(self, view: MoveView, metadata: NoData, inputs: MoveInputs, context: StepContext) -> Moved:
        move = view.sessions.move(inputs.session_ref, inputs.to_hash, inputs.plans, context.now)
        view.audit.add("session.moved", inputs.session_ref, context.now)
        return Moved(move=move)


# The message log


class LoadedSession(Data):
    session: Session


class LoadSession(ReadStep[NoData, SessionInputs, LoadedSession]):
    """Load a session. NotFound if there is none."""

    type = "LoadSession"
    stages = CONTEXT_SELECT

    def read(
        self, view: SessionView, metadata: NoData, inputs: SessionInputs, context: StepContext
    ) -> LoadedSession:
        session = view.sessions.get(inputs.session_ref)
        if session is None:
            raise NotFound("no such session")
        return LoadedSession(session=session)


class AppendInputs(SessionInputs):
    messages: Annotated[tuple[ChatMessage, ...], AfterValidator(check_batch)]


class AppendOutput(SessionOutput):
    appended: Appended


class AppendMessages(WriteStep[NoData, AppendInputs, AppendOutput]):
    """Append messages that a client sends, in their order. Idempotent by message id."""

    type = "AppendMessages"
    input_sources = {"messages": frozenset({"request"})}  # noqa: RUF012

    def apply(
        self, view: LogView, metadata: NoData, inputs: AppendInputs, context: StepContext
    ) -> AppendOutput:
        appended = view.messages.append(inputs.session_ref, inputs.messages, context.now, None)
        return AppendOutput(session_ref=inputs.session_ref, appended=appended)


class TurnInputs(RememberInputs):
    message_id: MessageId | None = None
    reply_id: MessageId | None = None
    """Ids of the two messages; None for new ones."""
    message: str
    reply: str
    revision: int
    """The revision when the window was read. Another one by now would mean a reply to an old state."""


class AppendTurn(WriteStep[PlanMetadata, TurnInputs, AppendOutput]):
    """Append the user's message and the reply, and record the plan. A new session begins here.

    PlanHashMismatch if the session ran another plan, Conflict if it has got other messages meanwhile: no plan
    can add a turn to the session of another one. `plans` are the other plans that serve the session. The
    user's message comes from the request, so that no text of a model is taken for the user's words.
    """

    type = "AppendTurn"
    input_sources = {"message": frozenset({"request"})}  # noqa: RUF012

    def __init__(self, services: AccountServices) -> None:
        self._account_plan: AccountPlan = services.account_plan

    def apply(
        self, view: LogView, metadata: PlanMetadata, inputs: TurnInputs, context: StepContext
    ) -> AppendOutput:
        _record_plan(view, metadata, inputs, context, self._account_plan)
        messages = (
            _message(inputs.message_id, "user", inputs.message, context.now),
            _message(inputs.reply_id, "assistant", inputs.reply, context.now),
        )
        appended = view.messages.append(inputs.session_ref, messages, context.now, inputs.revision)
        return AppendOutput(session_ref=inputs.session_ref, appended=appended)


def _message(message_id: str | None, role: Role, content: str, at: datetime) -> ChatMessage:
    return ChatMessage(id=message_id or str(uuid4()), role=role, content=content, timestamp=at)


# Start and end


class StartInputs(Data):
    start: SessionStart


class StartOutput(SessionOutput):
    session: Session


class StartSession(WriteStep[NoData, StartInputs, StartOutput]):
    """Start a session. Conflict if its ref is taken."""

    type = "StartSession"

    def apply(
        self, view: SessionView, metadata: NoData, inputs: StartInputs, context: StepContext
    ) -> StartOutput:
        session = view.sessions.start(inputs.start, context.now)
        return StartOutput(session_ref=session.session_ref, session=session)


class WatchSession(WriteStep[NoData, SessionInputs, None]):
    """Queue the job that ends the session after inactivity. One job per session is enough.

    The job is due at once; its plan says how long a session may be inactive.
    """

    type = "WatchSession"

    def apply(self, view: LogView, metadata: NoData, inputs: SessionInputs, context: StepContext) -> None:
        draft = JobDraft(
            id=watch_id(inputs.session_ref),
            kind="watch",
            subject=inputs.session_ref,
            due_at=context.now,
        )
        view.jobs.add(draft, context.now)


class EndSession(WriteStep[NoData, SessionInputs, SessionOutput]):
    """End a session. Does nothing if it has ended."""

    type = "EndSession"

    def apply(
        self, view: SessionView, metadata: NoData, inputs: SessionInputs, context: StepContext
    ) -> SessionOutput:
        view.sessions.end(inputs.session_ref, context.now)
        return SessionOutput(session_ref=inputs.session_ref)


class InactivityMetadata(Data):
    inactivity_minutes: Annotated[int, Field(ge=1, le=60 * 24 * 365)]


class RequireActive(ReadStep[InactivityMetadata, SessionInputs, None]):
    """Refuse a session that was inactive for too long. It counts as ended even while no worker runs."""

    type = "RequireActive"
    stages = CONTEXT_SELECT

    def read(
        self, view: SessionView, metadata: InactivityMetadata, inputs: SessionInputs, context: StepContext
    ) -> None:
        session = view.sessions.get(inputs.session_ref)
        if session is not None:
            check_active(session, metadata.inactivity_minutes, context.now)


class JobInputs(Data):
    job: Job


class EndIfInactive(WriteStep[InactivityMetadata, JobInputs, SessionOutput]):
    """End a session that was inactive for long enough, or schedule the next check.

    The check runs inside the commit, so a message that arrives at the last moment keeps the session open.
    """

    type = "EndIfInactive"

    def apply(
        self, view: LogView, metadata: InactivityMetadata, inputs: JobInputs, context: StepContext
    ) -> SessionOutput:
        job = inputs.job
        session = view.sessions.lock(job.subject)
        over_at = inactive_from(session, metadata.inactivity_minutes)
        if session.ended_at is None and over_at > context.now:
            view.jobs.settle(job, JobOutcome(status="queued", due_at=over_at))
        else:
            view.sessions.end(job.subject, context.now)
            view.jobs.settle(job, JobOutcome(status="done"))
        return SessionOutput(session_ref=job.subject)


# Summaries


class QueueMetadata(Data):
    summarize_after: Annotated[int, Field(ge=1)]
    at_most: Annotated[int, Field(ge=1, le=MAX_MESSAGES)]


class QueuedSummaries(Data):
    jobs: tuple[UUID, ...]


class QueueSummary(WriteStep[QueueMetadata, SessionInputs, QueuedSummaries]):
    """Queue summaries of the messages that have none, once there are `summarizeAfter` of them.

    In a session that has ended, all remaining messages are queued. The jobs and the claim on the messages are
    one commit, so each message is summarised once. No summary has more than `atMost` messages.
    """

    type = "QueueSummary"

    def apply(
        self, view: LogView, metadata: QueueMetadata, inputs: SessionInputs, context: StepContext
    ) -> QueuedSummaries:
        session = view.sessions.lock(inputs.session_ref)
        waiting = session.log_length - session.claimed_count
        if waiting < (1 if session.ended_at is not None else metadata.summarize_after):
            return QueuedSummaries(jobs=())
        heads = view.messages.heads(
            inputs.session_ref, MessageRange(first=session.claimed_count + 1, last=session.log_length)
        )
        due = unclaimed(
            session,
            [head for head in heads if not head.is_withdrawn],
            summarize_after=metadata.summarize_after,
            at_most=metadata.at_most,
        )
        jobs = queue_jobs(view, "summary", inputs.session_ref, due, context.now)
        if due:
            view.sessions.mark_queued(inputs.session_ref, due[-1].last)
        context.note("jobs", jobs)
        return QueuedSummaries(jobs=jobs)


def queue_jobs(
    view: LogView,
    kind: JobKind,
    session_ref: str,
    spans: Sequence[MessageRange],
    at: datetime,
    lane: str | None = None,
) -> tuple[UUID, ...]:
    """Queue a job for each of these ranges of a session's messages, due at once. Returns their ids."""
    drafts = [
        JobDraft(
            id=uuid4(),
            kind=kind,
            subject=session_ref,
            first_seq=span.first,
            last_seq=span.last,
            lane=lane,
            due_at=at,
        )
        for span in spans
    ]
    for draft in drafts:
        view.jobs.add(draft, at)
    return tuple(draft.id for draft in drafts)


class ConversationMetadata(Data):
    chars_per_message: Annotated[int, Field(ge=1)]


class Conversation(Data):
    """The messages of a summary job, and the fields that their memory needs."""

    session_ref: SessionRef
    persona_id: str
    account_plan: AccountPlan
    messages: tuple[ChatMessage, ...]
    occurred_at: Timestamp
    memory_id: UUID | None
    """The memory that an earlier attempt of the job made, to be replaced by a better one."""


class LoadConversation(ReadStep[ConversationMetadata, JobInputs, Conversation]):
    """Load the messages that a job summarises, at most `charsPerMessage` of each.

    StoreDamaged if one is missing, because the summary would claim to cover it.
    """

    type = "LoadConversation"
    stages = CONTEXT_SELECT

    def read(
        self, view: LogView, metadata: ConversationMetadata, inputs: JobInputs, context: StepContext
    ) -> Conversation:
        job = inputs.job
        span = MessageRange(first=job.first_seq, last=job.last_seq)
        session = view.sessions.get(job.subject)
        messages = view.messages.between(job.subject, span)
        live = [message for message in messages if message.withdrawn_at is None]
        context.note("messages", len(live))
        if session is None or session.persona_id is None or len(messages) != span.last - span.first + 1:
            raise StoreDamaged(f"messages of job {job.id} are missing; restore a backup")
        return Conversation(
            session_ref=job.subject,
            persona_id=session.persona_id,
            account_plan=session.account_plan,
            messages=tuple(
                message.model_copy(update={"content": message.content[: metadata.chars_per_message]})
                for message in live
            ),
            occurred_at=live[-1].timestamp,
            memory_id=job.memory_id,
        )


class CoverMessages(WriteStep[NoData, JobInputs, None]):
    """Record that a memory covers the messages of the job, once per job."""

    type = "CoverMessages"

    def apply(self, view: SessionView, metadata: NoData, inputs: JobInputs, context: StepContext) -> None:
        job = inputs.job
        view.sessions.lock(job.subject)  # before the locks of memories, as in a withdrawal
        if job.memory_id is None:
            view.sessions.mark_summarized(job.subject, job.last_seq - job.first_seq + 1)


STEPS: tuple[type[AnyStep], ...] = (
    ResumeSession,
    RememberPlan,
    MoveSession,
    LoadSession,
    AppendMessages,
    AppendTurn,
    StartSession,
    WatchSession,
    EndSession,
    RequireActive,
    EndIfInactive,
    QueueSummary,
    LoadConversation,
    CoverMessages,
    DeleteSession,
    DeleteSessions,
)
