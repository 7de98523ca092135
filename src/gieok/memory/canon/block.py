"""Which facts the state block shows, within its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gieok.memory.blocks import render_state, state_frame, state_line
from gieok.memory.canon.records import Fact
from gieok.memory.canon.rules import is_state
from gieok.memory.fields import Language
from gieok.text import count_tokens

SHORTEST_LINE = len("- (GOAL) k: v")


@dataclass(frozen=True)
class StateBlock:
    """The block, the facts that it shows in its order, and how many found no room."""

    text: str
    facts: tuple[Fact, ...]
    left_out: int


def state_block(facts: Sequence[Fact], language: Language, *, max_chars: int, max_tokens: int) -> StateBlock:
    """The most important facts first, then the newest, whole lines only, header and directives included.

    A line that finds no room is left out and the next one is tried, so that a very long fact cannot blank the
    state. Facts that are not state are not shown.
    """
    ordered = sorted(
        (fact for fact in facts if is_state(fact.category)),
        key=lambda fact: (-fact.importance, -fact.valid_from.timestamp(), fact.root_id.bytes),
    )
    frame = state_frame(language)
    chars, tokens = max_chars - len(frame), max_tokens - count_tokens(frame)
    shown: list[Fact] = []
    for fact in ordered:
        line = state_line(fact) + "\n"
        size = count_tokens(line)
        if len(line) <= chars and size <= tokens:
            shown.append(fact)
            chars, tokens = chars - len(line), tokens - size
    return StateBlock(render_state(shown, language), tuple(shown), len(ordered) - len(shown))


def most_lines(max_chars: int) -> int:
    """No block of this length can have more lines."""
    return max_chars // SHORTEST_LINE
