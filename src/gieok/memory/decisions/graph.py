"""The relation graph as a walk and the guardian read it. Synchronous; of one owner, in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol
from uuid import UUID

from gieok.memory.decisions.impact import Edge
from gieok.memory.decisions.records import Relation, RelationType, Scope, Strength
from gieok.memory.decisions.store import DecisionRooms


class DecisionGraph(Protocol):
    """Relations and where decisions stand. It opens no content and searches no text."""

    def edges(self, origins: Sequence[bytes], known: Collection[bytes]) -> Iterator[Edge]:
        """The edges that begin at these decisions and lead to none that is known, in order.

        `origins` are in order too. Lazy: what is not asked for is not read, and what has become known
        meanwhile may be left out.
        """
        ...

    def declared_from(
        self, sources: Sequence[UUID], types: Sequence[RelationType], limit: int
    ) -> Sequence[Relation]:
        """Relations of these types that begin at one of these decisions, by source, type and target."""
        ...

    def declared_to(
        self, targets: Sequence[UUID], types: Sequence[RelationType], limit: int
    ) -> Sequence[Relation]:
        """Relations of these types that end at one of these decisions, by target, type and source."""
        ...

    def roots(self, scope: Scope, domain: str, strength: Strength, limit: int) -> Sequence[UUID]:
        """The decisions of this strength that apply globally or in the domain, last changed first."""
        ...

    def count(self, scope: Scope, domain: str, strength: Strength) -> int:
        """How many decisions of this strength apply globally, or in the domain."""
        ...


class ReadingRooms(DecisionRooms, Protocol):
    """Decision memory with its graph."""

    @property
    def graph(self) -> DecisionGraph:
        """The graph of the owner at hand."""
        ...
