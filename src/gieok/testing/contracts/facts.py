"""Contract suite for stores of facts. Subclass it and define the fixture `scope_of`.

class TestMyFacts(FactStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok.errors import Conflict, NotFound
from gieok.memory.canon.records import (
    Fact,
    FactChange,
    FactDraft,
    FactSource,
    FactVersion,
    PlannedChange,
)
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
    return await scope.write(lambda view: view.facts.save(persona, draft, at=at))


async def retire(scope: CanonScope, root_id: UUID, persona: str = "hana", minute: int = 0) -> FactChange:
    """Retire one fact, this many minutes after the start."""
    at = START + timedelta(minutes=minute)
    return await scope.write(lambda view: view.facts.retire(persona, root_id, at=at))


async def apply(
    scope: CanonScope, changes: Sequence[PlannedChange], persona: str = "hana", minute: int = 0
) -> Sequence[FactChange]:
    """Apply planned changes, this many minutes after the start."""
    at = START + timedelta(minutes=minute)
    return await scope.write(lambda view: view.facts.apply(persona, changes, at=at))


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

    async def test_all_facts_of_a_persona_are_listed_last_changed_first(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        old = root_of(await save(scope, fact(key="토익"), minute=1))
        new = root_of(await save(scope, fact(key="오픽"), minute=2))
        await save(scope, fact(key="토플"), persona="duri", minute=3)
        await retire(scope, old, minute=4)
        assert list(await scope.read(lambda view: view.facts.roots("hana", limit=ALL))) == [old, new]
        assert list(await scope.read(lambda view: view.facts.roots("hana", limit=1))) == [old]

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

    @pytest.mark.req("MIND-6")
    async def test_one_slot_has_one_fact_under_any_key_and_category(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("지훈과 사귀는 중", "boyfriend", category=Category.RELATIONSHIP))
        again = await save(scope, fact("헤어짐", " 연인 ", category=Category.EVENT, provenance="hand"))
        assert (again.outcome, root_of(again)) == ("superseded", root_of(first))
        assert (await save(scope, fact("민수", "이름", category=Category.OTHER))).outcome == "added"
        assert sorted(await values(scope)) == ["민수", "헤어짐"]

    @pytest.mark.req("MIND-6")
    async def test_things_of_a_plural_slot_have_chains_of_their_own(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        drafts = [fact(value, "pet", category=Category.OTHER) for value in ("고양이 두부", "강아지 콩이")]
        planned = [PlannedChange(outcome="added", root_id=uuid4(), draft=draft) for draft in drafts]
        await apply(scope, planned)
        assert sorted(await values(scope)) == ["강아지 콩이", "고양이 두부"]

    @pytest.mark.req("MIND-6")
    async def test_a_slot_that_was_filled_meanwhile_is_superseded(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("부산", "home"))
        planned = [
            PlannedChange(outcome="added", root_id=uuid4(), draft=fact(value, "사는 곳"))
            for value in ("부산", "서울")
        ]
        changes = await apply(scope, planned)
        assert [(change.outcome, root_of(change)) for change in changes] == [
            ("unchanged", root_of(first)),
            ("superseded", root_of(first)),
        ]
        assert await values(scope) == ["서울"]

    @pytest.mark.req("MIND-7", "MIND-12")
    async def test_subject_time_and_source_are_stored(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        draft = fact(
            subject="person:지연",
            when=date(2026, 1, 9),
            until=date(2026, 1, 10),
            source=FactSource(session_ref="s1", message_id="m1"),
        )
        await save(scope, draft)
        (found,) = await active(scope)
        assert {name: getattr(found, name) for name in FactDraft.model_fields} == dict(draft)

    @pytest.mark.req("CANON-6")
    async def test_a_retired_fact_keeps_its_history(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"))
        retired = await retire(scope, root_of(first), minute=3)
        assert retired == FactChange(outcome="retired", fact=first.fact)
        assert await active(scope) == []
        versions = await history(scope, root_of(first))
        assert said(versions) == [(1, "900점", False)]
        assert versions[0].retired_at == START + timedelta(minutes=3)

    @pytest.mark.req("CANON-6")
    async def test_a_retired_fact_can_be_saved_again(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"))
        await retire(scope, root_of(first))
        again = await save(scope, fact("900점"))
        assert (again.outcome, root_of(again)) == ("added", root_of(first))
        versions = await history(scope, root_of(first))
        assert said(versions) == [(1, "900점", False), (3, "900점", True)]
        assert [version.retired_at is None for version in versions] == [False, True]

    async def test_changes_of_one_plan_follow_each_other(self, scope_of: ScopeOf) -> None:
        """Also where the new fact continues a retired chain, which has another id than the plan gave it."""
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"))
        await retire(scope, root_of(first))
        new = uuid4()
        added = PlannedChange(outcome="added", root_id=new, draft=fact("950점"))
        next_ = PlannedChange(outcome="superseded", root_id=new, expected_version=1, draft=fact("990점"))
        changes = await apply(scope, [added, next_])
        assert [(change.outcome, root_of(change)) for change in changes] == [
            ("added", root_of(first)),
            ("superseded", root_of(first)),
        ]
        assert await values(scope) == ["990점"]

    async def test_a_plan_for_a_version_that_has_changed_is_a_conflict(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"))
        await save(scope, fact("950점"))
        stale = PlannedChange(
            outcome="superseded", root_id=root_of(first), expected_version=1, draft=fact("990점")
        )
        fresh = PlannedChange(outcome="added", root_id=uuid4(), draft=fact("서울", "home"))
        with pytest.raises(Conflict, match="meanwhile"):
            await apply(scope, [fresh, stale])
        await retire(scope, root_of(first))
        with pytest.raises(Conflict, match="meanwhile"):
            await apply(scope, [stale.model_copy(update={"expected_version": 2})])
        assert await values(scope) == []

    @pytest.mark.req("MIND-7")
    async def test_the_facts_of_a_moment_are_those_that_were_true_then(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, fact("900점"), minute=1)
        await save(scope, fact("950점"), minute=3)
        await save(scope, fact("서울", "home"), minute=4)
        await retire(scope, root_of(first), minute=5)
        await save(scope, fact("990점"), minute=7)

        async def at(minute: int) -> list[str]:
            moment = START + timedelta(minutes=minute)
            found = await scope.read(lambda view: view.facts.as_of("hana", moment, limit=ALL))
            return sorted(each.value for each in found)

        assert [await at(minute) for minute in (0, 1, 3, 4, 5, 7)] == [
            [],
            ["900점"],
            ["950점"],
            ["950점", "서울"],
            ["서울"],
            ["990점", "서울"],
        ]

    @pytest.mark.req("MIND-6")
    async def test_facts_that_share_a_slot_leave_the_newest(self, scope_of: ScopeOf) -> None:
        """As in a database whose facts were stored before they had slots."""
        scope = scope_of("minsu")
        old = await save(scope, fact("지훈과 사귀는 중", "연인"), minute=1)
        other = await save(scope, fact("친구와 헤어짐", "학원"), minute=2)
        moved = other.fact and PlannedChange(
            outcome="superseded", root_id=root_of(other), expected_version=1, draft=fact("헤어짐", "남친")
        )
        assert moved is not None
        await apply(scope, [moved], minute=3)
        assert await scope.write(lambda view: view.facts.consolidate(at=START)) == 1
        assert await values(scope) == ["헤어짐"]
        versions = await history(scope, root_of(old))
        assert [(version.retired_at, version.reason) for version in versions] == [(START, "merged")]
        assert await scope.write(lambda view: view.facts.consolidate(at=START)) == 0

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
            await save(scope, fact(category, f"key {category}", category=category))
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
                await retire(scope, root_of(kept), persona)
        assert await values(minsu) == ["minsu and hana"]

    async def test_a_fact_is_retired_by_its_root_id(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = await save(scope, fact("900점"))
        assert await retire(scope, root_of(kept)) == FactChange(outcome="retired", fact=kept.fact)
        assert await active(scope) == []
        for gone in (root_of(kept), uuid4()):
            with pytest.raises(NotFound):
                await retire(scope, gone)

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
                facts = [each for each in await active(scope, persona) if each.key == key]
                assert [each.value for each in facts] == [
                    kept for place, kept in expected.items() if place == (persona, key)
                ]
                for each in facts:
                    await retire(scope, each.root_id, persona)
                    del expected[persona, key]
            else:
                change = await save(scope, fact(value, key), persona)
                before = expected.get((persona, key))
                changed = "unchanged" if before == value else "superseded" if before else "added"
                assert change.outcome == changed
                expected[persona, key] = value
        for persona in personas:
            found = {(persona, each.key): each.value for each in await active(scope, persona)}
            assert found == {place: value for place, value in expected.items() if place[0] == persona}
