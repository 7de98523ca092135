"""Assemble a prompt from a context within a token budget. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from gieok.errors import InputRefused
from gieok.memory.blocks import (
    StateLine,
    memory_frame,
    memory_line,
    render_memories,
    render_state,
    render_today,
    value_with_day,
)
from gieok.memory.conversation.records import Context, Message, Prompt
from gieok.memory.profile import local
from gieok.text import count_tokens


@dataclass(frozen=True)
class Assembled:
    """A prompt within its budget, and how many parts were left out."""

    prompt: Prompt
    facts_left_out: int
    memories_left_out: int
    messages_left_out: int


def assemble(context: Context, message: str, now: datetime, token_budget: int) -> Assembled:
    """Assemble persona, today, state, facts, memories and recent messages, in this order, within the budget.

    `now` is the time on the user's clock. Persona, state and the current message are always included;
    InputRefused if they exceed the budget. Of the rest, recent messages may use up to half even if there are
    many memories. What does not fit is left out: the lowest-ranked facts and memories, and the oldest
    messages.
    """
    current = Message(role="user", content=message)
    whole = _prompt(context, (*context.recent, current), now)
    if prompt_tokens(whole) <= token_budget:
        return Assembled(whole, 0, 0, 0)
    fixed = prompt_tokens(_prompt(_reduced(context, 0, 0), (current,), now))
    if fixed > token_budget:
        raise InputRefused(
            f"persona, state and message have {fixed} tokens, and the plan allows {token_budget}: "
            "raise tokenBudget, or make them shorter",
            at="tokenBudget",
        )
    kept = _reduced(context, *_fitting(context, token_budget - fixed))
    return Assembled(
        _prompt(kept, (*kept.recent, current), now),
        len(context.facts) - len(kept.facts),
        len(context.memories) - len(kept.memories),
        len(context.recent) - len(kept.recent),
    )


def _reduced(context: Context, lines: int, messages: int) -> Context:
    """The context with only its first `lines` facts and memories and its last `messages` messages."""
    return context.model_copy(
        update={
            "facts": context.facts[:lines],
            "memories": context.memories[: max(lines - len(context.facts), 0)],
            "recent": context.recent[len(context.recent) - messages :],
        }
    )


def _fitting(context: Context, room: int) -> tuple[int, int]:
    """The number of lines and of messages that fit into `room` tokens.

    The token count of the whole is at most the sum of its parts, so the prompt stays within its budget.
    """
    language = context.persona.language
    frame = count_tokens("\n\n".join(memory_frame(language)) + "\n\n")
    lines = [count_tokens(memory_line(text, day) + "\n") for text, day in _memory_lines(context)]
    messages = [count_tokens(each.content) for each in reversed(context.recent)]
    for_memories = room - min(sum(messages), room // 2)
    line_count = _count_fitting(lines, for_memories - frame)
    used = frame + sum(lines[:line_count]) if line_count else 0
    return line_count, _count_fitting(messages, room - used)


def _memory_lines(context: Context) -> list[tuple[str, datetime]]:
    """The lines of the block of past conversations: facts, then memories, each with its day."""
    facts = [(f"{fact.key}: {fact.value}", fact.valid_from) for fact in context.facts]
    lines = facts + [(memory.summary, memory.timestamp) for memory in context.memories]
    return [(text, local(at, context.timezone)) for text, at in lines]


def _count_fitting(costs: Sequence[int], room: int) -> int:
    """How many costs, from the first on, fit into `room`."""
    return sum(spent <= room for spent in accumulate(costs))


def prompt_tokens(prompt: Prompt) -> int:
    """The estimated number of tokens of the prompt."""
    return count_tokens(prompt.system) + sum(count_tokens(message.content) for message in prompt.messages)


def _state_lines(context: Context, now: datetime) -> list[StateLine]:
    """The lines of the state block with their days; what is no longer current is marked as past."""
    language = context.persona.language
    return [
        StateLine(
            fact.category,
            fact.key,
            value_with_day(
                fact.value, fact.when, language, is_past=fact.until is not None and fact.until < now.date()
            ),
        )
        for fact in context.state
    ]


def _prompt(context: Context, messages: tuple[Message, ...], now: datetime) -> Prompt:
    language = context.persona.language
    blocks = (
        context.persona.system_prompt.strip(),
        render_today(now, language),
        render_state(_state_lines(context, now), language),
        render_memories(_memory_lines(context), language),
    )
    return Prompt(
        system="\n\n".join(block for block in blocks if block),
        messages=messages,
        persona=context.persona,
        state=context.state,
        facts=context.facts,
        memories=context.memories,
        now=now,
    )
