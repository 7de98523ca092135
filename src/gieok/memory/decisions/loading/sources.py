"""The sources of the loading order: decision memory, read lazily inside one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from gieok.memory.decisions.graph.guardian import FOUNDATION_TYPES, path_edge
from gieok.memory.decisions.graph.impact import blast_radius
from gieok.memory.decisions.loading.layers import (
    DecisionItem,
    EvidenceItem,
    PolicyItem,
    StructuralItem,
    Through,
)
from gieok.memory.decisions.loading.order import Slice, nearest_first, strongest_first
from gieok.memory.decisions.records import (
    Anchor,
    Decision,
    DecisionPosition,
    EvidenceCard,
    ImpactNode,
    Lead,
    PathEdge,
)
from gieok.memory.decisions.rules import position_of
from gieok.memory.decisions.store import DecisionGraph, DecisionView

_PAGE = 100


@dataclass(frozen=True)
class AnchorSearch:
    """The bounds of tier 7."""

    session_ref: str | None
    """The session of the anchors; None for all sessions."""
    anchors: int
    depth: int
    limit: int
    question: str | None
    top_k: int


class StoredSources:
    """Implements `order.Sources` with the stores of one owner."""

    def __init__(
        self,
        view: DecisionView,
        domain: str,
        policy: Sequence[PolicyItem],
        structural: Sequence[StructuralItem],
        search: AnchorSearch,
    ) -> None:
        self._view = view
        self._domain = domain
        self._policy = policy
        self._structural = structural
        self._search = search
        self.truncated = False
        """Whether the limits of the plan cut off the anchor targets, if that tier was loaded."""

    def policy(self) -> Sequence[PolicyItem]:
        return self._policy

    def structural(self) -> Sequence[StructuralItem]:
        return self._structural

    def decisions(self, part: Slice) -> Iterator[DecisionItem]:
        after: DecisionPosition | None = None
        while True:
            page = self._view.decisions.list(
                scope=part.scope,
                domain=self._domain if part.scope == "domain" else None,
                strength=part.strength,
                after=after,
                limit=_PAGE,
            )
            for decision in page:
                yield decision_item(decision, "scope")
            if len(page) < _PAGE:
                return
            after = position_of(page[-1])

    def count(self, part: Slice) -> int:
        return self._view.graph.count(part.scope, self._domain, part.strength)

    def anchored(self) -> Sequence[DecisionItem | EvidenceItem]:
        search = self._search
        anchors = self._view.anchors.list(search.session_ref, search.anchors + 1)
        items, is_cut = follow_anchors(
            self._view, anchors[: search.anchors], depth=search.depth, limit=search.limit, domain=self._domain
        )
        self.truncated = is_cut or len(anchors) > search.anchors
        return items

    def similar(self, shown: Collection[UUID]) -> Sequence[DecisionItem]:
        search = self._search
        if search.question is None:
            return ()
        found = self._view.decisions.search(
            search.question, domain=self._domain, limit=search.top_k + len(shown)
        )
        new = (decision for decision in found if decision.root_id not in shown)
        return [decision_item(decision, "words") for decision in islice(new, search.top_k)]


def structure_around(
    view: DecisionView, focus: Sequence[UUID], domain: str, *, depth: int, limit: int
) -> tuple[Sequence[StructuralItem], bool]:
    """The items of tier 2 in order, and whether the limits of the plan cut them off.

    These are the decisions that a change of the focus reaches, and those that the focus rests on, one
    relation away. Without a focus, the domain's axes and locks are the focus.
    """
    origins, is_cut = (focus, False) if focus else _strong_roots(view.graph, domain, limit)
    foundations, are_cut = _foundations(view.graph, origins, limit)
    reach = blast_radius(origins, view.graph.edges, depth=depth, limit=limit)
    nodes = {node.root_id: node for node in (*foundations, *reach.nodes) if node.root_id not in origins}
    affected = {node.root_id for node in reach.nodes}
    items = [
        _structural_item(decision, nodes[decision.root_id], is_affected=decision.root_id in affected)
        for decision in view.decisions.active(list(nodes))
    ]
    return sorted(items, key=nearest_first), reach.truncated or is_cut or are_cut


def follow_anchors(
    view: DecisionView, anchors: Iterable[Anchor], *, depth: int, limit: int, domain: str | None = None
) -> tuple[Sequence[DecisionItem | EvidenceItem], bool]:
    """The targets of the anchors, in the order of tier 7, and whether the limits of the plan cut them off.

    Depth 1 gives their targets, each further level follows relations as in `follow_relations`.
    """
    roots: dict[UUID, Lead | None] = {}
    evidence: dict[UUID, Lead | None] = {}
    for anchor in anchors:
        lead = Lead(id=anchor.id, hint=anchor.hint)
        for target in anchor.targets:
            (roots if target.kind == "decision" else evidence).setdefault(target.id, lead)
    return follow_relations(view, roots, evidence, depth=depth - 1, limit=limit, domain=domain)


def follow_relations(
    view: DecisionView,
    roots: Mapping[UUID, Lead | None],
    evidence: Mapping[UUID, Lead | None],
    *,
    depth: int,
    limit: int,
    domain: str | None = None,
) -> tuple[Sequence[DecisionItem | EvidenceItem], bool]:
    """These decisions and this evidence in the order of tier 7, and what relations lead to.

    Each level follows the relations of what was found, to at most `limit` more decisions, and adds the
    evidence that the decisions cite, at most `limit` of it; depth 0 adds nothing. With `domain`, decisions of
    other domains are left out, and what only they cite. The second result says whether `limit` or `depth` cut
    the walk off.
    """
    reach = blast_radius(tuple(roots), view.graph.edges, depth=depth, limit=limit) if depth else None
    leads, paths = dict(roots), dict[UUID, tuple[PathEdge, ...]]()
    for node in reach.nodes if reach else ():
        leads[node.root_id] = leads[_previous_root(node)]
        paths[node.root_id] = node.path
    decisions = [
        decision
        for decision in view.decisions.active(list(leads))
        if domain is None or decision.domain in (None, domain)
    ]
    cited = list(islice(_cited(decisions), limit + 1)) if depth else []
    citing: dict[UUID, UUID] = {}
    for evidence_id, root_id in cited[:limit]:
        if evidence_id not in evidence:
            citing.setdefault(evidence_id, root_id)
    items = [
        *(
            decision_item(one, _through(leads[one.root_id]), leads[one.root_id], paths.get(one.root_id, ()))
            for one in decisions
        ),
        *(evidence_item(card, evidence[card.id]) for card in view.evidence.cards(list(evidence))),
        *(
            evidence_item(card, leads[citing[card.id]], paths.get(citing[card.id], ()))
            for card in view.evidence.cards(list(citing))
        ),
    ]
    is_cut = len(cited) > limit or (reach is not None and reach.truncated)
    return sorted(items, key=strongest_first), is_cut


def decision_item(
    decision: Decision, through: Through, lead: Lead | None = None, path: tuple[PathEdge, ...] = ()
) -> DecisionItem:
    """A decision as an item of a layer."""
    return DecisionItem(
        **dict(decision),
        through=through,
        anchor_id=lead.id if lead else None,
        hint=lead.hint if lead else None,
        path=path,
    )


def evidence_item(card: EvidenceCard, lead: Lead | None, path: tuple[PathEdge, ...] = ()) -> EvidenceItem:
    """Evidence as an item of a layer."""
    return EvidenceItem(
        **dict(card), anchor_id=lead.id if lead else None, hint=lead.hint if lead else None, path=path
    )


def reached_item(
    found: Decision | EvidenceCard, lead: Lead | None, path: tuple[PathEdge, ...]
) -> DecisionItem | EvidenceItem:
    """What a walk has reached, as an item."""
    if isinstance(found, Decision):
        return decision_item(found, _through(lead), lead, path)
    return evidence_item(found, lead, path)


def _through(lead: Lead | None) -> Through:
    return "anchor" if lead else "relation"


def _strong_roots(graph: DecisionGraph, domain: str, limit: int) -> tuple[Sequence[UUID], bool]:
    """The domain's own axes and locks, at most `limit` of each, and whether there are more."""
    axes = graph.roots("domain", domain, "axis", limit + 1)
    locks = graph.roots("domain", domain, "lock", limit + 1)
    return [*axes[:limit], *locks[:limit]], max(len(axes), len(locks)) > limit


