"""The store of companion memory, as its steps see it. Synchronous; made for one owner in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

from gieok.memory.companion.notices import NoticeView
from gieok.memory.companion.reading import ReadMemory
from gieok.memory.companion.records import (
    EmotionalMoment,
    Memory,
    MemoryConfig,
    MemoryCounts,
    MemoryPage,
)
from gieok.memory.companion.rules import Standing

Shelf = Literal["active", "archived", "all"]


class Tally(NamedTuple):
    """How many memories are searched, and how many terms they have together."""

    memories: int
    words: int


Match = tuple[int, int, int]
"""The number of a memory that has a term, how often it has it, and how many words it has in all."""
Matches = Mapping[str, Sequence[Match]]
"""Which memories have a term, term by term. One that none has is left out."""


class Entry(NamedTuple):
    """What a score is made of besides words. Numbers count a persona's memories in the order in which they
    were made."""

    number: int
    importance: int
    occurred_at: float
    """Seconds since 1970."""
    session_ref: str | None


class MemoryIndex(Protocol):
    """By what the memories of one persona are found. No word and no text is needed to score them."""

    @property
    def recall(self) -> bool:
        """Whether the user lets this persona recall anything."""
        ...

    def tally(self) -> Tally: ...

    def rarity(self, terms: Collection[str]) -> Mapping[str, int]:
        """How many memories have each term. Terms that none has are left out."""
        ...

    def with_term(self, term: str, limit: int) -> Sequence[int]:
        """The newest memories that have the term."""
        ...

    def recent(self, limit: int) -> Sequence[int]:
        """The newest memories."""
        ...

    def important(self, limit: int) -> Sequence[int]:
        """The most important memories, then the newest."""
        ...

    def matches(self, terms: Collection[str], among: Collection[int] | None = None) -> Matches:
        """Every memory that has one of the terms, or of those in `among`."""
        ...

    def entries(self, numbers: Collection[int]) -> Sequence[Entry]:
        """The entries of these memories. StoreDamaged where one is missing."""
        ...

    def neighbours(self, numbers: Collection[int]) -> Mapping[int, Mapping[int, int]]:
        """The two memories before (-1, -2) and the two after each of these (1, 2) in its session."""
        ...

    def open(self, numbers: Sequence[int]) -> Sequence[ReadMemory]:
        """These memories, in this order."""
        ...


class CompanionStore(Protocol):
    """Passive: it keeps and finds what it is given. Who gets a place is decided by the rules."""

    def hold(self, persona_id: str) -> MemoryConfig:
        """Let nobody else change this persona's memories until the transaction ends; its settings."""
        ...

    def config(self, persona_id: str) -> MemoryConfig: ...

    def configure(self, persona_id: str, config: MemoryConfig) -> None: ...

    def counts(self, persona_id: str | None) -> MemoryCounts:
        """Of one persona, or of all of them together."""
        ...

    def save(self, memory: Memory) -> None:
        """Keep a new memory. Conflict where its id exists."""
        ...

    def get(self, memory_id: UUID) -> Memory | None: ...

    def replace(self, memory: Memory) -> None:
        """Put a changed memory in the place of its version before. Conflict where that is not the latest."""
        ...

    def archive(self, memory_id: UUID, at: datetime) -> None:
        """Take the memory from the active ones. NotFound; one that is archived already stays as it is."""
        ...

    def restore(self, memory_id: UUID) -> None:
        """Put the memory back among the active ones. NotFound; an active one stays as it is."""
        ...

    def delete(self, memory_id: UUID) -> None:
        """Remove the memory, its moment and every trace in the index. NotFound."""
        ...

    def standing(self, memory_id: UUID) -> Standing:
        """One memory as the contest for places sees it. NotFound."""
        ...

    def standings(self, persona_id: str) -> Sequence[Standing]:
        """Every active memory of the persona, in no particular order."""
        ...

    def load(self, persona_id: str, limit: int) -> Sequence[Memory]:
        """The first active memories: the most important, then the newest; one for each set of topics. None
        where the user does not let this persona recall anything."""
        ...

    def list(self, persona_id: str | None, shelf: Shelf, limit: int, offset: int) -> MemoryPage:
        """The newest first, of one persona or of all."""
        ...

    def index(self, persona_id: str, *, include_archived: bool) -> MemoryIndex: ...

    def save_moment(self, moment: EmotionalMoment) -> None: ...

    def delete_moment(self, memory_id: UUID) -> None:
        """Remove the moment of a memory, if it has one."""
        ...

    def moments(self, persona_id: str, limit: int, offset: int) -> Sequence[EmotionalMoment]:
        """The moments that mattered, newest first."""
        ...


class CompanionView(NoticeView, Protocol):
    """Whatever holds companion memory among its rooms, and what is to be told of it."""

    @property
    def companion(self) -> CompanionStore:
        """Companion memory of the owner at hand."""
        ...
