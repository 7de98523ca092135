"""The sources of the loading order: decision memory, read lazily inside one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from gieok.memory.decisions.exploring import as_item, explore
from gieok.memory.decisions.graph import ReadingRooms
from gieok.memory.decisions.layers import DecisionItem, EvidenceItem, PolicyItem, StructuralItem
from gieok.memory.decisions.loading import Slice
from gieok.memory.decisions.records import DecisionPosition
from gieok.memory.decisions.rules import position_of

_PAGE = 100


@dataclass(frozen=True)
class Exploring:
    """How far tier 7 looks."""

    session_ref: str | None
    """Whose anchors; None for those of every session."""
    anchors: int
    depth: int
    limit: int
    question: str | None
    top_k: int


class StoredSources:
    """`loading.Sources` over the stores of one owner."""

    def __init__(
        self,
        rooms: ReadingRooms,
        domain: str,
        policy: Sequence[PolicyItem],
        structural: Sequence[StructuralItem],
        exploring: Exploring,
    ) -> None:
        self._rooms = rooms
        self._domain = domain
        self._policy = policy
        self._structural = structural
        self._exploring = exploring
        self.truncated = False
        """Whether the plan's bounds cut off what the anchors lead to, as far as that was looked into."""

    def policy(self) -> Sequence[PolicyItem]:
        return self._policy

    def structural(self) -> Sequence[StructuralItem]:
        return self._structural

    def decisions(self, part: Slice) -> Iterator[DecisionItem]:
        after: DecisionPosition | None = None
        while True:
            page = self._rooms.decisions.list(
                scope=part.scope,
                domain=self._domain if part.scope == "domain" else None,
                strength=part.strength,
                after=after,
                limit=_PAGE,
            )
            for decision in page:
                yield as_item(decision, "scope")
            if len(page) < _PAGE:
                return
            after = position_of(page[-1])

    def count(self, part: Slice) -> int:
        return self._rooms.graph.count(part.scope, self._domain, part.strength)

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        look = self._exploring
        anchors = self._rooms.anchors.list(look.session_ref, look.anchors + 1)
        found, is_cut = explore(self._rooms, anchors[: look.anchors], depth=look.depth, limit=look.limit)
        self.truncated = is_cut or len(anchors) > look.anchors
        return found

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        look = self._exploring
        if look.question is None:
            return ()
        found = self._rooms.decisions.search(
            look.question, domain=self._domain, limit=look.top_k + len(shown)
        )
        new = (decision for decision in found if decision.root_id not in shown)
        return [as_item(decision, "words") for decision in islice(new, look.top_k)]
