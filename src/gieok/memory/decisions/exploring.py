"""What the structure and the anchors lead to, as items of tiers 2 and 7. Reads inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from uuid import UUID

from gieok.memory.decisions.evidence import Anchor, EvidenceCard, Lead
from gieok.memory.decisions.graph import DecisionGraph, ReadingRooms
from gieok.memory.decisions.guardian import STANDS_ON, declared
from gieok.memory.decisions.impact import blast_radius
from gieok.memory.decisions.layers import DecisionItem, EvidenceItem, StructuralItem, Through
from gieok.memory.decisions.loading import nearest_first, strongest_first
from gieok.memory.decisions.records import Decision, ImpactNode


def structure_around(
    rooms: ReadingRooms, focus: Sequence[UUID], domain: str, *, depth: int, limit: int
) -> tuple[Sequence[StructuralItem], bool]:
    """What stands around the focus, in the order of tier 2, and whether the plan's bounds cut it off.

    That is what a change of the focus reaches, and what the focus itself rests on, one relation away. Without
    a focus it is around the domain's own axes and locks.
    """
    origins, is_cut = (focus, False) if focus else _strong_roots(rooms.graph, domain, limit)
    below, is_cut_below = _below(rooms.graph, origins, limit)
    reach = blast_radius(origins, rooms.graph.edges, depth=depth, limit=limit)
    nodes = {node.root_id: node for node in (*below, *reach.nodes) if node.root_id not in origins}
    affected = {node.root_id for node in reach.nodes}
    items = [
        _structural(decision, nodes[decision.root_id], domain, is_affected=decision.root_id in affected)
        for decision in rooms.decisions.active(list(nodes))
    ]
    return sorted(items, key=nearest_first), reach.truncated or is_cut or is_cut_below


def explore(
    rooms: ReadingRooms, anchors: Iterable[Anchor], *, depth: int, limit: int
) -> tuple[Sequence[DecisionItem | EvidenceItem], bool]:
    """What the anchors lead to, in the order of tier 7, and whether the plan's bounds cut it off.

    At depth 1 that is their targets. Each level more follows the relations of what was found, to at most
    `limit` further decisions, and adds the evidence that the decisions cite, at most `limit` of it.
    """
    roots: dict[UUID, Anchor] = {}
    evidence: dict[UUID, Anchor] = {}
    for anchor in anchors:
        for target in anchor.targets:
            (roots if target.kind == "decision" else evidence).setdefault(target.id, anchor)
    is_cut = False
    if depth > 1:
        reach = blast_radius(tuple(roots), rooms.graph.edges, depth=depth - 1, limit=limit)
        is_cut = reach.truncated
        for node in reach.nodes:
            roots[node.root_id] = roots[_came_from(node)]
    decisions = rooms.decisions.active(list(roots))
    if depth > 1:
        cited = list(islice(_cited(decisions), limit + 1))
        is_cut = is_cut or len(cited) > limit
        for evidence_id, root_id in cited[:limit]:
            evidence.setdefault(evidence_id, roots[root_id])
    cards = rooms.evidence.cards(list(evidence))
    items = [
        *(as_item(decision, "anchor", roots[decision.root_id]) for decision in decisions),
        *(evidence_item(card, evidence[card.id]) for card in cards),
    ]
    return sorted(items, key=strongest_first), is_cut


def as_item(decision: Decision, through: Through, anchor: Anchor | Lead | None = None) -> DecisionItem:
    """A decision as a layer holds it. It was checked when it was read, so it is not checked again."""
    return DecisionItem.trusted(
        **dict(decision),
        kind="decision",
        through=through,
        anchor_id=anchor.id if anchor else None,
        hint=anchor.hint if anchor else None,
    )


def evidence_item(card: EvidenceCard, anchor: Anchor | Lead) -> EvidenceItem:
    """Evidence as a layer holds it."""
    return EvidenceItem(**dict(card), anchor_id=anchor.id, hint=anchor.hint)


def _strong_roots(graph: DecisionGraph, domain: str, limit: int) -> tuple[Sequence[UUID], bool]:
    """The domain's own axes and locks, at most `limit` of each, and whether there are more."""
    axes = graph.roots("domain", domain, "axis", limit + 1)
    locks = graph.roots("domain", domain, "lock", limit + 1)
    return [*axes[:limit], *locks[:limit]], max(len(axes), len(locks)) > limit


def _below(graph: DecisionGraph, origins: Sequence[UUID], limit: int) -> tuple[list[ImpactNode], bool]:
    """What these decisions rest on, each with the relation that says so, and whether there is more."""
    above = graph.declared_to(origins, ("CONSTRAINS",), limit + 1)
    under = graph.declared_from(origins, (*STANDS_ON, "VALIDATES"), limit + 1)
    relations = [*above[:limit], *under[:limit]]
    ends = {(one.source if one.type == "CONSTRAINS" else one.target): one for one in reversed(relations)}
    nodes = [
        ImpactNode(root_id=root_id, distance=1, path=(declared(relation),))
        for root_id, relation in ends.items()
    ]
    return nodes, max(len(above), len(under)) > limit


def _structural(decision: Decision, node: ImpactNode, domain: str, *, is_affected: bool) -> StructuralItem:
    applies_here = decision.scope == "global" or decision.domain == domain
    stands_below = applies_here and decision.strength != "normal"
    return StructuralItem(
        root_id=decision.root_id,
        strength=decision.strength,
        scope=decision.scope,
        domain=decision.domain,
        statement=None if stands_below else decision.statement,
        is_affected=is_affected,
        distance=node.distance,
        path=node.path,
    )


def _came_from(node: ImpactNode) -> UUID:
    """The decision before this one on its path."""
    last = node.path[-1]
    return last.target if last.source == node.root_id else last.source


def _cited(decisions: Iterable[Decision]) -> Iterator[tuple[UUID, UUID]]:
    for decision in decisions:
        for evidence_id in decision.evidence_ids:
            yield evidence_id, decision.root_id
