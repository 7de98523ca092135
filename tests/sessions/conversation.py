"""Messages, a model that can be unavailable, and a worker that runs all due jobs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress

from gieok.app import Gieok, User
from gieok.app.background.jobs import JOB_PLANS, JobPlans
from gieok.app.background.worker import Worker
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import Conflict, ModelUnavailable
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import Memory, SessionSummary, Spoken
from gieok.memory.fields import AccountPlan
from gieok.memory.sessions.records import ChatMessage
from gieok.plans import read_plan
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from gieok.testing.models import CountingModel

PLAN = "turn_memory"
NAMED_PLANS = next(
    step["metadata"]["plans"] for step in json.loads(read_plan(PLAN))["steps"] if step["id"] == "remember"
)
"""The plans that serve a session, as `turn_memory` names them."""


class MoodyModel(CountingModel):
    """Is away for the next `failures` calls, and remembers which messages it summarised."""

    def __init__(self) -> None:
        self.failures = 0
        self.calls: int = 0
        self.summarized: list[tuple[str, ...]] = []
        self.gate: asyncio.Event | None = None
        self.asked = asyncio.Event()

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        self.calls += 1
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise ModelUnavailable("away")
        self.summarized.append(tuple(each.content for each in messages))
        return await super().summarize_session(messages)


def impatient(fallback: str) -> ExecutionPlan:
    """The shipped plan without its waits, so that a test need not wait either."""
    document = json.loads(read_plan("summarize_session"))
    summarize = next(step for step in document["steps"] if step["id"] == "summarize")
    summarize["metadata"] |= {"backoffSeconds": [0], "fallback": fallback}
    return make_plan(document)


def job_plans(fallback: str) -> JobPlans:
    """The shipped plans, with the impatient one."""
    return {**JOB_PLANS, "summary": impatient(fallback)}


def said(first: int, last: int) -> list[ChatMessage]:
    """Messages of a conversation, by their numbers."""
    return [message(number, role="user" if number % 2 else "assistant") for number in range(first, last + 1)]


async def begin(
    user: User,
    session: str = "s",
    *,
    persona: str = "hana",
    plan: str | ExecutionPlan = PLAN,
    account: AccountPlan = "free",
) -> str:
    """Start a session with a persona, who is made where there is none yet; the session's name."""
    with suppress(Conflict):
        await user.personas.create(PersonaDraft(name=persona), persona_id=persona)
    await user.sessions.start(persona, plan=plan, session_ref=session, account_plan=account)
    return session


async def talk(user: User, first: int, last: int, *, session: str = "s") -> None:
    """Say something, one message at a time."""
    for each in said(first, last):
        await user.sessions.save_messages(session, [each])


async def work(worker: Worker, clock: Clock) -> int:
    """Do everything that is due; how many jobs that were."""
    done = 0
    while count := await worker.run_once(clock()):
        done += count
    return done


async def memories(gieok: Gieok, owner: str = "minsu", persona: str = "hana") -> list[Memory]:
    """Every memory of a persona, oldest first."""
    page = await gieok.user(owner).companion.list(persona, status="all", limit=1000)
    return sorted(page.memories, key=lambda memory: (memory.created_at, memory.occurred_at))
