"""Ports of companion memory: the stores of memories and notices, and the search index.

Stores are synchronous and belong to one owner and one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

from gieok.memory.companion.hits import FoundFact, FoundMessage, HitKind
from gieok.memory.companion.records import (
    EmotionalMoment,
    ExcerptSource,
    Memory,
    MemoryConfig,
    MemoryCounts,
    MemoryPage,
    MemoryVersion,
    MomentPosition,
    NoticeKind,
)
from gieok.memory.companion.rules import RankKey
from gieok.text import syllable_pairs

if TYPE_CHECKING:  # numpy loads only where it is used
    from gieok.ranking import Flags, Match, Neighbours, SearchIndex

ENTRIES = 2**48
"""Added to the number of a message or a fact in the index, so that it is not that of a memory."""

MemoryStatus = Literal["active", "archived", "all"]
"""Filter of a list of memories."""


class AnalyzedRow:
    """A decrypted row of the index with the pairs of its syllables, computed on first use."""

    def __init__(self, record: Memory | FoundMessage | FoundFact, labels: tuple[str, ...] = ()) -> None:
        self.record = record
        self.labels = labels
        """What was understood of a message: keywords, and keys and values of facts."""

    @cached_property
    def syllable_pairs(self) -> Mapping[str, int]:
        """How often it contains each pair of adjacent Korean syllables."""
        return Counter(syllable_pairs(self.record.text))


class PersonaIndex(Protocol):
    """The search index of one persona: the kinds of rows that are searched, with or without archived ones.
    Only `open` decrypts."""

    @property
    def recall(self) -> bool:
        """Whether recall is enabled for this persona."""
        ...

    @property
    def rows(self) -> SearchIndex: ...

    @property
    def visible(self) -> Flags | None:
        """Which rows are searched. None is all."""
        ...

    @property
    def count(self) -> int:
        """How many rows are searched."""
        ...

    @property
    def neighbours(self) -> Neighbours:
        """The order of the searched rows in their sessions."""
        ...

    def find(self, terms: Sequence[str]) -> dict[str, Match]:
        """The searched rows that contain each term. Terms without any are left out."""
        ...

    def open(self, rows: Sequence[int]) -> Sequence[AnalyzedRow]:
        """Decrypt these rows, in this order. StoreDamaged if one is missing."""
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

    def save(self, memories: Sequence[Memory]) -> None:
        """Save new memories of one persona. Conflict if an id exists."""
        ...

    def get(self, memory_id: UUID) -> Memory | None: ...

    def replace(self, memory: Memory) -> None:
        """Replace a memory by its next version. Conflict if another version was stored in the meantime."""
        ...

    def keep_source(self, memory_id: UUID, source: ExcerptSource) -> None:
        """Store what an excerpt was made of, until the memory is no longer an excerpt. NotFound."""
        ...

    def source(self, memory_id: UUID) -> ExcerptSource | None:
        """What an excerpt was made of. None for any other memory, or if there is none."""
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

    def days(self, persona_id: str | None) -> Sequence[tuple[date, int]]:
        """How many memories of one persona or of all happened on each day (UTC), archived ones too."""
        ...

    def index(
        self, persona_id: str, *, kinds: Collection[HitKind] = ("memory",), include_archived: bool
    ) -> PersonaIndex:
        """The search index for rows of these kinds."""
        ...

    def save_moment(self, moment: EmotionalMoment) -> None: ...

    def delete_moment(self, memory_id: UUID) -> None:
        """Delete the moment of a memory, if it has one."""
        ...

    def moments(self, persona_id: str, limit: int, after: MomentPosition | None) -> Sequence[EmotionalMoment]:
        """The emotional moments of a persona that follow `after`, newest first."""
        ...


class MemoryVersionStore(Protocol):
    """Former versions of memories. They are deleted with their memory."""

    def save(self, memory: Memory, replaced_at: datetime) -> None:
        """Keep a version that is about to be replaced. Conflict if it is kept already."""
        ...

    def list(self, memory_id: UUID) -> Sequence[MemoryVersion]:
        """The former versions of a memory, oldest first."""
        ...


class NoticeStore(Protocol):
    """Notices that wait for delivery. Only the kind of a notice is stored."""

    def leave(self, persona_id: str, kinds: Collection[NoticeKind], at: datetime) -> None:
        """Store notices for the next turn with a persona. A notice that waits already is not repeated."""
        ...

    def take(self, persona_id: str) -> Sequence[NoticeKind]:
        """Remove and return the kinds of the waiting notices."""
        ...


class NoticeView(Protocol):
    """A view with the store of notices."""

    @property
    def notices(self) -> NoticeStore: ...


class CompanionView(NoticeView, Protocol):
    """A view with the stores of memories, their former versions, and notices."""

    @property
    def companion(self) -> CompanionStore: ...

    @property
    def memory_versions(self) -> MemoryVersionStore: ...