def _foundations(graph: DecisionGraph, origins: Sequence[UUID], limit: int) -> tuple[list[ImpactNode], bool]:
    """What these decisions rest on, each with its relation, and whether there is more."""
    above = graph.declared_to(origins, ("CONSTRAINS",), limit + 1)
    under = graph.declared_from(origins, (*FOUNDATION_TYPES, "VALIDATES"), limit + 1)
    relations = [*above[:limit], *under[:limit]]
    ends = {(one.source if one.type == "CONSTRAINS" else one.target): one for one in reversed(relations)}
    nodes = [
        ImpactNode(root_id=root_id, distance=1, path=(path_edge(relation),))
        for root_id, relation in ends.items()
    ]
    return nodes, max(len(above), len(under)) > limit


def _structural_item(decision: Decision, node: ImpactNode, *, is_affected: bool) -> StructuralItem:
    return StructuralItem(
        root_id=decision.root_id,
        strength=decision.strength,
        scope=decision.scope,
        domain=decision.domain,
        is_affected=is_affected,
        distance=node.distance,
        path=node.path,
    )


def _previous_root(node: ImpactNode) -> UUID:
    """The decision before this one on its path."""
    last = node.path[-1]
    return last.target if last.source == node.root_id else last.source


def _cited(decisions: Iterable[Decision]) -> Iterator[tuple[UUID, UUID]]:
    """Pairs of evidence id and the decision that cites it."""
    for decision in decisions:
        for evidence_id in decision.evidence_ids:
            yield evidence_id, decision.root_id
