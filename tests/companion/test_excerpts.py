"""A memory created of messages that could not be summarised: its excerpt is replaced by a later attempt."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from gieok import Gieok, Settings, User, Worker
from gieok.app.background.jobs import JOB_PLANS, JobPlans
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import SealBroken, StepFailed
from gieok.memory.companion.records import Emotion, Memory, MemoryChanges, MemoryDraft, MemoryOutline
from gieok.memory.conversation.records import Message
from gieok.plans import read_plan
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.rest.conftest import GENEROUS, serving
from tests.sessions.conversation import MoodyModel

SAID = (
    Message(role="user", content="내일 IT 스타트업 면접이 있어. " * 30),
    Message(role="assistant", content="잘 될 거야!"),
    Message(role="user", content="zebra-at-the-end"),
)
OUTLINE = MemoryOutline(persona_id="hana", importance=8, tags=("일",))


def without_waits(name: str) -> ExecutionPlan:
    document = json.loads(read_plan(name))
    for step in document["steps"]:
        if step["type"] == "SummarizeSession":
            step["metadata"] |= {"backoffSeconds": [0]}
    return make_plan(document)


class World:
    """A Gieok whose model can be away, and a worker on a clock of its own."""

    def __init__(self, gieok: Gieok, model: MoodyModel, clock: Clock) -> None:
        self.gieok = gieok
        self.model = model
        self.clock = clock
        self.user: User = gieok.user("minsu")

    async def excerpt(self, outline: MemoryOutline = OUTLINE) -> Memory:
        """The memory of messages that the model did not summarise."""
        self.model.failures = 3
        kept = await self.user.companion.create_of_messages(
            outline, SAID, account_plan="free", plan=without_waits("create_memory_of_messages")
        )
        assert kept.memory.origin == "excerpt"
        assert [notice.kind for notice in kept.notices] == ["excerpt"]
        return kept.memory

    async def work(self, after: timedelta) -> None:
        self.clock.now += after
        worker = Worker(self.gieok)
        while await worker.run_once(self.clock.now):
            pass

    async def job(self) -> Any:
        (job,) = [each for each in await self.user.jobs.list() if each.kind == "excerpt"]
        return job


@pytest.fixture
async def world(settings: Settings) -> AsyncIterator[World]:
    clock, model = Clock(), MoodyModel()
    plans: JobPlans = {**JOB_PLANS, "excerpt": without_waits("replace_excerpt")}
    async with await Gieok.open(
        settings, clock=clock, model=model, job_plans=plans, background=False
    ) as gieok:
        yield World(gieok, model, clock)


@pytest.mark.req("COMP-3")
async def test_a_later_attempt_replaces_the_excerpt(world: World) -> None:
    """Of the whole conversation, not of the excerpt; what the caller gave stays."""
    excerpt = await world.excerpt()
    assert "zebra-at-the-end" not in excerpt.summary
    await world.work(timedelta(minutes=5))
    assert (await world.user.companion.get(excerpt.id)).origin == "excerpt", "not before its time"
    await world.work(timedelta(minutes=15))
    memory = await world.user.companion.get(excerpt.id)
    assert (memory.origin, memory.version, memory.importance, memory.tags) == ("summary", 2, 8, ("일",))
    assert world.model.summarized == [tuple(message.content for message in SAID)]
    job = await world.job()
    assert (job.status, job.memory_id) == ("done", excerpt.id)


@pytest.mark.req("COMP-3")
async def test_a_job_that_failed_for_good_is_retried_by_hand(world: World) -> None:
    excerpt = await world.excerpt()
    world.model.failures = 10_000
    for _ in range(7):
        await world.work(timedelta(hours=1))
    job = await world.job()
    assert (job.status, job.error) == ("failed", "LLM_SUMMARY_FAILED")
    assert (await world.user.companion.get(excerpt.id)).origin == "excerpt"
    world.model.failures = 0
    await world.user.jobs.retry(job.id)
    await world.work(timedelta(0))
    assert (await world.user.companion.get(excerpt.id)).origin == "summary"


@pytest.mark.req("COMP-3", "COMP-9")
async def test_an_excerpt_that_the_user_deleted_or_rewrote_stays_so(world: World) -> None:
    companion = world.user.companion
    deleted, rewritten, rated = [await world.excerpt() for _ in range(3)]
    await companion.delete(deleted.id)
    await companion.edit(rewritten.id, MemoryChanges(summary="내가 쓴 글"))
    await companion.edit(rated.id, MemoryChanges(importance=3))
    await world.work(timedelta(minutes=20))
    assert [memory.id for memory in (await companion.list("hana")).memories] == [rated.id, rewritten.id]
    assert (await companion.get(rewritten.id)).summary == "내가 쓴 글"
    assert ((await companion.get(rated.id)).origin, (await companion.get(rated.id)).importance) == (
        "summary",
        3,
    )
    assert {job.status for job in await world.user.jobs.list()} == {"done"}
    assert len(world.model.summarized) == 1


@pytest.mark.req("OPS-2", "COMP-3")
async def test_the_messages_of_an_excerpt_are_sealed_and_survive_a_key_rotation(
    world: World, behind: Behind
) -> None:
    excerpt = await world.excerpt()
    assert behind.files_with("zebra-at-the-end", "스타트업") == {"zebra-at-the-end": [], "스타트업": []}
    await world.user.rotate_key()
    await world.work(timedelta(minutes=20))
    assert (await world.user.companion.get(excerpt.id)).origin == "summary"
    exported = b"".join([piece async for piece in world.user.data.export()])
    assert b"zebra-at-the-end" not in exported, "the messages go with the excerpt"


@pytest.mark.req("OPS-2")
async def test_a_tampered_excerpt_fails_its_job(world: World, behind: Behind) -> None:
    await world.excerpt()
    behind.run("UPDATE memories SET importance = 1")
    job = await world.job()
    world.clock.now += timedelta(minutes=20)
    await world.user.jobs.run(job.id)
    assert (await world.job()).error == SealBroken.code


@pytest.mark.req("COMP-4", "COMP-5")
async def test_a_memory_archived_for_the_same_topics_is_reported(world: World) -> None:
    """The former one is archived even while there is room, so the user is told."""
    draft = MemoryDraft(persona_id="hana", summary="영화를 봄", topics=("영화",), emotion=Emotion.JOY)
    first = await world.user.companion.create(draft, account_plan="free")
    assert first.notices == ()
    second = await world.user.companion.create(draft, account_plan="free")
    assert (second.archived, [each.kind for each in second.notices]) == ((first.memory.id,), ["topics"])
    third = await world.user.companion.create(draft, account_plan="premium")
    assert (third.archived, third.notices) == ((), ())


@pytest.mark.req("COMP-4", "COMP-5")
def test_the_same_topics_over_http(settings: Settings) -> None:
    with serving(settings, GENEROUS) as server, server.client("minsu") as client:
        body = {"personaId": "hana", "manualSummary": "영화를 봄", "topics": ["영화"]}
        first = client.post("/api/v1/memory/create", json=body).json()["memory"]
        answer = client.post("/api/v1/memory/create", json={**body, "topics": ["영화", "영화 "]}).json()
        assert (answer["archived"], answer["notices"]) == (
            [first["id"]],
            ["같은 주제의 이전 기억을 아카이브했습니다."],
        )


@pytest.mark.req("COMP-3")
async def test_a_plan_that_forbids_excerpts_fails(world: World) -> None:
    document = json.loads(read_plan("create_memory_of_messages"))
    for step in document["steps"]:
        if step["type"] == "SummarizeSession":
            step["metadata"] |= {"backoffSeconds": [0], "fallback": "fail"}
    world.model.failures = 3
    with pytest.raises(StepFailed):
        await world.user.companion.create_of_messages(
            OUTLINE, SAID, account_plan="free", plan=make_plan(document)
        )
    assert (await world.user.companion.list("hana")).total == 0
