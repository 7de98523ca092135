"""The facade of sessions: `user.sessions`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from pydantic import TypeAdapter

from gieok.adapters.sql.scope import SqlView
from gieok.app.background.jobs import LEASE, Jobs, Remembering, run_job
from gieok.app.cycles import Cycles, output_of, run_idempotent, validated
from gieok.app.session_log import SessionLog
from gieok.app.session_plans import Role, named_plans, plan_for
from gieok.engine import CycleResult, ExecutionPlan, Step
from gieok.errors import Conflict, NotFound, PlanHashMismatch, SummaryFailed
from gieok.memory.canon.deletion import DeleteFacts, WithdrawFacts
from gieok.memory.companion.records import Notice
from gieok.memory.companion.steps.deletion import DeleteMemories, WithdrawMemories
from gieok.memory.companion.steps.memories import TakeNotices
from gieok.memory.companion.store import CompanionStore
from gieok.memory.fields import AccountPlan
from gieok.memory.jobs.records import ClaimedJob, Job
from gieok.memory.jobs.store import JobStore
from gieok.memory.requests import RequestKey
from gieok.memory.sessions.deletion import DeleteSession
from gieok.memory.sessions.records import (
    Appended,
    ChatMessage,
    PlanMove,
    Session,
    SessionStart,
    Withdrawal,
)
from gieok.memory.sessions.remembering import QueueRemembering
from gieok.memory.sessions.steps import (
    AppendMessages,
    EndSession,
    LoadSession,
    MoveSession,
    QueueSummary,
    StartSession,
)
from gieok.memory.sessions.window import LoadWindow
from gieok.memory.sessions.withdrawal import WithdrawTurn
from gieok.memory.turns.steps import DeleteTurnMemories, WithdrawTurnMemories

if TYPE_CHECKING:
    from gieok.app import Gieok

POLL_SECONDS = 0.1
LIGHT_CHARS = 100_000
"""Text of messages that is indexed fast enough to let other writers wait for it."""
_JOB_IDS = TypeAdapter(list[UUID])


@dataclass(frozen=True)
class SessionWindow:
    """A session and its window: the messages that a reply would be based on."""

    session: Session
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True)
class SavedMessages:
    """The result of saving messages: the turn of the last of them, and the job that remembers them."""

    appended: Appended
    turn_id: str | None
    """The id of the last message of the user among them."""
    remembering: Remembering | None
    summary_jobs: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class Summaries:
    """The summary jobs of a session, queued now or before, in the order of their messages."""

    jobs: tuple[Job, ...]
    notices: tuple[Notice, ...] = ()
    """Notices for the user, if this call has waited. They are not repeated by a later turn."""
    is_excerpt: bool = False
    """Whether the model was unavailable, so that an excerpt replaces the summary for now."""

    @property
    def memory_id(self) -> UUID | None:
        """The memory of the newest messages. None if there is none yet."""
        return self.jobs[-1].memory_id if self.jobs else None


@dataclass(frozen=True)
class DeletedSession:
    """What was deleted with a session, as counts."""

    messages: int
    turn_memories: int
    memories: int
    facts: int


class Sessions(SessionLog):
    """One owner's sessions."""

    def __init__(self, gieok: Gieok, cycles: Cycles) -> None:
        self._gieok = gieok
        self._cycles = cycles
        super().__init__(cycles.scope)
        self._jobs = Jobs(gieok, cycles.scope)

    async def start(
        self,
        persona_id: str,
        *,
        plan: str | ExecutionPlan,
        account_plan: AccountPlan | None = None,
        session_ref: str | None = None,
        once: RequestKey | None = None,
    ) -> Session:
        """Start a session with a persona under this plan.

        Raises NotFound for an unknown persona, Conflict if the ref is taken. `once` is an idempotency key, as
        in all calls that take one: a repeated request returns the same result, and nothing is done again.
        """
        checked = self._gieok.check(plan)
        start = validated(
            SessionStart,
            session_ref=session_ref if session_ref is not None else str(uuid4()),
            persona_id=persona_id,
            account_plan=account_plan or self._cycles.account_plan,
            plan_hash=checked.plan.hash,
            plans=named_plans(checked),
        )
        request = {"personaId": start.persona_id, "start": start}
        started = await self._cycles.output_once(once, "start_session", StartSession, request)
        return started.session

    async def get(self, session_ref: str) -> SessionWindow:
        """The session with its window, which is empty once the session has ended and is summarised."""
        result = await self._cycles.run("load_session", {"sessionRef": session_ref})
        return SessionWindow(output_of(result, LoadSession).session, output_of(result, LoadWindow).messages)

    async def resume(self, session_ref: str, plan: str | ExecutionPlan) -> Session:
        """The session, if `plan` is the plan that it last ran. Raises PlanHashMismatch otherwise."""
        session = await self._session(session_ref)
        actual = self._gieok.check(plan).plan.hash
        if session.last_execution_plan_hash != actual:
            raise PlanHashMismatch(session.last_execution_plan_hash, actual)
        return session

    async def move(
        self, session_ref: str, plan: str | ExecutionPlan, *, once: RequestKey | None = None
    ) -> PlanMove:
        """Move a session to another plan. The move is recorded in the audit trail."""
        checked = self._gieok.check(plan)
        request = {"sessionRef": session_ref, "toHash": checked.plan.hash, "plans": named_plans(checked)}
        name = await self._plan(session_ref, "move")
        moved = await self._cycles.output_once(once, name, MoveSession, request, operation="move")
        return moved.move

    async def moves(self, session_ref: str) -> Sequence[PlanMove]:
        """The moves of a session between plans, oldest first."""
        return await self._scope.read(lambda view: view.sessions.moves(session_ref))

    async def delete(
        self, session_ref: str, *, cascade: bool = False, once: RequestKey | None = None
    ) -> DeletedSession:
        """Delete a session with its messages and turn memories, for good. Raises NotFound.

        Memories and facts stay. With `cascade`, memories of the session are deleted too, and facts whose
        current version comes from it, with their history.
        """
        plan = "delete_session_with_memories" if cascade else "delete_session"
        lock = self._gieok.session_locks.of(self._scope.owner, session_ref)
        request = {"sessionRef": session_ref}
        return await self._cycles.answer_once(once, plan, request, _deleted, DeletedSession, lock=lock)

    async def withdraw(
        self, session_ref: str, turn_id: str | None = None, *, once: RequestKey | None = None
    ) -> Withdrawal:
        """Withdraw a turn and all later ones; without `turn_id` the last turn. Raises NotFound.

        `turn_id` is the id of any message of the turn. The messages stay in the log, marked. Facts that they
        changed are changed back by new versions; turn memories and summaries of them are deleted, and a
        summary that covers other messages too is made again. Withdrawing a turn again changes nothing. An
        ended session stays ended.
        """
        plan = await self._plan(session_ref, "withdraw")
        lock = self._gieok.session_locks.of(self._scope.owner, session_ref)
        request = {"sessionRef": session_ref, "turnId": turn_id}
        done = await self._cycles.answer_once(
            once, plan, request, withdrawal_of, Withdrawal, lock=lock, operation="withdraw"
        )
        self._gieok.job_queued.set()
        return done

    async def save_messages(
        self, session_ref: str, messages: Sequence[ChatMessage], *, remember: bool = True
    ) -> Appended:
        """Save messages without a reply. Durable when it returns; idempotent by message id.

        A job remembers complete exchanges, unless `remember` is false. Raises Conflict for a stored id with
        another content, SessionEnded for a session that has ended.
        """
        return (await self.save(session_ref, messages, remember=remember)).appended

    async def save(
        self,
        session_ref: str,
        messages: Sequence[ChatMessage],
        *,
        remember: bool = True,
        wait_memory: bool = False,
        once: RequestKey | None = None,
    ) -> SavedMessages:
        """As `save_messages`, with the job that remembers them; `wait_memory` waits for it."""
        saved = await self._save(session_ref, messages, remember, once)
        if saved.remembering is None:
            return saved
        self._gieok.job_queued.set()
        if not wait_memory:
            return saved
        try:
            return replace(saved, remembering=await self._jobs.wait(saved.remembering.job_id))
        except NotFound:  # of a repeated request, and deleted since
            return saved

    async def _save(
        self, session_ref: str, messages: Sequence[ChatMessage], remember: bool, once: RequestKey | None
    ) -> SavedMessages:
        plan = await self._plan(session_ref, "save_messages")
        said = [message.id for message in messages if message.role == "user"]

        def saved(result: CycleResult) -> SavedMessages:
            queued = result.output_of(QueueRemembering)
            jobs = queued.jobs if queued else ()
            return SavedMessages(
                output_of(result, AppendMessages).appended,
                said[-1] if said else None,
                Remembering(jobs[-1], "queued") if jobs else None,
                _queued(result),
            )

        lock = self._gieok.session_locks.of(self._scope.owner, session_ref)
        request = {"sessionRef": session_ref, "messages": tuple(messages), "remember": remember}
        heavy = sum(len(message.content) for message in messages) > LIGHT_CHARS
        return await self._cycles.answer_once(
            once, plan, request, saved, SavedMessages, lock=lock, operation="save_messages", heavy=heavy
        )

    async def close(
        self, session_ref: str, *, wait: bool = False, once: RequestKey | None = None
    ) -> Summaries:
        """End a session by the close plan that its chat plan names, which may queue summaries. Idempotent.

        With `wait` it returns when they are done, and raises SummaryFailed if the model could not summarise.
        A close plan without QueueSummary makes no job. A repeated `once` returns the same jobs, without
        notices.
        """
        plan = await self._plan(session_ref, "close")

        async def close(request: RequestKey | None) -> Sequence[UUID]:
            async with self._gieok.session_locks.of(self._scope.owner, session_ref):
                return await self._queue_summaries(plan, session_ref, request, needs=EndSession)

        job_ids = await run_idempotent(self._cycles, once, "close", close, _replay_jobs)
        self._gieok.job_queued.set()
        return await self._summaries(session_ref, job_ids, wait=wait)

    async def summarize(self, session_ref: str, *, wait: bool = False) -> Summaries:
        """Queue summaries of all remaining messages without ending the session. `wait` as in `close`."""
        plan = await self._plan(session_ref, "request_summary")
        job_ids = await self._queue_summaries(plan, session_ref, None, needs=QueueSummary)
        return await self._summaries(session_ref, job_ids, wait=wait)

    async def summarize_messages(
        self,
        session_ref: str,
        persona_id: str,
        messages: Sequence[ChatMessage],
        *,
        plan: str | ExecutionPlan,
        account_plan: AccountPlan | None = None,
        once: RequestKey | None = None,
    ) -> Summaries:
        """Save messages that the session does not have yet, and wait until all messages are summarised.

        A session that does not exist is started under this plan. Raises NotFound if it does not exist and
        there are no messages, Conflict if it is with another persona.
        """

        async def request_summary(request: RequestKey | None) -> Sequence[UUID]:
            session = await self._scope.read(lambda view: view.sessions.get(session_ref))
            if session is None and not messages:
                raise NotFound("no such session")
            if session is None:
                await self.start(persona_id, plan=plan, account_plan=account_plan, session_ref=session_ref)
            elif session.persona_id != persona_id:
                raise Conflict("this session is with another persona; summarise it with its own")
            queued: Sequence[UUID] = ()
            if messages:
                part = once.part("messages") if once else None
                queued = (await self._save(session_ref, messages, True, once=part)).summary_jobs
            name = await self._plan(session_ref, "request_summary")
            return await self._queue_summaries(name, session_ref, request, needs=QueueSummary, queued=queued)

        job_ids = await run_idempotent(self._cycles, once, "summarize", request_summary, _replay_jobs)
        return await self._summaries(session_ref, job_ids, wait=True)

    async def _queue_summaries(
        self,
        plan: str,
        session_ref: str,
        once: RequestKey | None,
        *,
        needs: type[Step[Any, Any, Any]],
        queued: Sequence[UUID] = (),
    ) -> Sequence[UUID]:
        """Run a plan with this step that may queue summaries. Returns the ids of those, of unfinished ones
        and of `queued`."""
        job_ids: list[UUID] = []

        def save(view: SqlView, result: CycleResult) -> None:
            output_of(result, needs)
            if result.output_of(QueueSummary) is not None:
                job_ids[:] = _jobs(view.jobs, session_ref, (*queued, *_queued(result)))
            if once is not None:
                self._cycles.save_result(view, once, _JOB_IDS.dump_json(job_ids).decode())

        await self._cycles.run(plan, {"sessionRef": session_ref}, after=save)
        return job_ids

    async def _plan(self, session_ref: str, role: Role) -> str:
        """The plan that serves the session in this role. Raises NotFound if there is no such session."""
        return plan_for(self._gieok.engine.registry, await self._session(session_ref), role)

    async def _summaries(self, session_ref: str, job_ids: Sequence[UUID], *, wait: bool) -> Summaries:
        found = await self._scope.read(lambda view: [view.jobs.get(job_id) for job_id in job_ids])
        jobs = [job for job in found if job is not None]
        if not wait or not jobs:
            return Summaries(tuple(jobs))
        session = await self._session(session_ref)
        if session.persona_id is not None:
            await self._jobs.catch_up(session.persona_id)
        finished = [await self._wait_for(job.id) for job in jobs]
        memory_ids = [job.memory_id for job in finished if job.memory_id is not None]
        is_excerpt = await self._scope.read(lambda view: _has_excerpt(view.companion, memory_ids))
        return Summaries(tuple(finished), await self._notices(session_ref), is_excerpt)

    async def _notices(self, session_ref: str) -> tuple[Notice, ...]:
        """Take the waiting notices about the persona of a session. The caller shows them to the user."""
        session = await self._scope.read(lambda view: view.sessions.get(session_ref))
        if session is None or session.persona_id is None:
            return ()
        request = {"personaId": session.persona_id}
        return (await self._cycles.output("take_notices", TakeNotices, request)).notices

    async def _wait_for(self, job_id: UUID) -> Job:
        """Run the job in this process, or wait for the worker that has claimed it."""
        while True:
            now = self._gieok.engine.clock()
            claimed = await self._scope.write(lambda view, now=now: view.jobs.claim(job_id, now, now + LEASE))
            if claimed is not None:
                await run_job(self._gieok, ClaimedJob(self._scope.owner, claimed))
            job = await self._jobs.get(job_id)
            if job.memory_id is not None or job.status == "done":
                return job
            is_postponed = job.status == "queued" and job.due_at is not None and job.due_at > now
            if job.status == "failed" or is_postponed or claimed is not None:
                raise SummaryFailed(f"job {job_id} did not summarise its messages ({job.error}); try again")
            await asyncio.sleep(POLL_SECONDS)


