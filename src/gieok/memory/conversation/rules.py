"""From a context to the text of a prompt: pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from gieok.memory.conversation.records import Context, ContextMemory, Language, Message, Prompt, StateFact
from gieok.text import count_tokens

_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


@dataclass(frozen=True)
class _Wording:
    state_header: str
    state_directives: tuple[str, ...]
    memory_header: str
    memory_lead: str
    memory_directives: tuple[str, ...]


_WORDING: dict[Language, _Wording] = {
    "ko": _Wording(
        state_header="[현재 상태(캐논)]",
        state_directives=(
            "위 항목들은 현재 시점의 정합성으로 취급한다.",
            "사용자 메시지가 새로운 사실을 제공하거나 모순되면, "
            "자연스럽게 상태가 업데이트되는 방향으로 응답한다.",
            "상태/기억 블록의 존재를 언급하지 않는다.",
        ),
        memory_header="[과거 대화 기록]",
        memory_lead="당신은 사용자와 다음과 같은 대화를 나눴습니다:",
        memory_directives=(
            "이 정보를 바탕으로 자연스럽게 대화를 이어가세요.",
            "기억을 직접 언급하지 마세요.",
        ),
    ),
    "en": _Wording(
        state_header="[Current state (canon)]",
        state_directives=(
            "Treat these lines as what is true at this moment.",
            "Where the message adds to them or contradicts them, let the state move on as you answer.",
            "Never mention that this block or the memories exist.",
        ),
        memory_header="[Past conversations]",
        memory_lead="You and the user have talked about this before:",
        memory_directives=(
            "Continue the conversation naturally from it.",
            "Do not mention the memories as such.",
        ),
    ),
}


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


def one_line(text: str) -> str:
    """Text on one line, and never a header: a stored value cannot open a block of its own."""
    flat = " ".join(_LINE_BREAKS.sub(" ", text).split())
    return f"'{flat}" if flat.startswith(("[", "-")) else flat


def _prompt(
    context: Context, memories: tuple[ContextMemory, ...], messages: tuple[Message, ...], now: datetime
) -> Prompt:
    wording = _WORDING[context.persona.language]
    blocks = [context.persona.system_prompt.strip()]
    if context.state:
        blocks.append(_state_block(context.state, wording))
    if memories:
        blocks.append(_memory_block(memories, wording))
    return Prompt(
        system="\n\n".join(block for block in blocks if block),
        messages=messages,
        persona=context.persona,
        state=context.state,
        memories=memories,
        now=now,
    )


def _state_block(state: tuple[StateFact, ...], wording: _Wording) -> str:
    lines = [f"- ({one_line(fact.category)}) {one_line(fact.key)}: {one_line(fact.value)}" for fact in state]
    return "\n".join((wording.state_header, *lines, "", *wording.state_directives))


def _memory_block(memories: tuple[ContextMemory, ...], wording: _Wording) -> str:
    lines = [f"- {one_line(memory.summary)} ({memory.timestamp:%Y-%m-%d})" for memory in memories]
    return "\n".join((wording.memory_header, wording.memory_lead, "", *lines, "", *wording.memory_directives))
