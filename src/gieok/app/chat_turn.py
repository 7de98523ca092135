"""The result of one message: from the outputs of its plan, from a stored answer, or from the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from uuid import UUID

from pydantic import TypeAdapter

from gieok.adapters.sql.scope import SqlView
from gieok.app.background.jobs import Remembering
from gieok.app.cycles import Listener, output_of
from gieok.engine import CheckedPlan, CycleRecord, CycleResult, Data, Step, StepEvent
from gieok.engine.step import Outputs
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.canon.records import Fact, FactChange
from gieok.memory.canon.remembering import GroundFacts
from gieok.memory.canon.steps import LoadState, SaveFacts
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.recall.policy import Degraded
from gieok.memory.companion.records import Memory, Notice
from gieok.memory.companion.steps.memories import TakeNotices
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.memory.companion.steps.summarize import KeepSummary
from gieok.memory.conversation.records import Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.observations import Refusal
from gieok.memory.sessions.remembering import QueueRemembering
from gieok.memory.sessions.steps import QueueSummary
from gieok.memory.turns.records import RecalledMemory
from gieok.memory.turns.steps import RetrieveMemory
from gieok.memory.usage import CountUsage, ModelUsage

D = TypeVar("D", bound=Data)


@dataclass(frozen=True)
class ChatTurn:
    """The result of one message. A field is empty if the plan has no step for it.

    The answer to a repeated request is the stored one. After `GIEOK_IDEMPOTENCY_HOURS`, a message id still
    gives the reply from the log of its session, with the other fields empty.
    """

    session_ref: str
    reply: str
    recalled: tuple[Hit, ...]
    """What was recalled of the conversations with this persona, each with its reasons."""
    retrieved: tuple[RecalledMemory, ...]
    """Turn memories of this session."""
    degraded: tuple[Degraded, ...]
    """The parts of recall that failed, where the plan allows it."""
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
    usage: ModelUsage
    """All model calls that the plan counts; without CountUsage only the reply."""
    plan_hash: str
    result: CycleResult | None = field(default=None, repr=False, compare=False)
    """The outputs of all steps. None in the answer to a repeated request."""

    @property
    def prompt(self) -> Prompt:
        """The prompt of the reply. Raises NotFound in the answer to a repeated request."""
        return output_of(self._result, PromptAssemble).prompt

    @property
    def record(self) -> CycleRecord:
        """The record of the cycle. Raises NotFound in the answer to a repeated request."""
        return self._result.record

    @property
    def _result(self) -> CycleResult:
        if self.result is None:
            raise NotFound("the answer to a repeated request has no prompt and no record")
        return self.result


def chat_turn(session_ref: str, turn_id: str, checked: CheckedPlan, outputs: Outputs) -> ChatTurn:
    """The turn of these outputs. Raises InputRefused if the plan has no reply or no prompt."""
    types = {each.type: each.id for each in reversed(checked.plan.steps)}

    def of(step: type[Step[Any, Any, D]]) -> D | None:
        return cast(D, outputs[types[step.type]]) if step.type in types else None

    answer, assembled = of(LLMCall), of(PromptAssemble)
    if answer is None or assembled is None:
        missing = LLMCall if answer is None else PromptAssemble
        raise InputRefused(f"the plan has no step {missing.type}, which this call needs", at="plan")
    recalled, retrieved = of(RecallMemories), of(RetrieveMemory)
    state, saved, grounded = of(LoadState), of(SaveFacts), of(GroundFacts)
    summary, queued, remembering = of(KeepSummary), of(QueueSummary), of(QueueRemembering)
    taken, counted = of(TakeNotices), of(CountUsage)
    jobs = remembering.jobs if remembering else ()
    return ChatTurn(
        session_ref=session_ref,
        reply=answer.text,
        recalled=recalled.hits if recalled else (),
        retrieved=retrieved.memories if retrieved else (),
        degraded=recalled.degraded if recalled else (),
        state=state.facts if state else (),
        turn_id=turn_id,
        remembering=Remembering(jobs[-1], "queued") if jobs else None,
        changes=saved.changes if saved else (),
        dropped=grounded.dropped if grounded else (),
        summary_jobs=queued.jobs if queued else (),
        memory=summary.kept.memory if summary and summary.kept else None,
        notices=taken.notices if taken else (),
        usage=counted.usage if counted else answer.usage,
        plan_hash=checked.plan.hash,
    )


_STORED = TypeAdapter(ChatTurn)


def stored_turn(turn: ChatTurn) -> str:
    """The turn as it is stored for a repeated request."""
    return _STORED.dump_json(turn, by_alias=True, exclude={"result"}).decode()


def replay_to(listen: Listener | None) -> Callable[[str], Awaitable[ChatTurn]]:
    """Return a stored turn as the answer to a repeated request."""

    async def replay(stored: str) -> ChatTurn:
        return repeated(_STORED.validate_json(stored), listen)

    return replay


def repeated(turn: ChatTurn, listen: Listener | None) -> ChatTurn:
    """The answer to a repeated request. A listener gets the reply in one piece."""
    if listen is not None:
        listen(StepEvent("repeated", "token", turn.reply))
    return turn


def logged_turn(view: SqlView, session_ref: str, turn_id: str, message: str) -> ChatTurn | None:
    """The turn of a message that the log has with its reply. Conflict if it has another text."""
    session = view.sessions.get(session_ref)
    messages = view.messages.turn(session_ref, turn_id) if session else ()
    if session is None or not messages:
        return None
    said, *rest = messages
    if (said.role, said.content) != ("user", message):
        raise Conflict(f"message {said.id} exists with another content; use a new id")
    if said.withdrawn_at is not None:
        raise Conflict(f"message {said.id} was withdrawn; use a new id")
    if not rest or rest[0].role != "assistant":
        return None
    return ChatTurn(
        session_ref=session_ref,
        reply=rest[0].content,
        recalled=(),
        retrieved=(),
        degraded=(),
        state=(),
        turn_id=said.id,
        remembering=None,
        changes=(),
        dropped=(),
        summary_jobs=(),
        memory=None,
        notices=(),
        usage=ModelUsage(calls=0, input_tokens=0, output_tokens=0),
        plan_hash=session.last_execution_plan_hash,
    )