async def _replay_jobs(stored: str) -> Sequence[UUID]:
    return _JOB_IDS.validate_json(stored)


def _deleted(result: CycleResult) -> DeletedSession:
    memories, facts = result.output_of(DeleteMemories), result.output_of(DeleteFacts)
    return DeletedSession(
        messages=output_of(result, DeleteSession).messages,
        turn_memories=output_of(result, DeleteTurnMemories).deleted,
        memories=memories.deleted if memories else 0,
        facts=facts.deleted if facts else 0,
    )


def withdrawal_of(result: CycleResult) -> Withdrawal:
    """What a cycle has withdrawn."""
    turns, memories = result.output_of(WithdrawTurnMemories), result.output_of(WithdrawMemories)
    facts = result.output_of(WithdrawFacts)
    return Withdrawal(
        messages=output_of(result, WithdrawTurn).messages,
        facts=len(facts.changes) if facts else 0,
        memories=(turns.deleted if turns else 0) + (len(memories.deleted) if memories else 0),
    )


def _queued(result: CycleResult) -> tuple[UUID, ...]:
    queued = result.output_of(QueueSummary)
    return queued.jobs if queued else ()


def _jobs(store: JobStore, session_ref: str, queued: Sequence[UUID]) -> list[UUID]:
    """The ids of the unfinished jobs, and those queued just now, which a worker may have finished already."""
    waiting = store.unfinished_summaries(session_ref)
    waiting_ids = {job.id for job in waiting}
    done = [job for each in queued if each not in waiting_ids and (job := store.get(each)) is not None]
    return [job.id for job in sorted((*waiting, *done), key=lambda job: job.first_seq)]


def _has_excerpt(store: CompanionStore, memory_ids: Sequence[UUID]) -> bool:
    memories = (store.get(memory_id) for memory_id in memory_ids)
    return any(memory is not None and memory.origin == "excerpt" for memory in memories)
