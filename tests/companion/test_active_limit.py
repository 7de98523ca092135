"""Who gets a place among the active memories, who loses one, and what the user is told."""

from __future__ import annotations

import asyncio
from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok import Gieok, Settings
from gieok.errors import MemoryLimitReached
from gieok.memory.companion.records import (
    Emotion,
    MemoryChanges,
    MemoryConfig,
    MemoryCounts,
    MemoryDraft,
    SavedMemory,
)
from gieok.memory.companion.rules import RankKey, apply_active_limit, topic_set
from gieok.memory.fields import AccountPlan

FULL = "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다."
MORE = "더 많은 메모리를 원하시면 Knock Plus를 이용하세요"


async def create(
    gieok: Gieok,
    importance: int,
    *topics: str,
    persona: str = "hana",
    account: AccountPlan = "free",
    auto_archive: bool = True,
) -> SavedMemory:
    draft = MemoryDraft(
        persona_id=persona,
        summary=f"중요도 {importance}인 일이 있었음.",
        importance=importance,
        topics=topics,
    )
    return await gieok.user("minsu").companion.create(draft, account_plan=account, auto_archive=auto_archive)


async def active(gieok: Gieok, persona: str = "hana") -> set[UUID]:
    page = await gieok.user("minsu").companion.list(persona, limit=100)
    return {memory.id for memory in page.memories}


@pytest.mark.req("COMP-4", "COMP-5")
async def test_the_sixth_memory_of_a_free_account_archives_the_least_important(gieok: Gieok) -> None:
    """Seed 003 §6.2: five stay active, the least important one is archived, and the user is told so."""
    made = [await create(gieok, importance) for importance in (6, 3, 8, 5, 7)]
    assert all(kept.archived == kept.notices == () for kept in made)
    sixth = await create(gieok, 4)
    least = made[1].memory
    assert sixth.archived == (least.id,)
    assert [notice.korean for notice in sixth.notices] == [FULL, MORE]
    assert all(notice.english for notice in sixth.notices)
    companion = gieok.user("minsu").companion
    assert await companion.counts("hana") == MemoryCounts(active=5, archived=1)
    assert (await companion.get(least.id)).archived_at == sixth.memory.created_at
    assert least.id not in await active(gieok)


@pytest.mark.req("COMP-4")
async def test_a_new_memory_that_is_the_least_important_is_archived_itself(gieok: Gieok) -> None:
    for _ in range(5):
        await create(gieok, 6)
    kept = await create(gieok, 2)
    assert kept.archived == (kept.memory.id,)
    assert kept.memory.archived_at == kept.memory.created_at
    assert kept.notices


@pytest.mark.req("COMP-4")
async def test_of_equally_important_memories_the_newest_stay_active(gieok: Gieok) -> None:
    made = [(await create(gieok, 5)).memory.id for _ in range(8)]
    assert await active(gieok) == set(made[3:])


@pytest.mark.req("COMP-4")
async def test_of_memories_with_the_same_topics_only_the_newest_stays_active(gieok: Gieok) -> None:
    """Even when there is room: the place is the newest one's. Nobody is told that memory is full."""
    old = await create(gieok, 9, "영화", "여가")
    new = await create(gieok, 3, "여가", "영화")
    assert new.archived == (old.memory.id,)
    assert [notice.kind for notice in new.notices] == ["topics"]
    assert await active(gieok) == {new.memory.id}


@pytest.mark.req("COMP-4")
async def test_a_premium_account_has_no_limit_and_archives_nothing(gieok: Gieok) -> None:
    made = [await create(gieok, 5, "같은 주제", account="premium") for _ in range(12)]
    assert all(kept.archived == kept.notices == () for kept in made)
    assert await gieok.user("minsu").companion.counts("hana") == MemoryCounts(active=12, archived=0)


@pytest.mark.req("COMP-4", "COMP-7")
async def test_every_persona_has_its_own_limit(gieok: Gieok) -> None:
    for _ in range(5):
        await create(gieok, 5)
        await create(gieok, 5, persona="duri")
    assert len(await active(gieok)) == len(await active(gieok, "duri")) == 5


