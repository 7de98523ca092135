"""A turn and its remembering: two cycles, the second queued by the commit of the first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from gieok import Gieok, Settings, Worker
from gieok.errors import Conflict, ModelUnavailable, StepFailed
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.memory.sessions.records import MessageHead
from gieok.memory.sessions.rules import exchange_ends, unremembered
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from gieok.testing.models import CountingModel
from tests.behind import Behind
from tests.sessions.conversation import work


class Recorder(CountingModel):
    """Keeps what it was asked to remember, waits at a gate, and fails on demand."""

    def __init__(self) -> None:
        self.remembered: list[list[str]] = []
        self.failures = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.replies = 0

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.replies += 1
        return await super().reply(prompt, emit)

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise ModelUnavailable("away")
        self.remembered.append([exchange.text("user") for exchange in conversation.exchanges])
        return await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )


@pytest.mark.req("MIND-1", "MIND-2")
async def test_the_reply_comes_before_remembering_begins(settings: Settings, behind: Behind) -> None:
    """One call replies and one remembers. The messages and the job are one commit."""
    model = Recorder()
    model.gate.clear()
    async with await Gieok.open(replace(settings, background=True), model=model) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        turn = await user.chat.send("hana", "나 부산으로 이사했어")
        assert turn.remembering is not None
        assert (turn.remembering.status, model.replies, model.remembered) == ("queued", 1, [])
        assert (behind.count("messages"), behind.count("turn_memories")) == (2, 0)
        model.gate.set()
        done = await user.jobs.wait(turn.remembering.job_id)
        assert (done.status, model.remembered) == ("done", [["나 부산으로 이사했어"]])
        assert behind.count("turn_memories") == 1


@pytest.mark.req("MIND-1")
async def test_bookkeeping_that_fails_costs_no_reply_and_can_be_retried(settings: Settings) -> None:
    """It is retried with backoff, then fails with a notice; by hand it is retried again."""
    model, clock = Recorder(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user, worker = gieok.user("minsu"), Worker(gieok)
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        model.failures = 100
        turn = await user.chat.send("hana", "나 부산으로 이사했어", wait_memory=True)
        assert turn.reply
        assert turn.remembering is not None
        assert turn.remembering.status == "queued"
        job_id = turn.remembering.job_id
        with pytest.raises(Conflict, match="only a failed job"):
            await user.jobs.retry(job_id)
        for _ in range(6):
            clock.advance(minutes=10)
            await work(worker, clock)
            clock.advance(minutes=19)
        failed = await user.jobs.get(job_id)
        assert (failed.status, failed.error) == ("failed", "MODEL_UNAVAILABLE")
        assert [job.id for job in await user.jobs.list(status="failed")] == [job_id]
        model.failures = 0
        later = await user.chat.send("hana", "안녕")
        assert [notice.kind for notice in later.notices] == ["unremembered"]
        await user.jobs.retry(job_id)
        assert (await user.jobs.wait(job_id)).status == "done"


@pytest.mark.req("MIND-1")
async def test_the_turns_of_a_persona_are_remembered_one_at_a_time_in_their_order(settings: Settings) -> None:
    """Also those of two sessions, by several workers; a job that waits for a retry holds the later ones."""
    model, clock = Recorder(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        model.failures = 1
        for number in range(6):
            await user.chat.send("hana", f"{number}", session_ref=f"s{number % 2}")
        workers = [Worker(gieok) for _ in range(3)]
        await asyncio.gather(*(work(worker, clock) for worker in workers))
        assert model.remembered == []
        clock.advance(seconds=6)
        while len(model.remembered) < 6:
            await asyncio.gather(*(work(worker, clock) for worker in workers))
        assert model.remembered == [[str(number)] for number in range(6)]


async def test_saved_messages_are_remembered_by_exchanges_unless_they_are_not_to_be(
    settings: Settings,
) -> None:
    model = Recorder()
    async with await Gieok.open(settings, model=model) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await user.sessions.start("hana", plan="chat_turn", session_ref="s")
        saved = await user.sessions.save("s", [message(1)])
        assert (saved.turn_id, saved.remembering) == ("m1", None)
        await user.sessions.save("s", [message(2, role="assistant"), message(3)], wait_memory=True)
        assert model.remembered == [["message 1"]]
        await user.sessions.save("s", [message(4, role="assistant")], remember=False)
        await user.sessions.close("s", wait=True)
        assert model.remembered == [["message 1"], ["message 3"]]


async def test_a_failed_turn_leaves_the_caller_usable(settings: Settings) -> None:
    """On Python 3.11 and 3.12 a task group would leave the task marked as cancelled."""

    class Fails(CountingModel):
        async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
            raise ModelUnavailable("away")

    async with await Gieok.open(settings, model=Fails()) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        with pytest.raises(StepFailed):
            await user.chat.send("hana", "안녕")
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("roles", "is_over", "ends"),
    [
        ("", False, []),
        ("u", False, []),
        ("u", True, [1]),
        ("ua", False, [2]),
        ("uaua", False, [2, 4]),
        ("uuaau", False, [4]),
        ("auau", True, [1, 3, 4]),
    ],
)
def test_an_exchange_ends_with_the_last_answer(roles: str, is_over: bool, ends: list[int]) -> None:
    names = ["user" if role == "u" else "assistant" for role in roles]
    assert exchange_ends(names, is_over=is_over) == ends  # pyright: ignore[reportArgumentType]


def test_exchanges_wait_until_there_are_enough() -> None:
    heads = [
        MessageHead(seq, f"m{seq}", "user" if seq % 2 else "assistant", is_withdrawn=False)
        for seq in (*range(11, 17), *range(19, 24))
    ]
    assert unremembered(heads[:6], every=4, at_most=2, is_over=False) == []
    spans = unremembered(heads, every=4, at_most=2, is_over=False)
    assert [(span.first, span.last) for span in spans] == [(11, 14), (15, 20), (21, 22)]
