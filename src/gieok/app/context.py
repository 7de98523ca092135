"""The facade of contexts: `user.context`, for an application that calls a model of its own."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from gieok.app.chat import Chat, check_message
from gieok.app.cycles import Cycles, output_of
from gieok.engine import CycleRecord, ExecutionPlan
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.memory.conversation.records import Prompt, PromptPart
from gieok.memory.conversation.steps import MAX_BUDGET, PromptAssemble
from gieok.memory.fields import AccountPlan
from gieok.refs import check_ref

CONTEXT_PLAN = "load_context"


@dataclass(frozen=True)
class PromptContext:
    """A prompt as a chat turn would send it, what it was made from, and what was left out."""

    prompt: Prompt
    """`system` and `messages` are what a model reads."""
    parts: tuple[PromptPart, ...]
    """The parts of the prompt in their order, each with its tokens, its items and how many were left out."""
    recalled: tuple[Hit, ...]
    """What was recalled of the conversations with this persona, each with its reasons."""
    tokens: int
    """The estimated tokens of the whole prompt, at most `budget`."""
    budget: int
    record: CycleRecord


async def load_context(
    cycles: Cycles,
    chat: Chat,
    persona_id: str,
    message: str | None,
    session_ref: str | None,
    budget: int | None,
    account_plan: AccountPlan | None,
    plan: str | ExecutionPlan,
) -> PromptContext:
    """Run the plan that builds a prompt. See `User.context`."""
    if message is not None:
        check_message(message)
    if budget is not None and not 1 <= budget <= MAX_BUDGET:
        raise InputRefused(f"must be 1 to {MAX_BUDGET} tokens", at="budget")
    request = {
        "sessionRef": await session_to_read(cycles, chat, persona_id, session_ref),
        "personaId": persona_id,
        "accountPlan": account_plan,
        "message": message or "",
        "budget": budget,
    }
    result = await cycles.run(plan, request)
    made, recalled = output_of(result, PromptAssemble), result.output_of(RecallMemories)
    return PromptContext(
        prompt=made.prompt,
        parts=made.parts,
        recalled=recalled.hits if recalled else (),
        tokens=made.tokens,
        budget=made.budget,
        record=result.record,
    )


async def session_to_read(cycles: Cycles, chat: Chat, persona_id: str, session_ref: str | None) -> str:
    """The session whose window is shown: the given one, else the open one, else none under a new ref.

    NotFound if the given one does not exist, Conflict if it is with another persona.
    """
    check_ref(persona_id, "personaId")
    if session_ref is None:
        found = await chat.open_session(persona_id)
        return found.session_ref if found else str(uuid4())
    checked = check_ref(session_ref, "sessionRef")
    session = await cycles.scope.read(lambda view: view.sessions.get(checked))
    if session is None:
        raise NotFound("no such session")
    if session.persona_id != persona_id:
        raise Conflict("this session is with another persona")
    return checked