@pytest.mark.req("COMP-4", "COMP-9")
async def test_a_memory_is_restored_only_within_the_limit(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    made = [(await create(gieok, 5)).memory.id for _ in range(6)]
    with pytest.raises(MemoryLimitReached, match="limit of 5 active"):
        await companion.restore(made[0], account_plan="free")
    assert (await companion.get(made[0])).archived_at is not None
    await companion.archive(made[5])
    assert (await companion.restore(made[0], account_plan="free")).archived_at is None
    assert await active(gieok) == set(made[:5])
    await companion.restore(made[5], account_plan="premium")
    assert await companion.counts("hana") == MemoryCounts(active=6, archived=0)


@pytest.mark.req("COMP-4")
async def test_a_memory_is_not_restored_while_a_newer_one_with_the_same_topics_is_active(
    gieok: Gieok,
) -> None:
    old, new = await create(gieok, 5, "영화"), await create(gieok, 5, "영화")
    companion = gieok.user("minsu").companion
    with pytest.raises(MemoryLimitReached, match=str(new.memory.id)):
        await companion.restore(old.memory.id, account_plan="free")
    await companion.archive(new.memory.id)
    await companion.restore(old.memory.id, account_plan="free")
    assert await active(gieok) == {old.memory.id}


@pytest.mark.req("COMP-4")
async def test_restoring_a_newer_memory_archives_older_ones_with_the_same_topics(gieok: Gieok) -> None:
    """Also where all places are taken: it comes instead of the older one."""
    companion = gieok.user("minsu").companion
    old, new = await create(gieok, 5, "영화"), await create(gieok, 5, "영화")
    await companion.archive(new.memory.id)
    await companion.restore(old.memory.id, account_plan="free")
    others = {(await create(gieok, 5)).memory.id for _ in range(4)}
    await companion.restore(new.memory.id, account_plan="free")
    assert await active(gieok) == {new.memory.id, *others}


@pytest.mark.req("COMP-4")
async def test_without_auto_archive_a_memory_over_the_limit_is_refused(gieok: Gieok) -> None:
    for _ in range(5):
        await create(gieok, 5, auto_archive=False)
    with pytest.raises(MemoryLimitReached) as refused:
        await create(gieok, 9, auto_archive=False)
    assert refused.value.code == "MEMORY_LIMIT_REACHED"
    assert await gieok.user("minsu").companion.counts("hana") == MemoryCounts(active=5, archived=0)


@pytest.mark.req("COMP-8")
async def test_a_user_can_lower_the_limit_of_a_persona(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    await companion.configure("hana", MemoryConfig(recall=True, active_limit=2))
    made = [(await create(gieok, 5, account="premium")).memory.id for _ in range(4)]
    assert await active(gieok) == set(made[2:])


@pytest.mark.req("COMP-4")
async def test_concurrent_creates_stay_within_the_limit(settings: Settings) -> None:
    """Two processes, forty memories at once: five places, and every memory is still there."""
    async with await Gieok.open(settings) as one, await Gieok.open(settings) as other:
        await asyncio.gather(*(create(each, 1 + n % 10) for n in range(20) for each in (one, other)))
        companion = one.user("minsu").companion
        assert await companion.counts("hana") == MemoryCounts(active=5, archived=35)
        page = await companion.list("hana", limit=100)
        assert [memory.importance for memory in page.memories].count(10) == 4
        assert len((await companion.list("hana", status="all", limit=100)).memories) == 40


@pytest.mark.req("COMP-8")
async def test_an_important_memory_has_a_moment_that_is_edited_and_deleted_with_it(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion

    async def happens(summary: str, emotion: Emotion, importance: int) -> SavedMemory:
        draft = MemoryDraft(persona_id="hana", summary=summary, emotion=emotion, importance=importance)
        return await companion.create(draft, account_plan="premium")

    passed = await happens("합격 소식을 들음.", Emotion.JOY, 9)
    assert (await happens("점심을 먹음.", Emotion.JOY, 3)).moment is None
    assert (await happens("조용한 하루였음.", Emotion.CALM, 9)).moment is None
    (moment,) = (await companion.moments("hana")).moments
    assert moment == passed.moment
    assert (moment.memory_id, moment.emotion, moment.intensity) == (passed.memory.id, Emotion.JOY, 9)
    await companion.edit(passed.memory.id, MemoryChanges(summary="불합격 소식을 들음."))
    assert [moment.moment for moment in (await companion.moments("hana")).moments] == ["불합격 소식을 들음."]
    await companion.edit(passed.memory.id, MemoryChanges(importance=2))
    assert (await companion.moments("hana")).moments == ()


_STANDINGS = st.lists(st.tuples(st.integers(1, 10), st.sampled_from([None, 1, 2, 3])), max_size=12)


@pytest.mark.req("COMP-4")
@given(drawn=_STANDINGS, limit=st.integers(1, 6))
def test_the_best_memories_stay_active(drawn: list[tuple[int, int | None]], limit: int) -> None:
    """Nobody without a place was better than someone with one, and no two with a place are about the same."""
    numbers = count(1)
    everyone = [
        RankKey(UUID(int=number), importance, (0, number), topics)
        for (importance, topics), number in zip(drawn, numbers, strict=False)
    ]
    to_archive = apply_active_limit(everyone, limit)
    out = {*to_archive.older_with_same_topics, *to_archive.over_limit}
    kept = [one for one in everyone if one.id not in out]
    shared = [one.topics for one in kept if one.topics is not None]
    assert len(shared) == len(set(shared))
    assert len(kept) == min(limit, len(everyone) - len(to_archive.older_with_same_topics))
    for one in everyone:
        if one.id in to_archive.older_with_same_topics:
            assert any(other.topics == one.topics and other.created > one.created for other in everyone)
        if one.id in to_archive.over_limit:
            assert all((one.importance, one.created) < (other.importance, other.created) for other in kept)


@pytest.mark.req("COMP-4")
def test_topics_are_equal_in_any_order_case_and_width() -> None:
    assert topic_set(("IT", "영화 ")) == topic_set(("영화", "ｉｔ", "it"))
    assert topic_set(("영화",)) != topic_set(("영화", "여가"))
    assert topic_set(()) == ()
