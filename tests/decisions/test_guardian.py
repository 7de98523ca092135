"""The guardian reports constraints, conflicts and impact of a proposal by its relations. It never blocks."""

from __future__ import annotations

from uuid import UUID

import pytest

from gieok import Gieok
from gieok.app.decisions import Decisions
from gieok.errors import InputRefused, NotFound
from gieok.memory.decisions.graph.guardian import Concern, guard
from gieok.memory.decisions.graph.impact import PROPOSED
from gieok.memory.decisions.records import (
    Decision,
    DecisionProposal,
    ProposedRelation,
    RelationType,
    Strength,
)
from tests.decisions.conftest import QueryLog


def proposal(
    *relations: tuple[RelationType, Decision], strength: Strength = "normal", of: Decision | None = None
) -> DecisionProposal:
    return DecisionProposal(
        statement="a proposal",
        strength=strength,
        scope="global",
        root_id=of.root_id if of else None,
        relations=tuple(ProposedRelation(type=type_, target=target.root_id) for type_, target in relations),
    )


async def save(decisions: Decisions, statement: str, strength: Strength = "normal") -> Decision:
    return await decisions.save(DecisionProposal(statement=statement, strength=strength, scope="global"))


def plain(concerns: tuple[Concern, ...]) -> list[tuple[str, Strength, list[tuple[UUID, str, UUID]]]]:
    return [
        (one.statement, one.strength, [(edge.source, edge.type, edge.target) for edge in one.path])
        for one in concerns
    ]


@pytest.mark.req("DEC-9")
async def test_a_change_is_reported_with_impact_constraints_conflicts_and_validations(
    decisions: Decisions,
) -> None:
    lot = await save(decisions, "count by lot", "lock")
    screen, audit = await save(decisions, "show lots"), await save(decisions, "audit of 2025")
    ledger, rival = await save(decisions, "one ledger", "axis"), await save(decisions, "count by pallet")
    await decisions.relate(screen.root_id, "IMPLEMENTS", lot.root_id)
    await decisions.relate(audit.root_id, "VALIDATES", lot.root_id)
    await decisions.relate(ledger.root_id, "CONSTRAINS", lot.root_id)
    await decisions.relate(rival.root_id, "CONFLICTS_WITH", lot.root_id)
    report = (await decisions.propose(proposal(of=lot, strength="lock"))).report
    assert {node.root_id for node in report.impact.nodes} == {screen.root_id, audit.root_id, rival.root_id}
    assert report.impact.origin == lot.root_id
    assert plain(report.constrained_by) == [
        ("one ledger", "axis", [(ledger.root_id, "CONSTRAINS", lot.root_id)])
    ]
    assert plain(report.conflicts) == [
        ("count by pallet", "normal", [(rival.root_id, "CONFLICTS_WITH", lot.root_id)])
    ]
    assert plain(report.lapsing) == [("audit of 2025", "normal", [(audit.root_id, "VALIDATES", lot.root_id)])]
    assert not report.truncated


@pytest.mark.req("DEC-9", "DEC-2")
async def test_a_new_proposal_is_reported_by_its_proposed_relations(
    decisions: Decisions,
) -> None:
    """Its impact includes what it would constrain and everything that depends on that."""
    lot, ledger = await save(decisions, "count by lot", "lock"), await save(decisions, "one ledger", "axis")
    screen, rival = await save(decisions, "show lots"), await save(decisions, "count by pallet", "lock")
    deeper = await save(decisions, "print lots")
    await decisions.relate(ledger.root_id, "CONSTRAINS", lot.root_id)
    await decisions.relate(deeper.root_id, "DEPENDS_ON", screen.root_id)
    made = await decisions.propose(
        proposal(("REFINES", lot), ("CONSTRAINS", screen), ("CONFLICTS_WITH", rival))
    )
    impact = made.report.impact
    assert impact.origin == PROPOSED
    assert {node.root_id: node.distance for node in impact.nodes} == {
        screen.root_id: 1,
        rival.root_id: 1,
        deeper.root_id: 2,
    }
    assert plain(made.report.constrained_by) == [
        (
            "one ledger",
            "axis",
            [(ledger.root_id, "CONSTRAINS", lot.root_id), (PROPOSED, "REFINES", lot.root_id)],
        )
    ]
    assert plain(made.report.conflicts) == [
        ("count by pallet", "lock", [(PROPOSED, "CONFLICTS_WITH", rival.root_id)])
    ]
    assert made.report.lapsing == ()


