"""From a context to the text of a prompt: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from gieok.errors import InputRefused
from gieok.memory.blocks import memory_frame, memory_line, render_memories, render_state
from gieok.memory.conversation.records import Context, ContextMemory, Message, Prompt
from gieok.text import count_tokens


@dataclass(frozen=True)
class Assembled:
    """A prompt within its budget, and how much had to stay outside."""

    prompt: Prompt
    memories_left_out: int
    messages_left_out: int


def assemble(context: Context, message: str, now: datetime, token_budget: int) -> Assembled:
    """Persona, state, memories, recent messages, in this order. What does not fit is left out: the memories
    that were ranked last and the oldest messages. Of the room beside persona, state and the message itself,
    recent messages may claim half. InputRefused where those three alone are too much.
    """
    current = Message(role="user", content=message)
    whole = _prompt(context, context.memories, (*context.recent, current), now)
    if prompt_tokens(whole) <= token_budget:
        return Assembled(whole, 0, 0)
    fixed = prompt_tokens(_prompt(context, (), (current,), now))
    if fixed > token_budget:
        raise InputRefused(
            f"persona, state and message take {fixed} tokens, and the plan has {token_budget}: "
            "give it more, or make them shorter",
            at="tokenBudget",
        )
    memories, recent = _fitting(context, token_budget - fixed)
    prompt = _prompt(context, memories, (*recent, current), now)
    return Assembled(prompt, len(context.memories) - len(memories), len(context.recent) - len(recent))


def _fitting(context: Context, room: int) -> tuple[tuple[ContextMemory, ...], tuple[Message, ...]]:
    """The first memories and the last messages for which there is room. Parts counted one by one come to
    no less than they do together, so that the whole keeps its budget.
    """
    language = context.persona.language
    frame = count_tokens("\n\n".join(memory_frame(language)) + "\n\n")
    lines = [count_tokens(memory_line(each.summary, each.timestamp) + "\n") for each in context.memories]
    said = [count_tokens(each.content) for each in reversed(context.recent)]
    for_memories = room - min(sum(said), room // 2)
    memories = _first(lines, for_memories - frame)
    taken = frame + sum(lines[:memories]) if memories else 0
    messages = _first(said, room - taken)
    return context.memories[:memories], context.recent[len(context.recent) - messages :]


def _first(costs: Sequence[int], room: int) -> int:
    """How many of the first there is room for."""
    return sum(spent <= room for spent in accumulate(costs))


def prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a model will count for this prompt."""
    return count_tokens(prompt.system) + sum(count_tokens(message.content) for message in prompt.messages)


def _prompt(
    context: Context, memories: tuple[ContextMemory, ...], messages: tuple[Message, ...], now: datetime
) -> Prompt:
    language = context.persona.language
    blocks = (
        context.persona.system_prompt.strip(),
        render_state(context.state, language),
        render_memories(((memory.summary, memory.timestamp) for memory in memories), language),
    )
    return Prompt(
        system="\n\n".join(block for block in blocks if block),
        messages=messages,
        persona=context.persona,
        state=context.state,
        memories=memories,
        now=now,
    )
