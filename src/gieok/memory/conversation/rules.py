"""From a context to the text of a prompt: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from gieok.errors import InputRefused
from gieok.memory.blocks import memory_frame, memory_line, render_memories, render_state
from gieok.memory.conversation.records import Context, Message, Prompt
from gieok.text import count_tokens


@dataclass(frozen=True)
class Assembled:
    """A prompt within its budget, and how much had to stay outside."""

    prompt: Prompt
    facts_left_out: int
    memories_left_out: int
    messages_left_out: int


def assemble(context: Context, message: str, now: datetime, token_budget: int) -> Assembled:
    """Persona, state, memories, recent messages, in this order; facts stand first among the memories. What
    does not fit is left out: what was ranked last of those, and the oldest messages. Of the room beside
    persona, state and the message itself, recent messages may claim half. InputRefused where those three
    alone are too much.
    """
    current = Message(role="user", content=message)
    whole = _prompt(context, (*context.recent, current), now)
    if prompt_tokens(whole) <= token_budget:
        return Assembled(whole, 0, 0, 0)
    fixed = prompt_tokens(_prompt(_reduced(context, 0, 0), (current,), now))
    if fixed > token_budget:
        raise InputRefused(
            f"persona, state and message take {fixed} tokens, and the plan has {token_budget}: "
            "give it more, or make them shorter",
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
    """The context with its first lines and its last messages only."""
    return context.model_copy(
        update={
            "facts": context.facts[:lines],
            "memories": context.memories[: max(lines - len(context.facts), 0)],
            "recent": context.recent[len(context.recent) - messages :],
        }
    )


def _fitting(context: Context, room: int) -> tuple[int, int]:
    """How many lines and messages there is room for. Parts counted one by one come to no less than they do
    together, so that the whole keeps its budget.
    """
    language = context.persona.language
    frame = count_tokens("\n\n".join(memory_frame(language)) + "\n\n")
    lines = [count_tokens(memory_line(text, day) + "\n") for text, day in _remembered(context)]
    said = [count_tokens(each.content) for each in reversed(context.recent)]
    for_memories = room - min(sum(said), room // 2)
    remembered = _first(lines, for_memories - frame)
    taken = frame + sum(lines[:remembered]) if remembered else 0
    return remembered, _first(said, room - taken)


def _remembered(context: Context) -> list[tuple[str, datetime]]:
    """What stands on the lines of past conversations: facts, then memories, each with its day."""
    facts = [(f"{fact.key}: {fact.value}", fact.valid_from) for fact in context.facts]
    return facts + [(memory.summary, memory.timestamp) for memory in context.memories]


def _first(costs: Sequence[int], room: int) -> int:
    """How many of the first there is room for."""
    return sum(spent <= room for spent in accumulate(costs))


def prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a model will count for this prompt."""
    return count_tokens(prompt.system) + sum(count_tokens(message.content) for message in prompt.messages)


def _prompt(context: Context, messages: tuple[Message, ...], now: datetime) -> Prompt:
    language = context.persona.language
    blocks = (
        context.persona.system_prompt.strip(),
        render_state(context.state, language),
        render_memories(_remembered(context), language),
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
