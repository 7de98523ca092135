"""Import and export of decisions: an import is atomic and idempotent."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from gieok import Gieok
from gieok.errors import InputRefused, NotFound
from gieok.memory.decisions.exchange import MAX_ENTRIES, DecisionEntry
from gieok.memory.decisions.records import ProposedRelation, Strength
from tests.behind import Behind

ONE, TWO = uuid4(), uuid4()
TABLES = ("chain_versions", "chain_heads", "decision_heads", "search_scopes", "decision_relations")


def entry(
    root_id: UUID,
    statement: str = "one",
    *targets: UUID,
    strength: Strength = "normal",
    with_relations: bool = True,
) -> DecisionEntry:
    relations = tuple(ProposedRelation(type="DEPENDS_ON", target=target) for target in targets)
    return DecisionEntry(
        root_id=root_id,
        statement=statement,
        strength=strength,
        scope="global",
        relations=relations if with_relations else None,
    )


def rows(behind: Behind) -> dict[str, int]:
    return {table: behind.count(table) for table in TABLES}


@pytest.mark.req("DEC-4")
async def test_a_repeated_import_changes_nothing(gieok: Gieok, behind: Behind) -> None:
    """Entries may refer to each other in any order, also in a cycle."""
    exchange = gieok.user("kim").exchange
    entries = [entry(ONE, "one", TWO), entry(TWO, "two", ONE)]
    first = await exchange.import_entries(entries)
    assert [(each.outcome, each.version, each.relations_added) for each in first] == [("added", 1, 1)] * 2
    stored = rows(behind)
    second = await exchange.import_entries(entries)
    assert [(each.outcome, each.version, each.relations_added) for each in second] == [
        ("unchanged", 1, 0)
    ] * 2
    assert rows(behind) == stored


@pytest.mark.req("DEC-4", "DEC-5")
async def test_a_changed_entry_appends_a_version(gieok: Gieok) -> None:
    user = gieok.user("kim")
    await user.exchange.import_entries([entry(ONE), entry(TWO, "two")])
    results = await user.exchange.import_entries([entry(ONE, strength="axis"), entry(TWO, "two")])
    assert [(each.outcome, each.version) for each in results] == [("changed", 2), ("unchanged", 1)]
    assert [each.strength for each in await user.decisions.history(ONE)] == ["normal", "axis"]


async def test_the_relations_of_an_entry_replace_the_stored_ones(gieok: Gieok) -> None:
    """`relations=None` leaves the stored relations unchanged."""
    user = gieok.user("kim")
    await user.exchange.import_entries([entry(ONE), entry(TWO, "two", ONE)])
    (unchanged,) = await user.exchange.import_entries([entry(TWO, "two", with_relations=False)])
    assert (unchanged.outcome, unchanged.relations_removed) == ("unchanged", 0)
    assert len(await user.decisions.relations(TWO)) == 1
    (none,) = await user.exchange.import_entries([entry(TWO, "two")])
    assert (none.outcome, none.relations_removed) == ("unchanged", 1)
    assert await user.decisions.relations(TWO) == []


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize(
    "invalid",
    [
        entry(TWO, "two", uuid4()),
        entry(TWO, "two", TWO),
        entry(TWO, "two").model_copy(update={"evidence_ids": (uuid4(),)}),
    ],
    ids=["unknown target", "itself", "unknown evidence"],
)
async def test_one_invalid_entry_prevents_the_whole_import(
    gieok: Gieok, behind: Behind, invalid: DecisionEntry
) -> None:
    with pytest.raises((NotFound, InputRefused)):
        await gieok.user("kim").exchange.import_entries([entry(ONE), invalid])
    assert set(rows(behind).values()) == {0}


async def test_an_empty_import_is_accepted_and_a_too_large_one_refused(gieok: Gieok) -> None:
    exchange = gieok.user("kim").exchange
    assert await exchange.import_entries([]) == ()
    with pytest.raises(InputRefused, match="at most 5000"):
        await exchange.import_entries([entry(ONE)] * (MAX_ENTRIES + 1))


async def test_an_export_equals_the_import(gieok: Gieok) -> None:
    """More than one page, with relations, and without data of another user."""
    exchange = gieok.user("kim").exchange
    roots = [uuid4() for _ in range(520)]
    entries = [
        entry(root, f"decision {number}", roots[number - 1]) for number, root in enumerate(roots, start=0)
    ]
    await exchange.import_entries(entries)
    await gieok.user("lee").exchange.import_entries([entry(ONE)])
    exported: list[DecisionEntry] = []
    await exchange.export_entries(exported.extend)
    assert {each.root_id: each for each in exported} == {each.root_id: each for each in entries}
    assert len(exported) == len(entries)


@pytest.mark.req("DEC-6")
async def test_an_export_can_be_limited_to_a_domain(gieok: Gieok) -> None:
    exchange = gieok.user("kim").exchange
    ours = DecisionEntry(
        root_id=TWO, statement="x", strength="lock", scope="domain", domain="wms", relations=()
    )
    await exchange.import_entries([entry(ONE), ours])
    exported: list[DecisionEntry] = []
    await exchange.export_entries(exported.extend, domain="WMS")
    assert exported == [ours]
    with pytest.raises(InputRefused, match="domain: "):
        await exchange.export_entries(exported.extend, domain="a b")
