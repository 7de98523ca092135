"""Sessions, messages, jobs and summaries against a simple model, in any order of events."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gieok import Gieok
from gieok.app.background.jobs import LEASE
from gieok.app.background.worker import Worker
from gieok.errors import SessionEnded
from gieok.testing.clock import Clock
from gieok.testing.settings import settings_for
from tests.sessions.conversation import MoodyModel, begin, job_plans, memories, said, work

T = TypeVar("T")
NAMES = ("s1", "s2")
SESSIONS = st.sampled_from(NAMES)
INACTIVITY, RETRY = 30, 15


@dataclass
class Expected:
    """What a user would say of a session."""

    messages: int = 0
    claimed: int = 0
    ended: bool = False
    idle_minutes: int = 0
    parts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def claim(self, after: int) -> None:
        if self.messages - self.claimed >= after:
            self.parts.append((self.claimed + 1, self.messages))
            self.claimed = self.messages

    def end(self) -> None:
        self.ended = True
        self.claim(1)


class Sessions(RuleBasedStateMachine):
    """On SQLite, with a worker that comes when it likes, dies, and a model that may be away."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gieok-model-"))
        self.loop = asyncio.new_event_loop()
        self.clock, self.model = Clock(), MoodyModel()
        self.expected = {name: Expected() for name in NAMES}
        self.gieok = self.do(self.open())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def open(self) -> Gieok:
        where = settings_for(
            f"sqlite:///{self.folder / 'data' / 'gieok.db'}", self.folder / "config" / "root.key"
        )
        return await Gieok.open(where, model=self.model, clock=self.clock, job_plans=job_plans("excerpt"))

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            self.do(begin(self.gieok.user("minsu"), name))

    @rule(name=SESSIONS, count=st.integers(1, 15), repeated=st.integers(0, 2))
    def say(self, name: str, count: int, repeated: int) -> None:
        expected = self.expected[name]
        first = max(1, expected.messages + 1 - repeated)
        batch = said(first, expected.messages + count)
        saving = self.gieok.user("minsu").sessions.save_messages(name, batch)
        if expected.ended:
            with pytest.raises(SessionEnded):
                self.do(saving)
            return
        assert self.do(saving).added == count
        expected.messages += count
        expected.idle_minutes = 0
        expected.claim(20)

    @rule(name=SESSIONS)
    def close(self, name: str) -> None:
        self.do(self.gieok.user("minsu").sessions.close(name))
        self.expected[name].end()

    @rule(name=SESSIONS)
    def ask_for_a_summary(self, name: str) -> None:
        self.do(self.gieok.user("minsu").sessions.summarize(name))
        self.expected[name].claim(1)

    @rule(minutes=st.sampled_from([1, 10, RETRY, INACTIVITY]), failures=st.sampled_from([0, 0, 3, 6]))
    def time_passes_and_the_worker_comes(self, minutes: int, failures: int) -> None:
        self.model.failures = failures
        self.wait_and_work(minutes)
        self.model.failures = 0

    @rule()
    def a_worker_dies_with_jobs_in_its_hands(self) -> None:
        """It claims what is due and is never heard of again; the lease gives it to the next one."""

        async def die() -> None:
            self.model.gate, self.model.asked = asyncio.Event(), asyncio.Event()
            dying = asyncio.create_task(Worker(self.gieok).run_once(self.clock()))
            asked = asyncio.create_task(self.model.asked.wait())
            await asyncio.wait((dying, asked), return_when=asyncio.FIRST_COMPLETED)
            for task in (dying, asked):
                task.cancel()
            await asyncio.gather(dying, asked, return_exceptions=True)
            self.model.gate = None

        self.do(die())
        self.wait_and_work(LEASE // timedelta(minutes=1))

    @rule()
    def restart(self) -> None:
        self.do(self.gieok.close())
        self.gieok = self.do(self.open())

    def wait_and_work(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)
        self.do(work(Worker(self.gieok), self.clock))
        for expected in self.expected.values():
            expected.idle_minutes += minutes
            if expected.idle_minutes >= INACTIVITY and not expected.ended:
                expected.end()

    @invariant()
    def no_message_is_summarised_twice(self) -> None:
        told = [content for part in self.model.summarized for content in part]
        assert len(told) <= sum(each.claimed for each in self.expected.values())

    def teardown(self) -> None:
        """In the end everything that was claimed is a real memory, once, and nothing else is."""
        for _ in range(3):
            self.wait_and_work(RETRY)
        found = self.do(memories(self.gieok))
        for name, expected in self.expected.items():
            view = self.do(self.gieok.user("minsu").sessions.get(name))
            assert (view.session.ended_at is not None) == expected.ended
            assert view.session.summarized_count == expected.claimed
            assert (view.messages == ()) == (expected.ended or expected.messages == 0)
            made = [memory for memory in found if memory.session_ref == name]
            assert {memory.origin for memory in made} <= {"summary"}
            lasts = sorted(said(last, last)[0].timestamp for _, last in expected.parts)
            assert sorted(memory.occurred_at for memory in made) == lasts
        self.do(self.gieok.close())
        self.loop.close()
        shutil.rmtree(self.folder)


TestSessions = pytest.mark.req("COMP-1", "SESS-2", "SESS-5")(Sessions.TestCase)
TestSessions.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
