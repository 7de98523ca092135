"""Summaries while the model is unavailable: retries, an excerpt, and a summary as soon as possible."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from gieok import Gieok, Settings
from gieok.app.assembly import Services
from gieok.app.background.worker import Worker
from gieok.engine import StepContext
from gieok.errors import SummaryFailed
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.companion.steps.summarize import SummarizeInputs, SummarizeMetadata, SummarizeSession
from gieok.plans import read_plan
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from tests.sessions.conversation import MoodyModel, begin, job_plans, memories, said, talk, work

TRIES = 3


@pytest.fixture
async def session(gieok: Gieok) -> str:
    return await begin(gieok.user("minsu"))


def shipped(**changes: Any) -> SummarizeMetadata:
    steps = json.loads(read_plan("summarize_session"))["steps"]
    metadata = next(step["metadata"] for step in steps if step["id"] == "summarize")
    return SummarizeMetadata.model_validate_json(json.dumps(metadata | changes))


def spoken(count: int) -> SummarizeInputs:
    return SummarizeInputs(messages=tuple(Spoken(role="user", content=f"line {n}") for n in range(count)))


def context() -> StepContext:
    return StepContext("summarize", "0" * 64, Clock()(), None)


@pytest.mark.req("COMP-3")
@pytest.mark.parametrize(
    ("failures", "waits", "is_final"), [(0, [], True), (1, [1], True), (2, [1, 2], True), (3, [1, 2], False)]
)
async def test_a_model_call_is_tried_three_times_with_backoff(
    failures: int, waits: list[float], *, is_final: bool
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    model = MoodyModel()
    model.failures = failures
    made = await SummarizeSession(Services(model, model, None, "UTC"), sleep).run(
        shipped(), spoken(2), context()
    )
    assert (waited, made.is_final) == (waits, is_final)
    assert model.calls == min(failures + 1, TRIES)


class SilentModel(MoodyModel):
    """Never answers."""

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        self.calls += 1
        return await asyncio.Future[SessionSummary]()


@pytest.mark.req("COMP-3")
async def test_a_model_that_never_answers_times_out() -> None:
    model = SilentModel()
    impatiently = shipped(attemptSeconds=0.01, backoffSeconds=[0])
    made = await SummarizeSession(Services(model, model, None, "UTC")).run(impatiently, spoken(2), context())
    assert (model.calls, made.is_final) == (TRIES, False)


@pytest.mark.req("COMP-3")
async def test_an_excerpt_has_at_most_five_hundred_characters_of_the_messages(
    gieok: Gieok, session: str, model: MoodyModel, caplog: pytest.LogCaptureFixture
) -> None:
    """It is marked, of middling importance, and the log says so without a word of the conversation."""
    model.failures = TRIES
    user = gieok.user("minsu")
    await user.sessions.save_messages(session, [message(number, "zebra-" * 30) for number in range(1, 9)])
    with caplog.at_level(logging.INFO):
        closed = await user.sessions.close(session, wait=True)
    (memory,) = await memories(gieok)
    assert closed.memory_id == memory.id
    assert (memory.origin, memory.importance, len(memory.summary)) == ("excerpt", 5, 500)
    assert memory.summary.startswith("user: zebra")
    assert (closed.jobs[0].status, closed.is_excerpt) == ("queued", True)
    assert "excerpt" in caplog.text
    assert "zebra" not in caplog.text


@pytest.mark.req("COMP-3")
async def test_a_summary_replaces_the_excerpt_later(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    model.failures = 2 * TRIES
    await talk(gieok.user("minsu"), 1, 4)
    closed = await gieok.user("minsu").sessions.close(session)
    await work(worker, clock)
    (excerpt,) = await memories(gieok)
    assert excerpt.origin == "excerpt"
    for expected in ("excerpt", "summary", "summary"):
        clock.advance(minutes=15)
        await work(worker, clock)
        (memory,) = await memories(gieok)
        assert (memory.id, memory.origin) == (excerpt.id, expected)
    job = await gieok.user("minsu").jobs.get(closed.jobs[0].id)
    assert (job.status, job.memory_id) == ("done", excerpt.id)
    assert len(model.summarized) == 1


@pytest.mark.req("SESS-2")
async def test_an_excerpt_clears_the_window_once(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    model.failures = TRIES
    await talk(gieok.user("minsu"), 1, 4)
    await gieok.user("minsu").sessions.close(session)
    for _ in range(3):
        await work(worker, clock)
        view = await gieok.user("minsu").sessions.get(session)
        assert (view.messages, view.session.summarized_count) == ((), 4)
        clock.advance(minutes=15)


async def test_an_excerpt_that_was_deleted_does_not_come_back(
    gieok: Gieok, worker: Worker, clock: Clock, model: MoodyModel, session: str
) -> None:
    model.failures = TRIES
    await talk(gieok.user("minsu"), 1, 4)
    closed = await gieok.user("minsu").sessions.close(session, wait=True)
    assert closed.memory_id is not None
    await gieok.user("minsu").companion.delete(closed.memory_id)
    clock.advance(minutes=15)
    await work(worker, clock)
    assert await memories(gieok) == []
    assert (await gieok.user("minsu").jobs.get(closed.jobs[0].id)).status == "done"


@pytest.fixture
async def strict(settings: Settings, clock: Clock, model: MoodyModel) -> AsyncIterator[Gieok]:
    """Runs a plan that would rather fail than keep an excerpt."""
    async with await Gieok.open(settings, model=model, clock=clock, job_plans=job_plans("fail")) as opened:
        yield opened


@pytest.mark.req("COMP-3")
async def test_a_plan_without_excerpts_fails_and_can_be_retried(strict: Gieok, model: MoodyModel) -> None:
    user = strict.user("minsu")
    await begin(user)
    await talk(user, 1, 4)
    model.failures = TRIES
    with pytest.raises(SummaryFailed, match="LLM_SUMMARY_FAILED"):
        await user.sessions.close("s", wait=True)
    assert await memories(strict) == []
    assert len((await user.sessions.get("s")).messages) == 4
    closed = await user.sessions.close("s", wait=True)
    (memory,) = await memories(strict)
    assert (closed.memory_id, memory.origin) == (memory.id, "summary")
    assert model.summarized == [tuple(each.content for each in said(1, 4))]
