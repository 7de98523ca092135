"""Contract suite for stores of companion memory. Subclass it and define the fixture `scope_of`.

class TestMyStore(CompanionStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

import pytest

from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.companion.records import (
    Emotion,
    EmotionalMoment,
    Memory,
    MemoryConfig,
    MemoryCounts,
    MemoryPage,
    MomentPosition,
)
from gieok.memory.companion.store import AnalyzedRow, CompanionView, MemoryStatus

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class CompanionScope(Protocol):
    """One owner's companion memory, with one transaction per call."""

    async def read(self, work: Callable[[CompanionView], T]) -> T: ...
    async def write(self, work: Callable[[CompanionView], T]) -> T: ...


ScopeOf = Callable[[str], CompanionScope]


def memory(summary: str = "사용자가 면접을 앞두고 있음.", *, minute: int = 0, **given: Any) -> Memory:
    """A memory made this many minutes after the start. Any field can be set."""
    at = START + timedelta(minutes=minute)
    values: dict[str, Any] = {
        "id": uuid4(),
        "persona_id": "hana",
        "session_ref": None,
        "topics": (),
        "emotion": Emotion.CALM,
        "importance": 5,
        "tags": (),
        "speaker": None,
        "origin": "summary",
        "created_at": at,
        "occurred_at": at,
        "archived_at": None,
        "version": 1,
    }
    return Memory(summary=summary, **{**values, **given})


async def save(scope: CompanionScope, *memories: Memory) -> None:
    """Save all of them in one transaction."""

    def save_all(view: CompanionView) -> None:
        for each in memories:
            view.companion.save([each])

    await scope.write(save_all)


async def listed(
    scope: CompanionScope,
    persona: str | None = "hana",
    status: MemoryStatus = "all",
    limit: int = 100,
    offset: int = 0,
) -> MemoryPage:
    """A page of the list."""
    return await scope.read(lambda view: view.companion.list(persona, status, limit, offset))


async def loaded(scope: CompanionScope, persona: str = "hana", limit: int = 5) -> list[UUID]:
    """The ids of the memories that a new conversation loads."""
    found = await scope.read(lambda view: view.companion.load(persona, limit))
    return [one.id for one in found]


async def counted(scope: CompanionScope, persona: str | None = "hana") -> MemoryCounts:
    """The counts of a persona."""
    return await scope.read(lambda view: view.companion.counts(persona))


async def found(
    scope: CompanionScope, term: str, persona: str = "hana", *, include_archived: bool = False
) -> list[UUID]:
    """The ids of the memories that the index finds by one term, newest first."""

    def find(view: CompanionView) -> list[AnalyzedRow]:
        index = view.companion.index(persona, include_archived=include_archived)
        match = index.find([term]).get(term)
        return list(index.open(match.rows[::-1].tolist())) if match else []

    return [row.record.id for row in await scope.read(find) if isinstance(row.record, Memory)]


def ids(memories: Sequence[Memory]) -> list[UUID]:
    """The ids of memories, in their order."""
    return [one.id for one in memories]


