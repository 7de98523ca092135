"""Ports of companion memory: the stores of memories and notices, and the search index.

Stores are synchronous and belong to one owner and one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

from gieok.memory.companion.records import (
    EmotionalMoment,
    Memory,
    MemoryConfig,
    MemoryCounts,
    MemoryPage,
    Notice,
)
from gieok.memory.companion.rules import RankKey
from gieok.text import is_question, syllable_pairs

MemoryStatus = Literal["active", "archived", "all"]
"""Filter of a list of memories."""


class AnalyzedMemory:
    """A decrypted memory with the properties of its text that recall uses, computed on first use."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @cached_property
    def is_question(self) -> bool:
        """Whether it asks rather than tells."""
        return is_question(self.memory.summary)

    @cached_property
    def syllable_pairs(self) -> Mapping[str, int]:
        """How often it contains each pair of adjacent Korean syllables."""
        return Counter(syllable_pairs(self.memory.summary))


class Tally(NamedTuple):
    """Number of indexed memories, and of their terms in total."""

    memories: int
    words: int


Match = tuple[int, int, int]
"""A memory that contains a term: its number, the term's count, and its length in words."""
Matches = Mapping[str, Sequence[Match]]
"""The memories that contain each term. Terms without any are left out."""


class Entry(NamedTuple):
    """The columns of a memory that ranking uses besides its words. Numbers count the memories of a persona in
    the order of creation."""

    number: int
    importance: int
    occurred_at: float
    """Seconds since 1970."""
    session_ref: str | None


class MemoryIndex(Protocol):
    """Search index of one persona. Scoring reads it without decrypting any memory."""

    @property
    def recall(self) -> bool:
        """Whether recall is enabled for this persona."""
        ...

    def tally(self) -> Tally: ...

    def document_frequencies(self, terms: Collection[str]) -> Mapping[str, int]:
        """How many memories contain each term. Terms without any are left out."""
        ...

    def with_term(self, term: str, limit: int) -> Sequence[int]:
        """The newest memories that contain the term."""
        ...

    def recent(self, limit: int) -> Sequence[int]:
        """The newest memories."""
        ...

    def important(self, limit: int) -> Sequence[int]:
        """The most important memories, then the newest."""
        ...

    def matches(self, terms: Collection[str], among: Collection[int] | None = None) -> Matches:
        """The memories that contain one of the terms, of all or of those in `among`."""
        ...

    def entries(self, numbers: Collection[int]) -> Sequence[Entry]:
        """The entries of these memories. StoreDamaged where one is missing."""
        ...

    def neighbours(self, numbers: Collection[int]) -> Mapping[int, Mapping[int, int]]:
        """The two memories before (-1, -2) and the two after each of these (1, 2) in its session."""
        ...

    def open(self, numbers: Sequence[int]) -> Sequence[AnalyzedMemory]:
        """Decrypt these memories, in this order."""
        ...


class CompanionStore(Protocol):
    """Stores memories. The rules decide which of them stay active."""

    def lock(self, persona_id: str) -> MemoryConfig:
        """Lock the memories of a persona against other writers until the transaction ends. Returns its
        settings."""
        ...

    def config(self, persona_id: str) -> MemoryConfig: ...

    def configure(self, persona_id: str, config: MemoryConfig) -> None: ...

    def counts(self, persona_id: str | None) -> MemoryCounts:
        """Counts of one persona, or of all together."""
        ...

    def save(self, memory: Memory) -> None:
        """Save a new memory. Conflict if its id exists."""
        ...

    def get(self, memory_id: UUID) -> Memory | None: ...

    def replace(self, memory: Memory) -> None:
        """Replace a memory by its next version. Conflict if another version was stored in the meantime."""
        ...

    def archive(self, memory_id: UUID, at: datetime) -> None:
        """Archive a memory. No change if it is archived already. NotFound."""
        ...

    def restore(self, memory_id: UUID) -> None:
        """Make a memory active. No change if it is active already. NotFound."""
        ...

    def delete(self, memory_id: UUID) -> None:
        """Delete a memory, its moment, its vectors and its index entries. NotFound."""
        ...

    def rank_key(self, memory_id: UUID) -> RankKey:
        """The rank key of one memory. NotFound."""
        ...

    def active_rank_keys(self, persona_id: str) -> Sequence[RankKey]:
        """The rank keys of all active memories of a persona, in no particular order."""
        ...

    def load(self, persona_id: str, limit: int) -> Sequence[Memory]:
        """The first active memories by importance, then newest first; one for each set of topics. Empty if
        recall is disabled for this persona."""
        ...

    def list(self, persona_id: str | None, status: MemoryStatus, limit: int, offset: int) -> MemoryPage:
        """The memories of one persona or of all, newest first."""
        ...

    def index(self, persona_id: str, *, include_archived: bool) -> MemoryIndex: ...

    def save_moment(self, moment: EmotionalMoment) -> None: ...

    def delete_moment(self, memory_id: UUID) -> None:
        """Delete the moment of a memory, if it has one."""
        ...

    def moments(self, persona_id: str, limit: int, offset: int) -> Sequence[EmotionalMoment]:
        """The emotional moments of a persona, newest first."""
        ...


class NoticeStore(Protocol):
    """Notices that wait for delivery. Only the kind of a notice is stored."""

    def leave(self, persona_id: str, notices: Collection[Notice], at: datetime) -> None:
        """Store notices for the next turn with a persona. A notice that waits already is not repeated."""
        ...

    def take(self, persona_id: str) -> Sequence[Notice]:
        """Remove and return the waiting notices."""
        ...


class NoticeView(Protocol):
    """A view with the store of notices."""

    @property
    def notices(self) -> NoticeStore: ...


class CompanionView(NoticeView, Protocol):
    """A view with the stores of memories and notices."""

    @property
    def companion(self) -> CompanionStore: ...
