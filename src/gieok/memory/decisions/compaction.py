"""Which part of a long conversation gives way to signposts: pure functions over messages.

A conversation is cut into chunks from its beginning. Where a chunk ends depends only on what came before, so
a conversation that has grown is cut at the same places again, and what was compacted once is recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from gieok.engine import Data
from gieok.memory.decisions.evidence import MAX_HINT_CHARS, EvidenceDraft, Hint
from gieok.memory.fields import storable
from gieok.text import count_tokens

MAX_MESSAGES = 100_000
MAX_CHUNK_TOKENS = 50_000
MAX_MESSAGE_CHARS = 200_000


class Said(Data, from_attributes=True):
    """One message of a conversation, word for word."""

    role: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,32}$")]
    content: Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARS), AfterValidator(storable)]

    @property
    def line(self) -> str:
        """The message as evidence keeps it."""
        return f"{self.role}: {self.content}"


Conversation = Annotated[tuple[Said, ...], Field(min_length=1, max_length=MAX_MESSAGES)]


class Signpost(Data):
    """What is to stand in place of a chunk: a hint, and which messages it will lead to.

    Their words are not in it: a long conversation has more of them than a step may give out.
    """

    hint: Hint
    first: Annotated[int, Field(ge=1)]
    """The first message, counted from 1."""
    count: Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class Chunk:
    """Messages that one signpost will stand for. `first` counts from 1."""

    first: int
    messages: tuple[Said, ...]
    tokens: int

    def evidence(self, session_ref: str) -> EvidenceDraft:
        """The original words, as they will be kept."""
        return original(session_ref, self.first, self.messages)


def original(session_ref: str, first: int, messages: Sequence[Said]) -> EvidenceDraft:
    """These messages of a session, word for word. `first` counts from 1."""
    return EvidenceDraft(
        title=f"{session_ref}: {first}–{first + len(messages) - 1}",
        source=f"session:{session_ref}",
        content="\n\n".join(message.line for message in messages),
    )


@dataclass(frozen=True)
class Cut:
    """The chunks that give way, and the messages that stay as they are."""

    chunks: tuple[Chunk, ...]
    kept: tuple[Said, ...]
    kept_tokens: int


def cut(messages: Sequence[Said], token_budget: int, chunk_tokens: int, hint_tokens: int) -> Cut:
    """Give way from the oldest, and no more than it takes to fit the budget.

    Each hint is reckoned at its limit. The newest message always stays, whatever its size.
    """
    sizes = [count_tokens(message.line) for message in messages]
    rest, dropped = sum(sizes), 0
    chosen: list[Chunk] = []
    for chunk in _chunks(messages, sizes, chunk_tokens):
        if rest + len(chosen) * hint_tokens <= token_budget:
            break
        chosen.append(chunk)
        rest -= chunk.tokens
        dropped += len(chunk.messages)
    return Cut(tuple(chosen), tuple(messages[dropped:]), rest)


def _chunks(messages: Sequence[Said], sizes: Sequence[int], chunk_tokens: int) -> list[Chunk]:
    """Full chunks only: one ends where the next message would not fit in. The last message is in none."""
    chunks: list[Chunk] = []
    first, tokens = 0, 0
    for number, size in enumerate(sizes):
        if number > first and tokens + size > chunk_tokens:
            chunks.append(Chunk(first + 1, tuple(messages[first:number]), tokens))
            first, tokens = number, 0
        tokens += size
    return chunks


def within(hint: str, hint_tokens: int) -> str:
    """The hint on one line within its limits, cut between words where there is room for one."""
    flat = " ".join(hint.split())
    if len(flat) <= MAX_HINT_CHARS and count_tokens(flat) <= hint_tokens:
        return flat
    longest = max(
        (
            end
            for end in range(1, min(len(flat), MAX_HINT_CHARS) + 1)
            if count_tokens(flat[:end]) <= hint_tokens
        ),
        default=0,
    )
    head = flat[:longest]
    whole_words = head.rsplit(" ", 1)[0] if longest < len(flat) and flat[longest] != " " else head
    return whole_words.rstrip(" ,.") or head


def fitting(hints: Sequence[str], kept_tokens: int, token_budget: int) -> int:
    """How many of the newest hints fit beside the messages that stay. The others are kept all the same."""
    room = token_budget - kept_tokens
    for number, hint in enumerate(reversed(hints)):
        room -= count_tokens(hint)
        if room < 0:
            return number
    return len(hints)
