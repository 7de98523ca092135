"""Managing memories: editing all their fields, filtered lists, moments in pages, deleting all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gieok import Gieok, MemoryDraft
from gieok.adapters.sql.scope import SqlView
from gieok.app.companion import Companion
from gieok.errors import InputRefused, NotFound
from gieok.memory.companion.filters import MemoryFilter
from gieok.memory.companion.records import Emotion, Memory, MemoryChanges, NoticeTexts, SessionSummary
from gieok.memory.companion.rules import ActiveLimit, KeepPolicy, MomentPolicy
from gieok.memory.companion.steps.summarize import replace_excerpt
from tests.behind import Behind

NO_NOTICES = NoticeTexts(full=None, more=None, topics=None, excerpt=None, unremembered=None)


@pytest.fixture
def companion(gieok: Gieok) -> Companion:
    return gieok.user("minsu").companion


async def create(companion: Companion, summary: str, **fields: Any) -> Memory:
    draft = MemoryDraft(persona_id=fields.pop("persona_id", "hana"), summary=summary, **fields)
    return (await companion.create(draft, account_plan="premium")).memory


async def found(companion: Companion, query: str) -> list[str]:
    """The summaries that share words with a query."""
    hits = await companion.search("hana", query)
    return [hit.memory.summary for hit in hits if hit.why.matched_words]


@pytest.mark.req("COMP-9")
async def test_edited_topics_and_tags_are_found_and_the_old_ones_are_not(companion: Companion) -> None:
    memory = await create(companion, "주말을 보냈다", topics=("등산",), tags=("여행",), emotion=Emotion.CALM)
    assert await found(companion, "등산") == await found(companion, "여행") == ["주말을 보냈다"]
    changes = MemoryChanges(topics=("수영",), tags=("운동",), emotion=Emotion.JOY)
    edited = await companion.edit(memory.id, changes)
    assert (edited.topics, edited.tags, edited.emotion) == (("수영",), ("운동",), Emotion.JOY)
    assert edited.version == 2
    assert await companion.get(memory.id) == edited
    assert await found(companion, "수영") == await found(companion, "운동") == ["주말을 보냈다"]
    assert await found(companion, "등산") == await found(companion, "여행") == []


@pytest.mark.req("COMP-8", "COMP-9")
async def test_an_edited_emotion_changes_the_moment(companion: Companion) -> None:
    """A calm memory is no moment; the moment has the emotion of its memory."""
    memory = await create(companion, "합격했다", importance=9, emotion=Emotion.JOY)
    (moment,) = (await companion.moments("hana")).moments
    assert moment.emotion == Emotion.JOY
    await companion.edit(memory.id, MemoryChanges(emotion=Emotion.STRESS))
    assert [each.emotion for each in (await companion.moments("hana")).moments] == [Emotion.STRESS]
    await companion.edit(memory.id, MemoryChanges(emotion=Emotion.CALM))
    assert (await companion.moments("hana")).moments == ()


@pytest.mark.req("COMP-9")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (MemoryFilter(), ["수영", "등산", "면접"]),
        (MemoryFilter(tag="운동"), ["수영", "등산"]),
        (MemoryFilter(topic="HIKING"), ["등산"]),
        (MemoryFilter(emotion=Emotion.STRESS), ["면접"]),
        (MemoryFilter(origin="excerpt"), ["수영"]),
        (MemoryFilter(since=datetime(2026, 1, 2, tzinfo=UTC)), ["수영", "등산"]),
        (MemoryFilter(until=datetime(2026, 1, 2, tzinfo=UTC)), ["면접"]),
        (MemoryFilter(tag="운동", emotion=Emotion.JOY), ["수영"]),
        (MemoryFilter(tag="없음"), []),
    ],
    ids=str,
)
async def test_a_list_can_be_filtered(
    companion: Companion, wanted: MemoryFilter, expected: list[str]
) -> None:
    """All given fields must match; a page counts only what matches."""
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    await create(companion, "면접", emotion=Emotion.STRESS, occurred_at=days[0])
    await create(companion, "등산", topics=("Hiking",), tags=("운동",), occurred_at=days[1])
    await create(
        companion, "수영", tags=("운동", "물"), emotion=Emotion.JOY, origin="excerpt", occurred_at=days[2]
    )
    page = await companion.list("hana", wanted=wanted)
    assert [memory.summary for memory in page.memories] == expected
    assert (page.total, page.has_more) == (len(expected), False)
    first = await companion.list(wanted=wanted, limit=1)
    assert [memory.summary for memory in first.memories] == expected[:1]
    assert (first.total, first.has_more) == (len(expected), len(expected) > 1)
    rest = await companion.list("hana", wanted=wanted, limit=5, offset=1)
    assert [memory.summary for memory in rest.memories] == expected[1:]


@pytest.mark.req("COMP-9")
async def test_a_filter_sees_archived_memories_only_if_asked(companion: Companion) -> None:
    memory = await create(companion, "수영", tags=("운동",))
    await companion.archive(memory.id)
    assert (await companion.list(wanted=MemoryFilter(tag="운동"))).total == 0
    assert (await companion.list(wanted=MemoryFilter(tag="운동"), status="all")).total == 1


@pytest.mark.req("COMP-8")
async def test_moments_are_listed_in_pages(companion: Companion) -> None:
    """Newest first. A moment that is added between two pages shifts nothing."""
    for number in range(3):
        await create(companion, f"기쁜 일 {number}", importance=9, emotion=Emotion.JOY)
    first = await companion.moments("hana", limit=2)
    assert [each.moment for each in first.moments] == ["기쁜 일 2", "기쁜 일 1"]
    await create(companion, "또 기쁜 일", importance=9, emotion=Emotion.JOY)
    last = await companion.moments("hana", limit=2, cursor=first.next_cursor)
    assert [each.moment for each in last.moments] == ["기쁜 일 0"]
    assert last.next_cursor is None
    with pytest.raises(InputRefused, match="cursor"):
        await companion.moments("hana", cursor="x")


@pytest.mark.req("COMP-9", "OPS-3")
async def test_all_memories_of_a_persona_or_of_the_account_are_deleted(
    gieok: Gieok, companion: Companion, behind: Behind
) -> None:
    """With their moments and index entries. Other owners and personas keep theirs."""
    for persona in ("hana", "duri"):
        for number in range(3):
            await create(
                companion, f"{persona} {number}", persona_id=persona, importance=9, emotion=Emotion.JOY
            )
    await create(gieok.user("yuna").companion, "유나의 기억")
    await companion.archive((await companion.list("hana")).memories[0].id)
    assert await companion.delete_all("hana") == 3
    assert (await companion.list("hana", status="all")).total == 0
    assert (await companion.moments("hana")).moments == ()
    assert await found(companion, "hana") == []
    assert (await companion.list(status="all")).total == 3
    assert await companion.delete_all() == 3
    assert await companion.delete_all() == 0
    assert behind.count("memories") == 1
    assert behind.count("emotional_moments") == 0
    await create(companion, "새 기억")
    assert await found(companion, "기억") == ["새 기억"]


@pytest.mark.req("COMP-9")
async def test_an_edit_keeps_the_former_version(gieok: Gieok, companion: Companion, behind: Behind) -> None:
    """Sealed, readable after a key rotation, and deleted with the memory."""
    memory = await create(companion, "면접을 준비함", topics=("면접",), emotion=Emotion.STRESS)
    await companion.edit(memory.id, MemoryChanges(summary="면접에 합격함", emotion=Emotion.JOY))
    current = await companion.edit(memory.id, MemoryChanges(tags=("취업",)))
    await companion.edit(memory.id, MemoryChanges())
    history = await companion.history(memory.id)
    assert [(each.version, each.summary, each.emotion, each.tags) for each in history] == [
        (1, "면접을 준비함", Emotion.STRESS, ()),
        (2, "면접에 합격함", Emotion.JOY, ()),
        (3, "면접에 합격함", Emotion.JOY, ("취업",)),
    ]
    assert [each.replaced_at is None for each in history] == [False, False, True]
    assert Memory(**{name: getattr(history[-1], name) for name in Memory.model_fields}) == current
    stored = [bytes(row[0]) for row in behind.run("SELECT content FROM memory_versions")]
    assert len(stored) == 2
    assert not any("면접".encode() in content for content in stored)
    await gieok.user("minsu").rotate_key()
    assert await companion.history(memory.id) == history
    with pytest.raises(NotFound):
        await gieok.user("yuna").companion.history(memory.id)
    await companion.delete(memory.id)
    assert behind.count("memory_versions") == 0
    with pytest.raises(NotFound):
        await companion.history(memory.id)


@pytest.mark.req("COMP-9", "COMP-3")
async def test_an_excerpt_does_not_stay_in_the_history_of_its_summary(
    gieok: Gieok, companion: Companion, behind: Behind
) -> None:
    """It is raw text of the conversation, and is replaced for good."""
    memory = await create(companion, "user: 안녕", origin="excerpt")
    summary = SessionSummary(summary="인사를 나눔", topics=(), emotion=Emotion.CALM, importance=3)
    policy = KeepPolicy(
        active_limit=ActiveLimit(free=5, premium=None),
        moments=MomentPolicy(min_importance=7, emotions=()),
        notices=NO_NOTICES,
    )

    def replace(view: SqlView) -> None:
        replace_excerpt(view.companion, memory.id, summary, "premium", policy, at=gieok.engine.clock())

    await gieok.scope("minsu").write(replace)
    assert [each.summary for each in await companion.history(memory.id)] == ["인사를 나눔"]
    assert behind.count("memory_versions") == 0
