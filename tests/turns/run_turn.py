"""Run the shipped plan `turn_memory` and collect what its steps returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from gieok import ExecutionPlan, Persona, RecalledMemory, StepEvent, User
from gieok.memory.conversation.records import Prompt
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.turns.steps import PersistMemory, RetrieveMemory, SummarizeMemory


@dataclass(frozen=True)
class TurnResult:
    """A field is None, or empty, where the plan has no step for it."""

    reply: str | None
    recalled: tuple[RecalledMemory, ...]
    memory_id: UUID | None
    summary: str | None
    prompt: Prompt | None


async def run_turn(
    user: User,
    session_ref: str,
    message: str,
    *,
    persona: Persona,
    plan: str | ExecutionPlan = "turn_memory",
    listen: Callable[[StepEvent], None] | None = None,
) -> TurnResult:
    """One turn with a persona that is not stored."""
    request = {
        "sessionRef": session_ref,
        "message": message,
        "persona": persona,
        "state": (),
        "recentMessages": (),
    }
    result = await user.run(plan, request, listen)
    answer, retrieved = result.output_of(LLMCall), result.output_of(RetrieveMemory)
    summary, persisted = result.output_of(SummarizeMemory), result.output_of(PersistMemory)
    assembled = result.output_of(PromptAssemble)
    return TurnResult(
        reply=answer.text if answer else None,
        recalled=retrieved.memories if retrieved else (),
        memory_id=persisted.ids[0] if persisted else None,
        summary=summary.items[0].summary if summary else None,
        prompt=assembled.prompt if assembled else None,
    )
