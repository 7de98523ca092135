"""Contract suite for stores of facts. Subclass it and define the fixture `scope_of`.

class TestMyFacts(FactStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok.errors import NotFound
from gieok.memory.canon.records import Fact, FactChange, FactDraft, FactVersion
from gieok.memory.canon.store import CanonView
from gieok.memory.observations import Category

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ALL = 1_000_000


class CanonScope(Protocol):
    """One owner's canon, with one transaction per call."""

    async def read(self, work: Callable[[CanonView], T]) -> T: ...
    async def write(self, work: Callable[[CanonView], T]) -> T: ...


ScopeOf = Callable[[str], CanonScope]


def fact(value: str = "900점", key: str = "토익", **given: Any) -> FactDraft:
    """A goal that the user stated. Other fields can be set."""
    said: dict[str, Any] = {"category": Category.GOAL, "importance": 5, "provenance": "user"}
    return FactDraft(key=key, value=value, **said | given)


async def save(scope: CanonScope, draft: FactDraft, persona: str = "hana", minute: int = 0) -> FactChange:
    """Save one fact, this many minutes after the start."""
    at = START + timedelta(minutes=minute)
    return await scope.write(lambda view: view.facts.save(persona, draft, version_id=uuid4(), at=at))


async def retract(scope: CanonScope, draft: FactDraft, persona: str = "hana") -> FactChange:
    """Retract the fact with this category and key."""
    return await scope.write(lambda view: view.facts.retract(persona, draft.category, draft.key, at=START))


async def active(
    scope: CanonScope, persona: str = "hana", *, only_state: bool = False, limit: int = ALL
) -> Sequence[Fact]:
    """The active facts of a persona."""
    return await scope.read(lambda view: view.facts.active(persona, only_state=only_state, limit=limit))


async def values(scope: CanonScope, persona: str = "hana", **options: Any) -> list[str]:
    """The values of the active facts, in order."""
    return [each.value for each in await active(scope, persona, **options)]


async def history(scope: CanonScope, root_id: UUID, persona: str = "hana") -> Sequence[FactVersion]:
    """The whole chain of a fact."""
    return await scope.read(lambda view: view.facts.history(persona, root_id, after=0, limit=ALL))


def root_of(change: FactChange) -> UUID:
    """The root id of the changed fact."""
    assert change.fact is not None
    return change.fact.root_id


def said(versions: Sequence[FactVersion]) -> list[tuple[int, str, bool]]:
    """Number, value and whether it is active, of each version."""
    return [(version.version, version.value, version.is_active) for version in versions]


