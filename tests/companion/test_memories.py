"""Companion memory as a program uses it: kept, read, changed, put into a prompt, sealed, erased."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from pydantic import ValidationError

from gieok import Gieok, Settings
from gieok.errors import Conflict, GieokError, InputRefused, NotFound, OwnerErased, SealBroken, StoreDamaged
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import (
    LARGEST_MEMORY,
    MAX_LABEL_CHARS,
    MAX_LABELS,
    MAX_SUMMARY_CHARS,
    Emotion,
    Memory,
    MemoryChanges,
    MemoryCounts,
    MemoryDraft,
    NoticeTexts,
    SavedMemory,
    SessionSummary,
)
from gieok.memory.companion.rules import ActiveLimit, KeepPolicy, MomentPolicy
from gieok.memory.companion.steps.summarize import replace_excerpt
from gieok.memory.observations import Category
from gieok.testing.clock import Clock
from gieok.testing.contracts.companion import START, ids, memory, save
from gieok.vault import OwnerKeys, Place
from tests.behind import Behind

HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")

NO_NOTICES = NoticeTexts(full=None, more=None, topics=None, excerpt=None, unremembered=None)


async def keep(gieok: Gieok, *memories: Memory, owner: str = "minsu") -> None:
    await save(gieok.scope(owner), *memories)


@pytest.mark.req("COMP-9")
async def test_a_created_memory_has_all_given_fields(settings: Settings) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        companion = gieok.user("minsu").companion
        long_ago = datetime(2024, 3, 1, 12, 30, tzinfo=UTC)
        draft = MemoryDraft(
            persona_id="hana",
            session_ref="s1",
            summary="  이사를 감. ",
            topics=("집",),
            emotion=Emotion.parse("흥분"),
            importance=8,
            tags=("2024",),
            speaker="민수",
            occurred_at=long_ago,
        )
        kept = (await companion.create(draft, account_plan="free")).memory
        assert await companion.get(kept.id) == kept
        assert (kept.summary, kept.topics, kept.tags, kept.speaker) == (
            "이사를 감.",
            ("집",),
            ("2024",),
            "민수",
        )
        assert (kept.emotion, kept.importance, kept.origin) == (Emotion.EXCITEMENT, 8, "manual")
        assert (kept.created_at, kept.occurred_at, kept.version) == (clock.now, long_ago, 1)


@pytest.mark.req("COMP-9", "ENG-5")
async def test_missing_fields_get_the_defaults_of_the_plan(gieok: Gieok) -> None:
    draft = MemoryDraft(persona_id="hana", summary="산책을 함.")
    kept = (await gieok.user("minsu").companion.create(draft, account_plan="free")).memory
    assert (kept.importance, kept.emotion, kept.occurred_at) == (5, Emotion.CALM, kept.created_at)


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": " "},
        {"summary": "x" * 4_001},
        {"summary": "a\x00b"},
        {"persona_id": "a b"},
        {"importance": 0},
        {"importance": 11},
        {"topics": ("x",) * 33},
        {"tags": ("",)},
        {"occurred_at": datetime(2026, 1, 1)},
    ],
)
def test_an_invalid_draft_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((ValidationError, InputRefused)):
        MemoryDraft.model_validate({"persona_id": "hana", "summary": "산책을 함.", **wrong})


@pytest.mark.req("COMP-9")
async def test_an_edit_changes_only_the_given_fields(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    kept = memory("면접을 봄.", tags=("일",))
    await keep(gieok, kept)
    changes = MemoryChanges(summary="시험을 봄.", importance=9)
    edited = await companion.edit(kept.id, changes, expected_version=1)
    assert edited == kept.model_copy(update={"summary": "시험을 봄.", "importance": 9, "version": 2})
    assert await companion.get(kept.id) == edited
    assert (await companion.edit(kept.id, MemoryChanges(tags=()))).tags == ()
    with pytest.raises(Conflict, match="version 3"):
        await companion.edit(kept.id, changes, expected_version=2)
    assert await companion.search("hana", "면접") == ()
    assert ids([hit.memory for hit in await companion.search("hana", "시험")]) == [kept.id]


@pytest.mark.req("COMP-3")
async def test_a_summary_replaces_an_excerpt_unless_it_was_rewritten_first(gieok: Gieok) -> None:
    """Under the same id, with topics and words of its own. What a person wrote is not written over."""
    scope = gieok.scope("minsu")
    left, corrected = memory("user: 면접", origin="excerpt"), memory("user: 영화", origin="excerpt", minute=1)
    await keep(gieok, left, corrected)
    companion = gieok.user("minsu").companion
    edited = await companion.edit(corrected.id, MemoryChanges(summary="영화를 봄."))
    assert edited.origin == "manual"
    made = SessionSummary(summary="시험을 봄.", topics=("시험",), emotion=Emotion.JOY, importance=9)
    policy = KeepPolicy(
        active_limit=ActiveLimit(free=5, premium=None),
        moments=MomentPolicy(min_importance=7, emotions=(Emotion.JOY,)),
        notices=NO_NOTICES,
    )

    async def replace(memory_id: UUID) -> SavedMemory | None:
        return await scope.write(
            lambda view: replace_excerpt(view.companion, memory_id, made, "free", policy, at=START)
        )

    replaced = await replace(left.id)
    assert replaced is not None
    assert replaced.memory == await companion.get(left.id)
    assert (replaced.memory.origin, replaced.memory.topics, replaced.memory.version) == (
        "summary",
        ("시험",),
        2,
    )
    assert [moment.memory_id for moment in (await companion.moments("hana")).moments] == [left.id]
    assert (await replace(corrected.id), await replace(left.id), await replace(uuid4())) == (None, None, None)
    assert await companion.get(corrected.id) == edited


@pytest.mark.req("COMP-3")
async def test_the_importance_that_a_user_gave_an_excerpt_is_kept_with_the_summary(gieok: Gieok) -> None:
    excerpt = memory("user: 면접", origin="excerpt", importance=5)
    await keep(gieok, excerpt)
    await gieok.user("minsu").companion.edit(excerpt.id, MemoryChanges(importance=10))
    made = SessionSummary(summary="시험을 봄.", topics=(), emotion=Emotion.CALM, importance=2)
    policy = KeepPolicy(
        active_limit=ActiveLimit(free=5, premium=None),
        moments=MomentPolicy(min_importance=7, emotions=()),
        notices=NO_NOTICES,
    )
    await gieok.scope("minsu").write(
        lambda view: replace_excerpt(view.companion, excerpt.id, made, "free", policy, at=START)
    )
    replaced = await gieok.user("minsu").companion.get(excerpt.id)
    assert (replaced.summary, replaced.origin, replaced.importance) == ("시험을 봄.", "summary", 10)


@pytest.mark.req("COMP-9")
async def test_an_archived_memory_can_be_read_and_a_deleted_one_cannot(gieok: Gieok, behind: Behind) -> None:
    companion = gieok.user("minsu").companion
    kept = memory("면접을 봄.", importance=9, emotion=Emotion.STRESS)
    await keep(gieok, kept)
    archived = await companion.archive(kept.id)
    assert archived.archived_at is not None
    assert await companion.archive(kept.id) == archived == await companion.get(kept.id)
    assert (await companion.list("hana")).memories == ()
    assert (await companion.list("hana", status="archived")).memories == (archived,)
    await companion.delete(kept.id)
    assert await companion.counts() == MemoryCounts(active=0, archived=0)
    assert behind.count("memories") == 0


@pytest.mark.req("COMP-9", "OPS-4")
async def test_a_missing_memory_and_a_memory_of_another_owner_are_not_found(gieok: Gieok) -> None:
    theirs = memory()
    await keep(gieok, theirs, owner="jiyoung")
    companion = gieok.user("minsu").companion
    for memory_id in (theirs.id, uuid4()):
        for attempt in (
            companion.get(memory_id),
            companion.edit(memory_id, MemoryChanges(importance=1)),
            companion.archive(memory_id),
            companion.restore(memory_id, account_plan="free"),
            companion.delete(memory_id),
        ):
            with pytest.raises(NotFound, match=str(memory_id)):
                await attempt
    assert (await gieok.user("jiyoung").companion.get(theirs.id)) == theirs


@pytest.mark.req("COMP-6")
async def test_a_conversation_begins_with_at_most_five_memories_in_the_prompt(gieok: Gieok) -> None:
    """The seed's block, the most important first, each with its date; other personas' memories stay away."""
    made = [
        memory(f"{name} 이야기를 함.", importance=importance, occurred_at=START)
        for name, importance in zip("가나다라마바사", (3, 9, 5, 7, 1, 8, 6), strict=True)
    ]
    await keep(gieok, *made, memory("비밀 이야기를 함.", persona_id="duri", importance=10))
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")
    await user.canon.set_fact("hana", Category.GOAL, "취업", "면접을 준비 중")
    opening = await user.companion.start("hana", "(대화 시작)")
    lines = [f"- {name} 이야기를 함. (2026-01-05)" for name in "나바라사다"]
    block = "[과거 대화 기록]\n당신은 사용자와 다음과 같은 대화를 나눴습니다:\n\n" + "\n".join(lines) + "\n"
    assert block in opening.prompt.system
    assert opening.prompt.system.startswith(HANA.system_prompt)
    assert "- (GOAL) 취업: 면접을 준비 중" in opening.prompt.system
    assert "비밀" not in opening.prompt.system
    assert opening.reply
    assert ids(await gieok.user("minsu").companion.load("hana", limit=2)) == ids([made[1], made[5]])


@pytest.mark.req("OPS-2")
async def test_no_text_of_a_memory_is_stored_in_plain_text(gieok: Gieok, behind: Behind) -> None:
    draft = MemoryDraft(
        persona_id="hana-in-clear",
        summary="zebrafish를 키우기 시작함",
        topics=("수족관",),
        tags=("okapi",),
        speaker="갑순이",
        emotion=Emotion.JOY,
        importance=9,
    )
    companion = gieok.user("minsu").companion
    await companion.create(draft, account_plan="free")
    assert await companion.search("hana-in-clear", "zebrafish")
    said = ("zebrafish", "수족관", "okapi", "갑순이", "키우")
    assert behind.files_with(*said) == {word: [] for word in said}
    assert behind.files_with("hana-in-clear")["hana-in-clear"], (
        "the search itself must be able to find what lies in clear"
    )


DAMAGE: list[tuple[str, str, type[GieokError]]] = [
    ("another importance", "UPDATE memories SET importance = 10", SealBroken),
    ("another persona's", "UPDATE memories SET session_ref = 'elsewhere'", SealBroken),
    ("another time", "UPDATE memories SET occurred_at = occurred_at + 1", SealBroken),
    ("another version", "UPDATE memories SET version = 2", StoreDamaged),
]


@pytest.mark.req("OPS-2")
@pytest.mark.parametrize(("what", "sql", "error"), DAMAGE, ids=[what for what, _, _ in DAMAGE])
async def test_a_damaged_row_fails_the_search(
    gieok: Gieok, behind: Behind, what: str, sql: str, error: type[GieokError]
) -> None:
    await keep(gieok, memory("면접을 봄.", session_ref="s"))
    behind.run(sql)
    with pytest.raises(GieokError) as failed:
        await gieok.user("minsu").companion.search("hana", "면접")
    assert isinstance(failed.value.__cause__ or failed.value, error)


@pytest.mark.req("OPS-2")
async def test_a_key_rotation_reseals_memories_and_moments(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    for n in range(3):
        draft = MemoryDraft(persona_id="hana", summary=f"면접 {n}", emotion=Emotion.JOY, importance=9)
        await companion.create(draft, account_plan="free")
    before = await companion.list("hana"), await companion.moments("hana")
    assert len(before[1].moments) == 3
    assert await gieok.user("minsu").rotate_key() == 6
    assert (await companion.list("hana"), await companion.moments("hana")) == before
    assert len(await companion.search("hana", "면접")) == 3


@pytest.mark.req("OPS-2")
async def test_an_edit_during_a_key_rotation_is_not_overwritten(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It commits after the rotation has read the memory and before it writes the new seal."""
    if gieok.database.dialect != "postgres":
        pytest.skip("SQLite has one writer, so nobody edits in between")
    companion, loop = gieok.user("minsu").companion, asyncio.get_running_loop()
    draft = MemoryDraft(persona_id="hana", summary="면접을 봄.")
    kept = (await companion.create(draft, account_plan="free")).memory
    edited: list[Memory] = []

    reseal = OwnerKeys.reseal

    def edit_first(keys: OwnerKeys, place: Place, sealed: bytes) -> bytes:
        if place.table == "memories":
            edit = companion.edit(kept.id, MemoryChanges(summary="면접에 붙음."))
            edited.append(asyncio.run_coroutine_threadsafe(edit, loop).result(timeout=20))
        return reseal(keys, place, sealed)

    monkeypatch.setattr(OwnerKeys, "reseal", edit_first)
    await gieok.user("minsu").rotate_key()
    assert [await companion.get(kept.id)] == edited


