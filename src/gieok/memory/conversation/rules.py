"""From a context to the text of a prompt: pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gieok.memory.blocks import render_memories, render_state
from gieok.memory.conversation.records import Context, ContextMemory, Message, Prompt
from gieok.text import count_tokens


@dataclass(frozen=True)
class Assembled:
    """A prompt within its budget, and how much had to stay outside."""

    prompt: Prompt
    memories_left_out: int
    messages_left_out: int


def assemble(context: Context, message: str, now: datetime, token_budget: int) -> Assembled:
    """Persona, state, memories, recent messages, in this order. What does not fit is left out: first the
    memories that were ranked last, then the oldest messages. Persona, state and the message itself stay.
    """
    memories, recent = list(context.memories), list(context.recent)
    current = Message(role="user", content=message)
    while True:
        prompt = _prompt(context, tuple(memories), (*recent, current), now)
        if prompt_tokens(prompt) <= token_budget or not (memories or recent):
            break
        if memories:
            memories.pop()
        else:
            recent.pop(0)
    return Assembled(prompt, len(context.memories) - len(memories), len(context.recent) - len(recent))


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
