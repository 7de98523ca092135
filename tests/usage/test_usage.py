"""What language models were used for an owner, and the budget that a plan sets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from gieok import Gieok, Settings
from gieok.app import build_registry
from gieok.app.background.jobs import JOB_PLANS, JobPlans
from gieok.app.background.worker import Worker
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import InputRefused, ModelUnavailable, PlanInvalid, RateLimited, StepFailed
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.plans import plan_names, read_plan
from gieok.testing.clock import Clock
from gieok.testing.models import CountingModel
from tests.behind import Behind

EVENING = datetime(2026, 1, 5, 23, 59, 30, tzinfo=UTC)
TODAY, TOMORROW = date(2026, 1, 5), date(2026, 1, 6)
LIMITED = 13


class Priced(CountingModel):
    """Every reply costs 10 tokens to read and 3 to write; the rest is free. It may fail afterwards."""

    def __init__(self) -> None:
        self.replies: int = 0
        self.fails_later = False

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.replies += 1
        return Reply(text="그래", input_tokens=10, output_tokens=3)

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        if self.fails_later:
            raise ModelUnavailable("away")
        return await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )


def budgeted(name: str, tokens: Any) -> ExecutionPlan:
    """A shipped plan with a budget."""
    document = json.loads(read_plan(name))
    budget = next(step for step in document["steps"] if step["type"] == "CheckBudget")
    budget["metadata"] = {"tokensPerDay": tokens}
    return make_plan(document)


@pytest.fixture
def clock() -> Clock:
    return Clock(EVENING)


@pytest.fixture
def model() -> Priced:
    return Priced()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock, model: Priced) -> AsyncIterator[Gieok]:
    plans: JobPlans = {**JOB_PLANS, "summary": budgeted("summarize_session", LIMITED)}
    async with await Gieok.open(settings, model=model, clock=clock, job_plans=plans) as opened:
        for owner in ("minsu", "jiyoung"):
            await opened.user(owner).personas.create(PersonaDraft(name="하나"), persona_id="hana")
        yield opened


async def test_usage_is_added_up_by_owner_and_day(gieok: Gieok, clock: Clock) -> None:
    user = gieok.user("minsu")
    turn = await user.chat.send("hana", "안녕")
    await user.chat.send("hana", "잘 지냈어?", session_ref=turn.session_ref)
    clock.advance(minutes=1)
    await user.chat.send("hana", "다음 날이야", session_ref=turn.session_ref)
    assert (turn.usage.calls, turn.usage.input_tokens, turn.usage.output_tokens) == (1, 10, 3)
    assert [(day.day, day.calls, day.input_tokens, day.output_tokens) for day in await user.usage()] == [
        (TOMORROW, 1, 10, 3),
        (TODAY, 2, 20, 6),
    ]
    assert [day.day for day in await user.usage(days=1)] == [TOMORROW]
    assert await gieok.user("jiyoung").usage() == []


@pytest.mark.parametrize("days", [0, 367])
async def test_only_so_many_days_are_read_at_once(gieok: Gieok, days: int) -> None:
    with pytest.raises(InputRefused, match="days: must be 1 to 366"):
        await gieok.user("minsu").usage(days)


@pytest.mark.req("ENG-6")
async def test_what_a_failed_cycle_spent_is_not_stored(gieok: Gieok, model: Priced, behind: Behind) -> None:
    model.fails_later = True
    with pytest.raises(StepFailed):
        await gieok.user("minsu").chat.send("hana", "안녕", plan="chat_turn_whole")
    assert (model.replies, behind.count("usage_days")) == (1, 0)


async def test_turns_at_once_all_count(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await asyncio.gather(*(user.chat.send("hana", f"{number}번째") for number in range(8)))
    assert [(day.calls, day.tokens) for day in await user.usage()] == [(8, 8 * 13)]


@pytest.mark.req("ENG-5")
async def test_a_budget_that_is_used_up_refuses_before_any_call(
    gieok: Gieok, model: Priced, clock: Clock, behind: Behind
) -> None:
    user, plan = gieok.user("minsu"), budgeted("chat_turn", LIMITED)
    await user.chat.send("hana", "안녕", session_ref="s", plan=plan)
    kept = behind.count("messages")
    with pytest.raises(RateLimited, match=r"13 tokens were used today, and 13 a day are allowed") as refused:
        await user.chat.send("hana", "또 나야", session_ref="s", plan=plan)
    assert refused.value.retry_after == 30
    assert (model.replies, behind.count("messages")) == (1, kept)
    await gieok.user("jiyoung").chat.send("hana", "나는 괜찮아?", plan=plan)
    clock.advance(seconds=refused.value.retry_after)
    assert (await user.chat.send("hana", "이제 돼?", session_ref="s", plan=plan)).reply


async def test_a_job_beyond_the_budget_waits_for_the_next_day(gieok: Gieok, clock: Clock) -> None:
    """However often that happens, it is no failed attempt."""
    user, worker = gieok.user("minsu"), Worker(gieok)
    turn = await user.chat.send("hana", "안녕")
    (queued,) = (await user.sessions.close(turn.session_ref)).jobs
    await worker.run_once(clock())
    waiting = await user.jobs.get(queued.id)
    assert (waiting.status, waiting.error, waiting.attempts) == ("queued", "RATE_LIMITED", 0)
    assert waiting.due_at == datetime(2026, 1, 6, tzinfo=UTC)
    clock.advance(minutes=1)
    await worker.run_once(clock())
    assert (await user.jobs.get(queued.id)).status == "done"


async def test_erasing_an_owner_takes_their_usage_along(gieok: Gieok, behind: Behind) -> None:
    await gieok.user("minsu").chat.send("hana", "안녕")
    await gieok.user("jiyoung").chat.send("hana", "안녕")
    receipt = await gieok.user("minsu").data.erase()
    assert receipt.erased["usage_days"] == 1
    assert behind.run("SELECT owner FROM usage_days") == [("jiyoung",)]


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize("tokens", [0, -1, 1.5, "100"])
def test_a_budget_that_is_none_is_refused(tokens: Any) -> None:
    with pytest.raises(PlanInvalid, match=r"metadata\.tokensPerDay"):
        build_registry(CountingModel()).check(budgeted("chat_turn", tokens))


ASKING = {"LLMCall", "SummarizeMemory", "SummarizeSession", "CompactConversation"}


@pytest.mark.parametrize("name", plan_names())
def test_a_shipped_plan_counts_every_call_that_it_makes(name: str) -> None:
    """It also has a budget to set, and counts at the very end."""
    steps = json.loads(read_plan(name))["steps"]
    asking = {f"{step['id']}.usage" for step in steps if step["type"] in ASKING}
    counted = [set(step["inputs"].values()) for step in steps if step["type"] == "CountUsage"]
    assert counted == ([asking] if asking else [])
    assert sum(step["type"] == "CheckBudget" for step in steps) == bool(asking)
    assert not asking or steps[-1]["type"] == "CountUsage"