class CompanionStoreContract:
    """Run against every store of companion memory."""

    @pytest.mark.req("COMP-9")
    async def test_a_saved_memory_is_returned_unchanged(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = memory(
            "사용자가 새 영화를 봤고 재미있었다고 함.",
            session_ref="s1",
            topics=("영화", "여가활동"),
            emotion=Emotion.JOY,
            importance=7,
            tags=("주말",),
            speaker="민수",
            origin="manual",
            occurred_at=START - timedelta(days=400, microseconds=1),
        )
        await save(scope, kept)
        assert await scope.read(lambda view: view.companion.get(kept.id)) == kept
        assert (await listed(scope)).memories == (kept,)
        assert await scope.read(lambda view: view.companion.get(uuid4())) is None

    async def test_an_id_cannot_be_saved_twice(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = memory()
        await save(scope, kept)
        with pytest.raises(Conflict, match=str(kept.id)):
            await save(scope, kept)
        assert await counted(scope) == MemoryCounts(active=1, archived=0)

    @pytest.mark.req("COMP-4", "COMP-6")
    async def test_loading_is_ordered_by_importance_then_newest(self, scope_of: ScopeOf) -> None:
        """Memories with the same time are ordered by creation."""
        scope = scope_of("minsu")
        old, middle, new, same = (memory(importance=4, minute=minute) for minute in (0, 1, 2, 2))
        best, archived = memory(importance=9), memory(importance=10, archived_at=START)
        await save(scope, middle, best, old, new, same, archived)
        assert await loaded(scope) == ids([best, same, new, middle, old])
        assert await loaded(scope, limit=2) == ids([best, same])

    @pytest.mark.req("COMP-4")
    async def test_only_the_newest_memory_with_the_same_topics_is_loaded(self, scope_of: ScopeOf) -> None:
        """Order, case and width of topics do not matter. Memories without topics are all loaded."""
        scope = scope_of("minsu")
        older = memory(topics=("영화", "IT"), importance=9)
        newer = memory(topics=("ｉｔ", "영화 ", "IT"), importance=3, minute=1)
        other = memory(topics=("영화",), importance=4)
        bare = memory(importance=2), memory(importance=1)
        await save(scope, newer, older, other, *bare)
        assert await loaded(scope) == ids([other, newer, *bare])

    @pytest.mark.req("COMP-7", "OPS-4")
    async def test_owners_and_personas_are_isolated(self, scope_of: ScopeOf) -> None:
        minsu, jiyoung = scope_of("minsu"), scope_of("지영")
        hana, duri = memory("면접", topics=("면접",)), memory("면접", topics=("면접",), persona_id="duri")
        other = memory("면접", topics=("면접",), minute=5)
        await save(minsu, hana, duri)
        await save(jiyoung, other)
        for scope, persona, own in ((minsu, "hana", hana), (minsu, "duri", duri), (jiyoung, "hana", other)):
            assert await loaded(scope, persona) == [own.id]
            assert await found(scope, "면접", persona) == [own.id]
            assert (await listed(scope, persona)).memories == (own,)
            assert await counted(scope, persona) == MemoryCounts(active=1, archived=0)
        assert await jiyoung.read(lambda view: view.companion.get(hana.id)) is None
        changes: list[Callable[[CompanionView], None]] = [
            lambda view: view.companion.delete(hana.id),
            lambda view: view.companion.archive(hana.id, START),
            lambda view: view.companion.restore(hana.id),
        ]
        for change in changes:
            with pytest.raises(NotFound):
                await jiyoung.write(change)

    @pytest.mark.req("COMP-9")
    async def test_a_list_has_pages_a_total_and_filters(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        made = [memory(minute=minute) for minute in range(5)]
        put_away = memory(minute=9, archived_at=START + timedelta(minutes=10))
        of_duri = memory(persona_id="duri", minute=20)
        await save(scope, *made, put_away, of_duri)
        newest = ids(made[::-1])
        first = await listed(scope, status="active", limit=2)
        assert (ids(first.memories), first.total, first.has_more) == (newest[:2], 5, True)
        last = await listed(scope, status="active", limit=2, offset=4)
        assert (ids(last.memories), last.total, last.has_more) == (newest[4:], 5, False)
        beyond = await listed(scope, status="active", offset=50)
        assert (beyond.memories, beyond.total, beyond.has_more) == ((), 5, False)
        assert ids((await listed(scope, status="archived")).memories) == [put_away.id]
        everything = await listed(scope, None)
        assert (ids(everything.memories), everything.total) == ([of_duri.id, put_away.id, *newest], 7)
        assert ids((await listed(scope, None, "active", limit=2)).memories) == [of_duri.id, newest[0]]

    @pytest.mark.req("COMP-8")
    async def test_counts_follow_every_change(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        one, two = memory(), memory(minute=1)
        await save(scope, one, two, memory(persona_id="duri"))
        await scope.write(lambda view: view.companion.archive(one.id, START))
        await scope.write(lambda view: view.companion.archive(one.id, START + timedelta(hours=1)))
        assert await counted(scope) == MemoryCounts(active=1, archived=1)
        assert await counted(scope, None) == MemoryCounts(active=2, archived=1)
        await scope.write(lambda view: view.companion.restore(one.id))
        await scope.write(lambda view: view.companion.restore(one.id))
        assert await counted(scope) == MemoryCounts(active=2, archived=0)
        await scope.write(lambda view: view.companion.delete(two.id))
        assert await counted(scope) == MemoryCounts(active=1, archived=0)
        assert await counted(scope, "nobody") == MemoryCounts(active=0, archived=0)

    @pytest.mark.req("COMP-9")
    async def test_the_index_follows_every_change(self, scope_of: ScopeOf) -> None:
        """Found by text, topic, tag and speaker; archived only on request; not by removed words."""
        scope = scope_of("minsu")
        kept = memory("내일 면접이 있음", topics=("취업",), tags=("긴장",), speaker="민수")
        await save(scope, kept)
        for term in ("면접", "취업", "긴장", "민수"):
            assert await found(scope, term) == [kept.id]
        await scope.write(lambda view: view.companion.archive(kept.id, START))
        assert await found(scope, "면접") == []
        assert await found(scope, "면접", include_archived=True) == [kept.id]
        await scope.write(lambda view: view.companion.restore(kept.id))
        edited = kept.model_copy(update={"summary": "내일 시험이 있음", "version": 2})
        await scope.write(lambda view: view.companion.replace(edited))
        assert (await found(scope, "면접"), await found(scope, "시험")) == ([], [kept.id])
        await scope.write(lambda view: view.companion.delete(kept.id))
        assert await found(scope, "시험", include_archived=True) == []

    @pytest.mark.req("COMP-9")
    async def test_a_match_has_the_memory_the_term_count_and_the_length(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await save(
            scope,
            memory("면접 면접 회사"),
            memory("회사 점심"),
            memory("면접", archived_at=START),
            memory("면접", persona_id="duri"),
        )

        async def matches(*, archived: bool = True) -> dict[str, list[tuple[int, int, int]]]:
            def find(view: CompanionView) -> dict[str, list[tuple[int, int, int]]]:
                index = view.companion.index("hana", include_archived=archived)
                columns = index.rows.columns
                return {
                    term: [
                        (int(columns.numbers[row]), int(count), int(columns.own_words[row]))
                        for row, count in zip(match.rows, match.own, strict=True)
                    ]
                    for term, match in index.find(["면접", "회사", "없음"]).items()
                }

            return await scope.read(find)

        assert await matches(archived=False) == {"면접": [(1, 2, 3)], "회사": [(1, 1, 3), (2, 1, 2)]}
        assert await matches() == {"면접": [(1, 2, 3), (3, 1, 1)], "회사": [(1, 1, 3), (2, 1, 2)]}

    async def test_neighbours_are_ordered_by_session_and_time(self, scope_of: ScopeOf) -> None:
        """Then by creation. Memories without a session and, by default, archived ones are left out."""
        scope = scope_of("minsu")
        members = [memory(session_ref="s1") for _ in range(4)]
        apart, archived = memory(session_ref="s2"), memory(session_ref="s1", archived_at=START)
        await save(scope, *members[:2], apart, archived, *members[2:], memory(), memory())

        def order(view: CompanionView, *, include_archived: bool) -> tuple[list[int], list[bool], list[bool]]:
            index = view.companion.index("hana", include_archived=include_archived)
            rows, next_is_near, second_is_near = index.neighbours
            return index.rows.columns.numbers[rows].tolist(), next_is_near.tolist(), second_is_near.tolist()

        active = await scope.read(lambda view: order(view, include_archived=False))
        assert active == ([1, 2, 5, 6, 3], [True, True, True, False], [True, True, False])
        numbers, *_ = await scope.read(lambda view: order(view, include_archived=True))
        assert numbers == [1, 2, 4, 5, 6, 3]

    @pytest.mark.req("COMP-9")
    async def test_a_stale_version_is_a_conflict(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = memory()
        await save(scope, kept)
        second = kept.model_copy(update={"importance": 9, "version": 2})
        await scope.write(lambda view: view.companion.replace(second))
        with pytest.raises(Conflict):
            await scope.write(lambda view: view.companion.replace(second))
        assert await scope.read(lambda view: view.companion.get(kept.id)) == second

    @pytest.mark.req("COMP-8")
    async def test_moments_belong_to_their_memory(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first, second = memory(), memory(minute=1)
        moments = [
            EmotionalMoment(
                id=uuid4(),
                persona_id="hana",
                memory_id=one.id,
                emotion=Emotion.JOY,
                intensity=9,
                moment="합격했다는 소식을 들음.",
                at=one.occurred_at,
            )
            for one in (first, second)
        ]

        def keep(view: CompanionView) -> None:
            for one in moments:
                view.companion.save_moment(one)

        await save(scope, first, second)
        await scope.write(keep)
        assert list(await scope.read(lambda view: view.companion.moments("hana", 10, None))) == moments[::-1]
        newest = MomentPosition(at=moments[-1].at, id=moments[-1].id)
        older = await scope.read(lambda view: view.companion.moments("hana", 10, newest))
        assert list(older) == moments[-2::-1]
        assert list(await scope.read(lambda view: view.companion.moments("duri", 10, None))) == []
        await scope.write(lambda view: view.companion.delete(second.id))
        assert list(await scope.read(lambda view: view.companion.moments("hana", 10, None))) == moments[:1]

    @pytest.mark.req("COMP-8")
    async def test_settings_are_per_persona(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        chosen = MemoryConfig(recall=False, active_limit=3)
        await scope.write(lambda view: view.companion.configure("hana", chosen))
        assert await scope.read(lambda view: view.companion.config("hana")) == chosen
        untouched = await scope.read(lambda view: view.companion.config("duri"))
        assert untouched == MemoryConfig(recall=True, active_limit=None)

    @pytest.mark.parametrize("persona", ["", "a b", "a\nb", "'; DROP TABLE memories; --", "x" * 129])
    async def test_a_hostile_persona_is_refused(self, scope_of: ScopeOf, persona: str) -> None:
        with pytest.raises(InputRefused, match="personaId"):
            await loaded(scope_of("minsu"), persona)

    @pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (1_001, 0), (1, -1)])
    async def test_limit_and_offset_are_checked(self, scope_of: ScopeOf, limit: int, offset: int) -> None:
        with pytest.raises(InputRefused):
            await listed(scope_of("minsu"), limit=limit, offset=offset)
