"""Many memories created at once: all of them or none."""

from __future__ import annotations

from typing import Any

import pytest

from gieok import Gieok, MemoryDraft
from gieok.errors import InputRefused, MemoryLimitReached
from gieok.memory.companion.records import Emotion
from tests.behind import Behind


def drafts(count: int, persona: str = "hana", **fields: Any) -> list[MemoryDraft]:
    return [MemoryDraft(persona_id=persona, summary=f"면접 {n}", **fields) for n in range(count)]


@pytest.mark.req("COMP-9")
async def test_a_batch_is_found_at_once_and_has_one_revision(gieok: Gieok, behind: Behind) -> None:
    companion = gieok.user("minsu").companion
    saved = await companion.create_many([*drafts(3), *drafts(2, "duri")], account_plan="premium")
    assert [(await companion.get(one)).summary for one in saved.created] == [
        "면접 0",
        "면접 1",
        "면접 2",
        "면접 0",
        "면접 1",
    ]
    assert len(await companion.search("hana", "면접")) == 3
    assert len(await companion.search("duri", "면접")) == 2
    revisions = behind.run("SELECT persona_id, revision, last_number FROM persona_memory_configs")
    assert sorted(revisions) == [("duri", 1, 2), ("hana", 1, 3)]


@pytest.mark.req("COMP-3")
async def test_the_limit_is_applied_after_the_last_one(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    saved = await companion.create_many(drafts(7), account_plan="free")
    assert set(saved.archived) == set(saved.created[:2])
    assert [notice.kind for notice in saved.notices] == ["full", "more"]
    assert (await companion.counts("hana")).active == 5


async def test_without_auto_archive_nothing_is_stored(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    with pytest.raises(MemoryLimitReached):
        await companion.create_many(drafts(6), account_plan="free", auto_archive=False)
    assert (await companion.counts("hana")).active == 0


async def test_important_memories_of_a_batch_have_moments(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    await companion.create_many(drafts(2, importance=9, emotion=Emotion.JOY), account_plan="premium")
    assert len((await companion.moments("hana")).moments) == 2


@pytest.mark.parametrize("count", [0, 1_001])
async def test_a_batch_has_1_to_1000_memories(gieok: Gieok, count: int) -> None:
    with pytest.raises(InputRefused, match="drafts"):
        await gieok.user("minsu").companion.create_many(drafts(count), account_plan="free")