@pytest.mark.req("OPS-4")
async def test_erasing_an_owner_erases_memories_moments_and_counts(gieok: Gieok) -> None:
    draft = MemoryDraft(persona_id="hana", summary="면접을 봄.", emotion=Emotion.JOY, importance=9)
    for owner in ("minsu", "jiyoung"):
        await gieok.user(owner).companion.create(draft, account_plan="free")
    erased = (await gieok.user("minsu").data.erase()).erased
    assert erased["memories"] == erased["emotional_moments"] == erased["persona_memory_configs"] == 1
    assert (await gieok.user("minsu").companion.list("hana")).memories == ()
    with pytest.raises(OwnerErased):
        await gieok.user("minsu").companion.create(draft, account_plan="free")
    assert (await gieok.user("jiyoung").companion.list("hana")).total == 1


@pytest.mark.parametrize("letter", ["\x01", "한", "\U0001f600", '"'])
def test_no_memory_is_larger_than_its_limits_allow(letter: str) -> None:
    """By this a step knows beforehand how much it puts out at the most."""
    labels = tuple(letter * MAX_LABEL_CHARS for _ in range(MAX_LABELS))
    largest = memory().model_copy(
        update={
            "persona_id": "p" * 128,
            "session_ref": "s" * 128,
            "summary": letter * MAX_SUMMARY_CHARS,
            "topics": labels,
            "tags": labels,
            "speaker": letter * MAX_LABEL_CHARS,
        }
    )
    assert len(largest.model_dump_json(by_alias=True)) <= LARGEST_MEMORY
