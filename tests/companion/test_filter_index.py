"""A topic or a tag of one persona is looked up in the index; the result is that of reading every memory."""

from __future__ import annotations

from typing import get_args
from uuid import UUID

import pytest

from gieok import Gieok, MemoryDraft, User
from gieok.adapters.sql.stores.companion.index import SqlPersonaIndex
from gieok.memory.companion.filters import MemoryFilter
from gieok.memory.companion.records import MemoryChanges
from gieok.memory.companion.store import MemoryStatus
from tests.owner_data.world import HANA

TOPICS = ("IT 스타트업", "it 스타트업", "스타트업", "Machine Learning", "영화관", "ＡＩ", "ㅋㅋ", "WHO 발표")


@pytest.fixture
async def user(gieok: Gieok) -> User:
    """Memories with one topic each; two say the topic in their text only; one is archived."""
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")
    for topic in (*TOPICS, *TOPICS):
        draft = MemoryDraft(
            persona_id="hana", summary=f"이야기 하나 {len(topic)}", topics=(topic,), tags=("일",)
        )
        await user.companion.create(draft, account_plan="premium")
    for text in ("스타트업 이야기", "영화관에 갔다"):
        made = await user.companion.create(
            MemoryDraft(persona_id="hana", summary=text), account_plan="premium"
        )
    await user.companion.archive(made.memory.id)
    listed = await user.companion.list("hana", limit=100)
    await user.companion.archive(listed.memories[-1].id)
    return user


async def ids(user: User, persona_id: str | None, status: MemoryStatus, wanted: MemoryFilter) -> list[UUID]:
    found = await user.companion.list(persona_id, status=status, wanted=wanted, limit=100)
    assert found.total == len(found.memories)
    return [memory.id for memory in found.memories]


async def test_it_finds_the_same_as_reading_every_memory(user: User) -> None:
    asked = {name for topic in TOPICS for name in (topic, topic.upper(), topic.lower())} | {"없는 주제", "관"}
    for status in get_args(MemoryStatus):
        for topic in sorted(asked):
            for wanted in (MemoryFilter(topic=topic), MemoryFilter(topic=topic, tag="일")):
                assert await ids(user, "hana", status, wanted) == await ids(user, None, status, wanted), topic
    found = await ids(user, "hana", "all", MemoryFilter(topic="IT 스타트업"))
    assert len(found) == 4


async def test_a_changed_memory_is_found_by_its_new_topic(user: User) -> None:
    first = (await ids(user, "hana", "active", MemoryFilter(topic="영화관")))[0]
    await user.companion.edit(first, MemoryChanges(topics=("바다",)))
    assert await ids(user, "hana", "active", MemoryFilter(topic="바다")) == [first]
    assert first not in await ids(user, "hana", "active", MemoryFilter(topic="영화관"))


async def test_it_decrypts_only_memories_with_the_word(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    original = SqlPersonaIndex.open

    def counted(self: SqlPersonaIndex, rows: list[int]) -> object:
        opened.append(len(rows))
        return original(self, rows)

    monkeypatch.setattr(SqlPersonaIndex, "open", counted)
    assert len(await ids(user, "hana", "active", MemoryFilter(topic="Machine Learning"))) == 2
    assert opened == [2]