@pytest.mark.req("DEC-9", "DEC-7")
@pytest.mark.parametrize(
    ("strength", "stronger"), [("axis", []), ("lock", ["axis"]), ("normal", ["axis", "lock"])]
)
async def test_only_stronger_decisions_are_reported_as_constraints(
    decisions: Decisions, strength: Strength, stronger: list[str]
) -> None:
    """Strongest first, independent of the order of declaration."""
    subject = await save(decisions, "subject")
    strengths: list[Strength] = ["normal", "lock", "axis"]
    for each in strengths:
        by = await save(decisions, each, each)
        await decisions.relate(by.root_id, "CONSTRAINS", subject.root_id)
    report = (await decisions.propose(proposal(of=subject, strength=strength))).report
    assert [one.statement for one in report.constrained_by] == stronger


@pytest.mark.req("DEC-9")
async def test_a_reported_proposal_can_still_be_saved(decisions: Decisions) -> None:
    """With a constraint, a conflict and a lapsing validation."""
    subject, axis = await save(decisions, "subject"), await save(decisions, "axis", "axis")
    await decisions.relate(axis.root_id, "CONSTRAINS", subject.root_id)
    await decisions.relate(axis.root_id, "CONFLICTS_WITH", subject.root_id)
    await decisions.relate(axis.root_id, "VALIDATES", subject.root_id)
    change = proposal(of=subject)
    report = (await decisions.propose(change)).report
    assert report.constrained_by
    assert report.conflicts
    assert report.lapsing
    saved = await decisions.save(change, expected_version=1)
    assert (saved.version, saved.is_active) == (2, True)


@pytest.mark.req("DEC-9", "DEC-11")
async def test_the_guardian_does_not_compare_text(decisions: Decisions, query_log: QueryLog) -> None:
    """An unrelated decision with the same statement is not in the report."""
    await save(decisions, "a proposal", "axis")
    subject = await save(decisions, "a proposal")
    query_log.queries.clear()
    report = (await decisions.propose(proposal(of=subject))).report
    assert (report.impact.nodes, report.constrained_by, report.conflicts, report.lapsing) == ((), (), (), ())
    assert not [name for name in query_log.names if "search" in name or "posting" in name]


@pytest.mark.req("DEC-9")
async def test_a_decision_is_reported_once(decisions: Decisions) -> None:
    """Also where both sides declared the conflict and the proposal declares it again."""
    subject, rival = await save(decisions, "subject"), await save(decisions, "rival")
    await decisions.relate(subject.root_id, "CONFLICTS_WITH", rival.root_id)
    await decisions.relate(rival.root_id, "CONFLICTS_WITH", subject.root_id)
    report = (await decisions.propose(proposal(("CONFLICTS_WITH", rival), of=subject))).report
    assert [one.root_id for one in report.conflicts] == [rival.root_id]
    assert [node.root_id for node in report.impact.nodes] == [rival.root_id]


async def test_a_proposal_with_a_missing_or_self_referencing_target_is_refused(decisions: Decisions) -> None:
    known = await save(decisions, "known")
    unknown = known.model_copy(update={"root_id": UUID(int=7, version=4)})
    with pytest.raises(NotFound):
        await decisions.propose(proposal(("REFINES", unknown)))
    with pytest.raises(NotFound):
        await decisions.propose(proposal(of=unknown))
    with pytest.raises(InputRefused, match="itself"):
        await decisions.propose(proposal(("REFINES", known), of=known))


@pytest.mark.req("DEC-9")
@pytest.mark.parametrize(("limit", "truncated"), [(1, True), (2, False)])
async def test_truncated_is_set_only_where_there_are_more_constraints(
    gieok: Gieok, limit: int, truncated: bool
) -> None:
    """There are two constraints, so a limit of two truncates nothing."""
    decisions = gieok.user("minsu").decisions
    lot = await save(decisions, "count by lot")
    for number in range(2):
        above = await save(decisions, f"above {number}", "axis")
        await decisions.relate(above.root_id, "CONSTRAINS", lot.root_id)
    scope = gieok.scope("minsu")
    report = await scope.read(lambda view: guard(view, proposal(of=lot), depth=1, limit=limit))
    assert (report.truncated, len(report.constrained_by)) == (truncated, limit)