class FactStoreContract:
    """Run against every store of facts."""

    @pytest.mark.req("CANON-6")
    async def test_another_value_supersedes_and_the_old_one_stays_readable(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"), minute=1)
        second = await save(scope, fact("950점", importance=8, provenance="model"), minute=2)
        assert (first.outcome, second.outcome) == ("added", "superseded")
        assert await active(scope) == [second.fact]
        assert second.fact is not None
        assert (second.fact.version, second.fact.importance, second.fact.provenance) == (2, 8, "model")
        assert second.fact.valid_from == START + timedelta(minutes=2)
        assert said(await history(scope, root_of(first))) == [(1, "900점", False), (2, "950점", True)]

    @pytest.mark.req("CANON-6")
    @pytest.mark.parametrize("again", ["Busan Station", "busan  station", "ＢＵＳＡＮ station"])
    async def test_the_same_value_again_changes_nothing(self, scope_of: ScopeOf, again: str) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("Busan Station", importance=5))
        second = await save(scope, fact(again, importance=9), minute=1)
        assert second == FactChange(outcome="unchanged", fact=first.fact)
        assert len(await history(scope, root_of(first))) == 1

    async def test_an_edit_by_hand_always_makes_a_version(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await save(scope, fact("busan"))
        assert (await save(scope, fact("Busan", provenance="hand"))).outcome == "superseded"
        assert (await save(scope, fact("Busan", provenance="hand", importance=9))).outcome == "superseded"
        assert (await save(scope, fact("Busan", provenance="hand", importance=9))).outcome == "unchanged"
        assert [(each.value, each.importance) for each in await active(scope)] == [("Busan", 9)]

    async def test_keys_are_normalised_within_a_category(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await save(scope, fact("one", "Home Town"))
        assert (await save(scope, fact("two", " home  town "))).outcome == "superseded"
        assert (await save(scope, fact("three", "home town", category=Category.OTHER))).outcome == "added"
        assert sorted(await values(scope)) == ["three", "two"]

    @pytest.mark.req("CANON-6")
    async def test_a_retraction_retires_and_the_history_stays(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"))
        assert await retract(scope, fact()) == FactChange(outcome="retired", fact=first.fact)
        assert await active(scope) == []
        assert said(await history(scope, root_of(first))) == [(1, "900점", False)]
        assert (await retract(scope, fact())).outcome == "unknown"

    @pytest.mark.req("CANON-6")
    async def test_a_retired_fact_can_be_saved_again(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"))
        await retract(scope, fact())
        again = await save(scope, fact("900점"))
        assert (again.outcome, root_of(again)) == ("added", root_of(first))
        assert said(await history(scope, root_of(first))) == [(1, "900점", False), (2, "900점", True)]

    async def test_retracting_an_unknown_fact_changes_nothing(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await save(scope, fact("900점"))
        for other in (fact(key="다른 목표"), fact(category=Category.EVENT)):
            assert await retract(scope, other) == FactChange(outcome="unknown", fact=None)
        assert await values(scope) == ["900점"]

    @pytest.mark.req("CANON-4")
    @pytest.mark.parametrize("only_state", [True, False])
    async def test_the_most_important_come_first_then_the_newest(
        self, scope_of: ScopeOf, only_state: bool
    ) -> None:
        scope = scope_of("minsu")
        await save(scope, fact("old", "a", importance=5), minute=1)
        await save(scope, fact("low", "b", importance=1), minute=9)
        await save(scope, fact("new", "c", importance=5), minute=2)
        await save(scope, fact("high", "d", importance=9), minute=0)
        assert await values(scope, only_state=only_state) == ["high", "new", "old", "low"]
        assert await values(scope, only_state=only_state, limit=2) == ["high", "new"]
        await save(scope, fact("old, changed", "a", importance=5), minute=3)
        assert await values(scope, only_state=only_state) == ["high", "old, changed", "new", "low"]

    @pytest.mark.req("CANON-2")
    async def test_only_five_categories_are_state(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        for category in Category:
            await save(scope, fact(category, category=category))
        state = {"RELATIONSHIP", "GOAL", "EVENT", "HABIT", "OPINION"}
        assert set(await values(scope, only_state=True)) == state
        assert set(await values(scope)) == state | {"PERSONAL_INFO", "PREFERENCE", "OTHER"}

    @pytest.mark.req("COMP-7")
    async def test_owners_and_personas_are_isolated(self, scope_of: ScopeOf) -> None:
        minsu, other = scope_of("minsu"), scope_of("other")
        kept = await save(minsu, fact("minsu and hana"))
        await save(minsu, fact("minsu and duri"), "duri")
        await save(other, fact("other and hana"))
        assert await values(minsu) == ["minsu and hana"]
        assert await values(minsu, "duri") == ["minsu and duri"]
        assert await values(other) == ["other and hana"]
        for scope, persona in ((minsu, "duri"), (other, "hana")):
            assert await history(scope, root_of(kept), persona) == []
            with pytest.raises(NotFound):
                await _retire(scope, root_of(kept), persona)
        assert await values(minsu) == ["minsu and hana"]

    async def test_a_fact_is_retired_by_its_root_id(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = await save(scope, fact("900점"))
        assert await _retire(scope, root_of(kept)) == FactChange(outcome="retired", fact=kept.fact)
        assert await active(scope) == []
        for gone in (root_of(kept), uuid4()):
            with pytest.raises(NotFound):
                await _retire(scope, gone)

    @pytest.mark.req("CANON-6")
    async def test_exactly_one_version_is_active_under_many_writers(self, scope_of: ScopeOf) -> None:
        """Even if all of them begin the fact at the same moment."""
        scope = scope_of("minsu")
        changes = await asyncio.gather(*(save(scope, fact(f"value {number}")) for number in range(16)))
        assert sorted(change.outcome for change in changes) == ["added"] + ["superseded"] * 15
        (root,) = {root_of(change) for change in changes}
        versions = await history(scope, root)
        assert [version.version for version in versions] == list(range(1, 17))
        assert {version.value for version in versions} == {f"value {number}" for number in range(16)}
        assert [version.value for version in versions if version.is_active] == await values(scope)

    @pytest.mark.req("CANON-6")
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    async def test_any_sequence_of_operations_agrees_with_a_dictionary(
        self, scope_of: ScopeOf, data: st.DataObject
    ) -> None:
        """Saves and retractions in any order, of two personas, against a plain dictionary."""
        scope = scope_of("minsu")
        personas = [uuid4().hex, uuid4().hex]
        expected: dict[tuple[str, str], str] = {}
        for _ in range(data.draw(st.integers(0, 12))):
            persona, key = data.draw(st.sampled_from(personas)), data.draw(st.sampled_from("abc"))
            value = data.draw(st.sampled_from(["one", "two", None]))
            if value is None:
                change = await retract(scope, fact(key=key), persona)
                assert change.outcome == ("retired" if expected.pop((persona, key), None) else "unknown")
            else:
                change = await save(scope, fact(value, key), persona)
                before = expected.get((persona, key))
                changed = "unchanged" if before == value else "superseded" if before else "added"
                assert change.outcome == changed
                expected[persona, key] = value
        for persona in personas:
            found = {(persona, each.key): each.value for each in await active(scope, persona)}
            assert found == {place: value for place, value in expected.items() if place[0] == persona}


async def _retire(scope: CanonScope, root_id: UUID, persona: str = "hana") -> FactChange:
    return await scope.write(lambda view: view.facts.retire(persona, root_id, at=START))
