"""The facade of conversation: what interfaces call as `user.chat`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from gieok.adapters.sql.scope import OwnerScope
from gieok.engine import CycleRecord, CycleResult, ExecutionPlan, StepEvent
from gieok.errors import Conflict, InputRefused, NotFound, StepFailed
from gieok.memory.canon.records import Fact, FactChange
from gieok.memory.canon.steps_turn import LoadState, SaveFacts
from gieok.memory.companion.records import AccountPlan, MemoryHit
from gieok.memory.companion.steps_reading import RecallMemories
from gieok.memory.conversation.records import Message, Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.sessions.steps_ending import QueueSummary
from gieok.memory.turns.records import RecalledMemory
from gieok.memory.turns.steps import RetrieveMemory
from gieok.refs import check_ref

if TYPE_CHECKING:
    from gieok.app import Gieok

CHAT_PLAN = "chat_turn"
MAX_MESSAGE_CHARS = 20_000
Listener = Callable[[StepEvent], None]
Run = Callable[[str | ExecutionPlan, Mapping[str, Any], Listener | None], Awaitable[CycleResult]]


@dataclass(frozen=True)
class Usage:
    """What the model counted."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class ChatTurn:
    """What one message came to. What its plan has no step for is empty."""

    session_ref: str
    reply: str
    recalled: tuple[MemoryHit, ...]
    """From other sessions with this persona, each with its reasons."""
    retrieved: tuple[RecalledMemory, ...]
    """From this session."""
    state: tuple[Fact, ...]
    """The current state as the model was told it, before this turn changed it."""
    changes: tuple[FactChange, ...]
    """What this turn changed."""
    summary_jobs: tuple[UUID, ...]
    """The jobs that will summarise this session, where it has become long enough."""
    prompt: Prompt
    usage: Usage
    plan_hash: str
    record: CycleRecord


class Chat:
    """One owner's conversations."""

    def __init__(self, gieok: Gieok, scope: OwnerScope, run: Run) -> None:
        self._gieok = gieok
        self._scope = scope
        self._run_plan = run

    async def send(
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        recent_messages: Sequence[Message] = (),
        account_plan: AccountPlan = "free",
        plan: str | ExecutionPlan = CHAT_PLAN,
        listen: Listener | None = None,
    ) -> ChatTurn:
        """Say something to a persona, in a new session or in a known one. Whole, or nothing of it is stored.

        `recent_messages` come from a client that keeps its own window. Of two sends at once to one session
        the second waits; another process gets a Conflict. NotFound for a persona that is not there,
        SessionEnded for a session that is over, PlanHashMismatch where it ran another plan.
        """
        session = check_ref(session_ref, "sessionRef") if session_ref is not None else str(uuid4())
        check_message(message)
        request = {
            "sessionRef": session,
            "personaId": check_ref(persona_id, "personaId"),
            "accountPlan": account_plan,
            "message": message,
            "recentMessages": tuple(recent_messages),
        }
        async with self._gieok.session_locks.of(self._scope.owner, session):
            return _chat_turn(session, await self._run(plan, request, listen))

    async def _run(
        self, plan: str | ExecutionPlan, request: Mapping[str, Any], listen: Listener | None
    ) -> CycleResult:
        try:
            return await self._run_plan(plan, request, listen)
        except StepFailed as failed:
            if isinstance(failed.cause, InputRefused | NotFound | Conflict):
                raise failed.cause from failed
            raise


def check_message(message: str) -> None:
    """Refuse a message that cannot be meant."""
    if not message.strip():
        raise InputRefused("must not be empty", at="message")
    if len(message) > MAX_MESSAGE_CHARS:
        raise InputRefused(f"may have at most {MAX_MESSAGE_CHARS} characters", at="message")


def _chat_turn(session_ref: str, result: CycleResult) -> ChatTurn:
    answer, assembled = result.output_of(LLMCall), result.output_of(PromptAssemble)
    if answer is None or assembled is None:
        raise InputRefused("the plan has no steps PromptAssemble and LLMCall, which a chat needs", at="plan")
    recalled, retrieved = result.output_of(RecallMemories), result.output_of(RetrieveMemory)
    state = result.output_of(LoadState)
    return ChatTurn(
        session_ref=session_ref,
        reply=answer.text,
        recalled=recalled.hits if recalled else (),
        retrieved=retrieved.memories if retrieved else (),
        state=state.facts if state else (),
        changes=result.committed_by(SaveFacts) or (),
        summary_jobs=result.committed_by(QueueSummary) or (),
        prompt=assembled.prompt,
        usage=Usage(answer.input_tokens, answer.output_tokens),
        plan_hash=result.record.plan_hash,
        record=result.record,
    )
