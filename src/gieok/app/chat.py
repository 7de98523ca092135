"""The facade of conversation: what interfaces call as `user.chat`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from gieok.app.cycles import Cycles, Listener, output_of
from gieok.app.messages import check_message, check_recent
from gieok.app.sessions import SessionLocks
from gieok.engine import CycleRecord, CycleResult, ExecutionPlan
from gieok.memory.canon.records import Fact, FactChange
from gieok.memory.canon.steps_turn import LoadState, SaveFacts
from gieok.memory.companion.records import MemoryHit
from gieok.memory.companion.steps_reading import RecallMemories
from gieok.memory.conversation.records import Message, Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.fields import AccountPlan
from gieok.memory.sessions.steps_ending import QueueSummary
from gieok.memory.turns.records import RecalledMemory
from gieok.memory.turns.steps import RetrieveMemory
from gieok.refs import check_ref

CHAT_PLAN = "chat_turn"


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

    def __init__(self, cycles: Cycles, locks: SessionLocks) -> None:
        self._cycles = cycles
        self._locks = locks

    async def send(
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        recent_messages: Sequence[Message] = (),
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = CHAT_PLAN,
        listen: Listener | None = None,
    ) -> ChatTurn:
        """Say something to a persona, in a new session or in a known one. Whole, or nothing of it is stored.

        `account_plan` stays as it is known where it is not given, and is "free" in a new session.
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
            "recentMessages": check_recent(recent_messages),
        }
        async with self._locks.of(self._cycles.scope.owner, session):
            return _chat_turn(session, await self._cycles.run(plan, request, listen))


def _chat_turn(session_ref: str, result: CycleResult) -> ChatTurn:
    answer, assembled = output_of(result, LLMCall), output_of(result, PromptAssemble)
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
