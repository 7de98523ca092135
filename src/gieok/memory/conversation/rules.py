"""Select the context of a turn, and assemble the prompt within a token budget. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from gieok.errors import InputRefused
from gieok.memory.blocks import (
    WORDING,
    StateLine,
    dated_line,
    earlier_frame,
    fact_line,
    facts_frame,
    lore_frame,
    lore_line,
    memory_frame,
    memory_line,
    quote_line,
    render_block,
    render_today,
    state_frame,
    state_line,
)
from gieok.memory.conversation.records import (
    Context,
    ContextMemory,
    Message,
    PartKind,
    Prompt,
    PromptPart,
    StateFact,
)
from gieok.memory.profile import day_of
from gieok.text import count_tokens, language


@dataclass(frozen=True)
class PromptLimits:
    """How large a prompt may be."""

    tokens: int
    window_share: float
    """The share of the room beside persona and message that recent messages may use in any case."""
    quote_chars: int
    """How much of a recalled message is quoted."""


@dataclass(frozen=True)
class Assembled:
    """A prompt within its budget, and its parts in their order."""

    prompt: Prompt
    parts: tuple[PromptPart, ...]
    tokens: int


@dataclass(frozen=True)
class _Block:
    """A block of the system prompt: its fixed text, and its lines, most important first."""

    kind: PartKind
    frame: tuple[str, str]
    lines: Sequence[str]
    left_out: int = 0
    """Lines that were left out before."""

    def reduced(self, count: int) -> _Block:
        return _Block(self.kind, self.frame, self.lines[:count], self.left_out + len(self.lines) - count)

    @property
    def text(self) -> str:
        return render_block(self.frame, self.lines)


def not_shown(memories: Iterable[ContextMemory], context: Context) -> tuple[ContextMemory, ...]:
    """The memories that no part of the context shows: as a memory, a fact or a recent message."""
    ids = {str(each.id) for each in (*context.opening, *context.earlier) if each.id}
    ids |= {str(fact.root_id) for fact in (*context.state, *context.facts) if fact.root_id}
    said: set[tuple[str | None, str]] = {(message.role, message.content) for message in context.recent}
    return tuple(
        each for each in memories if str(each.id) not in ids and (each.role, each.summary) not in said
    )


def assemble(
    context: Context, message: str, now: datetime, limits: PromptLimits, instructions: str = ""
) -> Assembled:
    """Assemble persona, today, state, facts, memories, what was said earlier, rules and recent messages.

    `now` is the time on the user's clock. Without a `message` the prompt ends with the recent messages. The
    client's `instructions` follow the persona and count as a part of it.
    Persona, today, rules and the message are always included; InputRefused if they exceed the budget. What
    does not fit is left out: of each block its last lines, and the oldest messages. The state has priority,
    then the earlier part of the conversation, facts and memories; recent messages have their share.
    """
    current = (Message(role="user", content=message),) if message else ()
    today = render_today(now, context.persona.language, context.user_name)
    head = tuple(filter(None, (context.persona.system_prompt.strip(), instructions.strip(), today)))
    rules = WORDING[language(message, default=context.persona.language)].rules
    fixed = count_tokens("\n\n".join((*head, rules))) + sum(count_tokens(each.content) for each in current)
    if fixed > limits.tokens:
        raise InputRefused(
            f"persona and message have {fixed} tokens, and the budget is {limits.tokens}: "
            "raise the budget, or make them shorter",
            at="budget",
        )
    blocks = _blocks(context, now, limits.quote_chars)
    system = "\n\n".join((*head, *(block.text for block in blocks if block.lines), rules))
    messages = (*context.recent, *current)
    tokens = count_tokens(system) + sum(count_tokens(each.content) for each in messages)
    if tokens > limits.tokens:
        blocks, recent = _fitting(blocks, context.recent, limits.tokens - fixed, limits.window_share)
        messages = (*recent, *current)
        system = "\n\n".join((*head, *(block.text for block in blocks if block.lines), rules))
        tokens = count_tokens(system) + sum(count_tokens(each.content) for each in messages)
    prompt = _prompt(context, system, messages, blocks, now)
    return Assembled(prompt, _parts(context, head, rules, blocks, messages, len(current)), tokens)


def _blocks(context: Context, now: datetime, quote_chars: int) -> tuple[_Block, ...]:
    """The blocks of stored text, in the order of the prompt."""
    spoken, today, timezone = context.persona.language, now.date(), context.timezone
    user = context.user_name or WORDING[spoken].user

    def line(each: ContextMemory) -> str:
        day = day_of(each.timestamp, timezone)
        if each.kind != "message":
            return memory_line(each.summary, day)
        who = each.speaker or (user if each.role == "user" else context.persona.name)
        cut = each.summary if len(each.summary) <= quote_chars else f"{each.summary[:quote_chars]}…"
        return quote_line(who, cut, day)

    def dated(facts: Iterable[StateFact]) -> list[StateLine]:
        return [dated_line(fact, spoken, today, timezone) for fact in facts]

    memory = memory_frame(spoken, is_start=bool(context.opening))
    return (
        _Block(
            "state",
            state_frame(spoken),
            [state_line(each) for each in dated(context.state)],
            context.state_left_out,
        ),
        _Block("facts", facts_frame(spoken), [fact_line(each) for each in dated(context.facts)]),
        _Block("memories", memory, [line(each) for each in (*context.opening, *context.memories)]),
        _Block("lore", lore_frame(spoken), list(map(lore_line, context.lore)), context.lore_left_out),
        _Block("earlier", earlier_frame(spoken), [line(each) for each in context.earlier]),
    )


_PRIORITY: tuple[PartKind, ...] = ("state", "lore", "earlier", "facts", "memories")


def _fitting(
    blocks: Sequence[_Block], recent: Sequence[Message], room: int, window_share: float
) -> tuple[tuple[_Block, ...], tuple[Message, ...]]:
    """The blocks and the recent messages that fit into `room` tokens.

    The token count of the whole is at most the sum of its parts, so the prompt stays within its budget.
    """
    said = [count_tokens(each.content) for each in reversed(recent)]
    left = room - min(sum(said), int(room * window_share))
    used, counts = 0, dict[PartKind, int]()
    for block in sorted(blocks, key=lambda each: _PRIORITY.index(each.kind)):
        frame = count_tokens("\n".join(block.frame) + "\n\n")
        costs = [count_tokens(f"{line}\n") for line in block.lines]
        counts[block.kind] = _count_fitting(costs, left - used - frame)
        used += frame + sum(costs[: counts[block.kind]]) if counts[block.kind] else 0
    kept = _count_fitting(said, room - used)
    reduced = tuple(block.reduced(counts[block.kind]) for block in blocks)
    return reduced, tuple(recent[len(recent) - kept :])


def _count_fitting(costs: Sequence[int], room: int) -> int:
    """How many costs, from the first on, fit into `room`."""
    return sum(spent <= room for spent in accumulate(costs))


def _prompt(
    context: Context, system: str, messages: tuple[Message, ...], blocks: Sequence[_Block], now: datetime
) -> Prompt:
    shown = {block.kind: len(block.lines) for block in blocks}
    return Prompt(
        system=system,
        messages=messages,
        persona=context.persona,
        state=context.state[: shown["state"]],
        facts=context.facts[: shown["facts"]],
        memories=(*context.opening, *context.memories)[: shown["memories"]],
        earlier=context.earlier[: shown["earlier"]],
        user_name=context.user_name,
        now=now,
    )


def _parts(
    context: Context,
    head: Sequence[str],
    rules: str,
    blocks: Sequence[_Block],
    messages: Sequence[Message],
    current: int,
) -> tuple[PromptPart, ...]:
    """The parts of the prompt with their tokens; those of the rules count with the persona."""
    persona, today = head[:-1], head[-1]
    own = sum(map(count_tokens, (*persona, rules)))
    said = sum(count_tokens(each.content) for each in messages)
    left_out = len(context.recent) + current - len(messages)
    return (
        PromptPart(kind="persona", tokens=own, count=len(persona), left_out=0),
        PromptPart(kind="today", tokens=count_tokens(today), count=1, left_out=0),
        *(
            PromptPart(
                kind=block.kind,
                tokens=count_tokens(block.text),
                count=len(block.lines),
                left_out=block.left_out,
            )
            for block in blocks
        ),
        PromptPart(kind="window", tokens=said, count=len(messages), left_out=left_out),
    )
