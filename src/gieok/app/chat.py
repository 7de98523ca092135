"""The facade of conversations: `user.chat`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid4

from gieok.adapters.sql.scope import SqlView
from gieok.app.background.jobs import Jobs, Remembering
from gieok.app.cycles import Before, Cycles, Listener, output_of
from gieok.app.session_plans import CHAT_PLAN, inactivity_minutes
from gieok.engine import CheckedPlan, CycleRecord, CycleResult, ExecutionPlan
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.canon.records import Fact, FactChange
from gieok.memory.canon.remembering import GroundFacts
from gieok.memory.canon.steps import LoadState, SaveFacts
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.records import Memory, Notice
from gieok.memory.companion.steps.memories import TakeNotices
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.memory.companion.steps.summarize import KeepSummary
from gieok.memory.conversation.records import Message, Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.fields import MAX_MESSAGE_CHARS, AccountPlan, storable
from gieok.memory.observations import Refusal
from gieok.memory.sessions.records import Session
from gieok.memory.sessions.remembering import QueueRemembering
from gieok.memory.sessions.steps import QueueSummary
from gieok.memory.turns.records import RecalledMemory
from gieok.memory.turns.steps import RetrieveMemory
from gieok.memory.usage import CountUsage, ModelUsage
from gieok.plans import plan_name
from gieok.refs import check_ref

if TYPE_CHECKING:
    from gieok.app import Gieok


@dataclass(frozen=True)
class ChatTurn:
    """The result of one message. A field is empty if the plan has no step for it."""

    session_ref: str
    reply: str
    recalled: tuple[Hit, ...]
    """What was recalled of the conversations with this persona, each with its reasons."""
    retrieved: tuple[RecalledMemory, ...]
    """Turn memories of this session."""
    state: tuple[Fact, ...]
    """The state in the prompt, before this turn changed it."""
    turn_id: str
    """The id of the user's message, which identifies the turn."""
    remembering: Remembering | None
    """The job that remembers this turn. None if the plan's `every` is not reached yet, or it makes none."""
    changes: tuple[FactChange, ...]
    """The facts that this turn changed: with `wait_memory`, or if the plan remembers in its own cycle."""
    dropped: tuple[Refusal, ...]
    """What the model proposed and was refused, with the reason; as `changes`."""
    summary_jobs: tuple[UUID, ...]
    """The jobs that will summarise this session, if it has become long enough."""
    memory: Memory | None
    """The memory that the plan made in this turn. The shipped plans leave that to a job."""
    notices: tuple[Notice, ...]
    """Notices for the user about memories that were made in the background since the last turn."""
    prompt: Prompt
    usage: ModelUsage
    """All model calls that the plan counts; without CountUsage only the reply."""
    plan_hash: str
    record: CycleRecord


class Chat:
    """One owner's conversations."""

    def __init__(self, gieok: Gieok, cycles: Cycles) -> None:
        self._gieok = gieok
        self._cycles = cycles
        self._jobs = Jobs(gieok, cycles.scope)

    async def plan_of(self, session_ref: str) -> str:
        """The name of the plan to continue a session with: the shipped plan that it ran, or the chat plan.

        If that plan was changed since, continuing raises PlanHashMismatch. A custom plan must be passed
        again. Raises NotFound if there is no such session.
        """
        session = await self._cycles.scope.read(lambda view: view.sessions.get(session_ref))
        if session is None:
            raise NotFound("no such session")
        return plan_name(session.last_execution_plan_hash) or CHAT_PLAN

    async def open_session(self, persona_id: str, *, plan: str | ExecutionPlan = CHAT_PLAN) -> Session | None:
        """The session that a message without `session_ref` continues. None if it would start a new one.

        That is the session with this persona that was used last, runs this plan as it is now, and has neither
        ended nor been inactive for longer than the plan allows.
        """
        find = self._find_open(persona_id, self._gieok.check(plan))
        return await self._cycles.scope.read(find)

    async def send(  # noqa: PLR0913  options of a public call, all by keyword
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        new_session: bool = False,
        message_id: str | None = None,
        recent_messages: Sequence[Message] = (),
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = CHAT_PLAN,
        wait_memory: bool = False,
        listen: Listener | None = None,
    ) -> ChatTurn:
        """Send a message to a persona. All of the turn is stored, or nothing.

        Without `session_ref` the open session with this persona continues, see `open_session`, or one starts;
        `new_session` starts one in any case. A `session_ref` that does not exist yet starts with this turn.
        It returns when both messages are stored. What is to be remembered of them is a job that runs next;
        `wait_memory` waits for it and returns what it changed and refused.
        Without `account_plan` the session keeps its own, and a new one gets "free". `recent_messages` is the
        window of a client that keeps its own. Of two concurrent sends to one session, the second waits in the
        same process and raises Conflict in another one; the same holds for two that would each start one.
        Raises NotFound for an unknown persona, SessionEnded for an ended session, PlanHashMismatch if the
        session ran another plan.
        """
        if session_ref is not None and new_session:
            raise InputRefused("starts a session, so leave out the session's id", at="newSession")
        check_message(message)
        turn_id = check_ref(message_id, "messageId") if message_id is not None else str(uuid4())
        request = {
            "personaId": check_ref(persona_id, "personaId"),
            "accountPlan": account_plan,
            "messageId": turn_id,
            "replyId": str(uuid4()),
            "message": message,
            "recentMessages": check_recent(recent_messages),
        }
        if session_ref is not None or new_session:
            session = check_ref(session_ref, "sessionRef") if session_ref is not None else str(uuid4())
            result = await self._run(plan, session, request, listen)
        else:
            session, result = await self._run_in_open_session(plan, persona_id, request, listen)
        return await self._remembering(_chat_turn(session, turn_id, result), result, wait_memory)

    async def _remembering(self, turn: ChatTurn, result: CycleResult, wait_memory: bool) -> ChatTurn:
        """The turn with the job that remembers it, and with its result if the caller waits for that."""
        queued = result.output_of(QueueRemembering)
        if queued is None or not queued.jobs:
            return turn
        job_id = queued.jobs[-1]
        if not wait_memory:
            self._gieok.job_queued.set()
            return replace(turn, remembering=Remembering(job_id, "queued"))
        remembered = await self._jobs.wait(job_id)
        return replace(turn, remembering=remembered, changes=remembered.changes, dropped=remembered.dropped)

    async def _run_in_open_session(
        self,
        plan: str | ExecutionPlan,
        persona_id: str,
        request: Mapping[str, object],
        listen: Listener | None,
    ) -> tuple[str, CycleResult]:
        """Run the turn in the open session with the persona, or in a new one. Returns the session's ref.

        Conflict if another process has started a session with the persona meanwhile.
        """
        find = self._find_open(persona_id, self._gieok.check(plan))

        def check_none_open(view: SqlView) -> None:
            view.personas.lock(persona_id)
            if find(view) is not None:
                raise Conflict("a session with this persona was started meanwhile; send the message again")

        async with self._gieok.session_locks.of_persona(self._cycles.scope.owner, persona_id):
            found = await self._cycles.scope.read(find)
            if found is not None:
                return found.session_ref, await self._run(plan, found.session_ref, request, listen)
            started = str(uuid4())
            return started, await self._run(plan, started, request, listen, before=check_none_open)

    def _find_open(self, persona_id: str, checked: CheckedPlan) -> Callable[[SqlView], Session | None]:
        minutes = inactivity_minutes(checked)
        active_since = None if minutes is None else self._cycles.now - timedelta(minutes=minutes)
        return lambda view: view.sessions.find_open(persona_id, checked.plan.hash, active_since)

    async def _run(
        self,
        plan: str | ExecutionPlan,
        session_ref: str,
        request: Mapping[str, object],
        listen: Listener | None,
        before: Before | None = None,
    ) -> CycleResult:
        async with self._gieok.session_locks.of(self._cycles.scope.owner, session_ref):
            return await self._cycles.run(plan, {"sessionRef": session_ref, **request}, listen, before=before)


def check_message(message: object) -> None:
    """Refuse a message that is empty, too long, or cannot be stored."""
    if not isinstance(message, str):
        raise InputRefused("must be text", at="message")
    if not message.strip():
        raise InputRefused("must not be empty", at="message")
    if len(message) > MAX_MESSAGE_CHARS:
        raise InputRefused(f"may have at most {MAX_MESSAGE_CHARS} characters", at="message")
    try:
        storable(message)
    except ValueError as error:
        raise InputRefused(str(error), at="message") from None


def check_recent(messages: object) -> tuple[Message, ...]:
    """The recent messages of a client that keeps its own window, as a tuple. Refuse what is no list."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise InputRefused("must be a list of messages", at="recentMessages")
    return tuple(cast("Sequence[Message]", messages))


def _chat_turn(session_ref: str, turn_id: str, result: CycleResult) -> ChatTurn:
    answer, assembled = output_of(result, LLMCall), output_of(result, PromptAssemble)
    recalled, retrieved = result.output_of(RecallMemories), result.output_of(RetrieveMemory)
    state, saved = result.output_of(LoadState), result.output_of(SaveFacts)
    summary, queued = result.output_of(KeepSummary), result.output_of(QueueSummary)
    taken, counted = result.output_of(TakeNotices), result.output_of(CountUsage)
    grounded = result.output_of(GroundFacts)
    return ChatTurn(
        session_ref=session_ref,
        reply=answer.text,
        recalled=recalled.hits if recalled else (),
        retrieved=retrieved.memories if retrieved else (),
        state=state.facts if state else (),
        turn_id=turn_id,
        remembering=None,
        changes=saved.changes if saved else (),
        dropped=grounded.dropped if grounded else (),
        summary_jobs=queued.jobs if queued else (),
        memory=summary.kept.memory if summary and summary.kept else None,
        notices=taken.notices if taken else (),
        prompt=assembled.prompt,
        usage=counted.usage if counted else answer.usage,
        plan_hash=result.record.plan_hash,
        record=result.record,
    )
