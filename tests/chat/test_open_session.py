"""A message without a session continues the open session with its persona, or starts one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from gieok import Gieok, Settings
from gieok.engine import StepEvent
from gieok.errors import Conflict, InputRefused, PlanHashMismatch
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.clock import Clock
from gieok.testing.models import CountingModel
from tests.behind import Behind

PERSONAS = {"hana": PersonaDraft(name="하나"), "hugo": PersonaDraft(name="Hugo")}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    async with await Gieok.open(replace(settings, background=False), clock=clock) as opened:
        for persona_id, draft in PERSONAS.items():
            await opened.user("minsu").personas.create(draft, persona_id=persona_id)
        yield opened


async def test_the_open_session_with_the_persona_continues(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("minsu")
    first = await user.chat.send("hana", "나 부산으로 이사했어")
    other = await user.chat.send("hugo", "안녕!")
    again = await user.chat.send("hana", "거기 날씨가 좋아")
    assert again.session_ref == first.session_ref != other.session_ref
    assert again.prompt.messages[0].content == "나 부산으로 이사했어"
    assert behind.count("sessions") == 2


async def test_a_session_is_started_on_purpose(gieok: Gieok, clock: Clock) -> None:
    """The newest one then continues."""
    chat = gieok.user("minsu").chat
    first = await chat.send("hana", "안녕!")
    clock.advance(seconds=1)
    second = await chat.send("hana", "다른 얘기야", new_session=True)
    third = await chat.send("hana", "이어서 말할게")
    assert third.session_ref == second.session_ref != first.session_ref
    with pytest.raises(InputRefused, match="newSession"):
        await chat.send("hana", "안녕!", session_ref=first.session_ref, new_session=True)


async def test_an_ended_session_does_not_continue(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    first = await user.chat.send("hana", "안녕!")
    await user.sessions.close(first.session_ref)
    assert await user.chat.open_session("hana") is None
    assert (await user.chat.send("hana", "또 왔어")).session_ref != first.session_ref


async def test_an_inactive_session_does_not_continue(gieok: Gieok, clock: Clock) -> None:
    """The plan says after how many minutes, and no worker has ended it yet."""
    chat = gieok.user("minsu").chat
    first = await chat.send("hana", "안녕!")
    clock.advance(minutes=29, seconds=59)
    assert (await chat.send("hana", "아직 있어?")).session_ref == first.session_ref
    clock.advance(minutes=30)
    assert (await chat.send("hana", "또 왔어")).session_ref != first.session_ref


@pytest.mark.req("ENG-9")
async def test_a_session_of_another_plan_does_not_continue(gieok: Gieok, behind: Behind) -> None:
    """Nor one under a former hash of this plan: with its id it is refused, without it a session starts."""
    chat = gieok.user("minsu").chat
    whole = await chat.send("hana", "안녕!", plan="chat_turn_whole")
    first = await chat.send("hana", "안녕!")
    assert first.session_ref != whole.session_ref
    assert (await chat.send("hana", "응", plan="chat_turn_whole")).session_ref == whole.session_ref
    behind.run(f"UPDATE sessions SET last_plan_hash = '{'0' * 64}' WHERE session_ref = '{first.session_ref}'")
    with pytest.raises(PlanHashMismatch):
        await chat.send("hana", "나야", session_ref=first.session_ref)
    assert (await chat.send("hana", "나야")).session_ref not in (first.session_ref, whole.session_ref)


async def test_a_session_that_was_started_before_its_first_message_continues(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    started = await user.sessions.start("hana", plan="chat_turn")
    assert (await user.chat.send("hana", "안녕!")).session_ref == started.session_ref


async def test_owners_do_not_share_sessions(gieok: Gieok) -> None:
    first = await gieok.user("minsu").chat.send("hana", "안녕!")
    other = gieok.user("jiyoung")
    await other.personas.create(PERSONAS["hana"], persona_id="hana")
    assert await other.chat.open_session("hana") is None
    assert (await other.chat.send("hana", "안녕!")).session_ref != first.session_ref


async def test_concurrent_messages_start_one_session(gieok: Gieok, behind: Behind) -> None:
    chat = gieok.user("minsu").chat
    turns = await asyncio.gather(*(chat.send("hana", f"{number}번째 말이야") for number in range(8)))
    assert len({turn.session_ref for turn in turns}) == 1
    assert (behind.count("sessions"), behind.count("messages")) == (1, 16)


class Together(CountingModel):
    """The first replies, as many as the barrier has parties, wait for each other."""

    def __init__(self, barrier: asyncio.Barrier) -> None:
        self._barrier = barrier
        self.replies = 0

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.replies += 1
        if self.replies <= self._barrier.parties:
            await self._barrier.wait()
        return await super().reply(prompt, emit)


async def test_two_processes_start_one_session(settings: Settings, behind: Behind) -> None:
    """Neither sees a session when it begins. The later one then goes on in that of the first."""
    alone = replace(settings, background=False)
    model = Together(asyncio.Barrier(2))
    async with await Gieok.open(alone, model=model) as one, await Gieok.open(alone, model=model) as two:
        await one.user("minsu").personas.create(PERSONAS["hana"], persona_id="hana")
        turns = await asyncio.gather(
            *(gieok.user("minsu").chat.send("hana", "안녕!") for gieok in (one, two))
        )
    assert len({turn.session_ref for turn in turns}) == 1
    assert (behind.count("sessions"), behind.count("messages")) == (1, 4)
    assert sorted(len(turn.prompt.messages) for turn in turns) == [1, 3]


async def test_a_reply_that_was_heard_is_not_made_again(settings: Settings, behind: Behind) -> None:
    """The commit of the later one is refused, and stores nothing."""
    alone = replace(settings, background=False)
    model = Together(asyncio.Barrier(2))
    heard: list[StepEvent] = []
    async with await Gieok.open(alone, model=model) as one, await Gieok.open(alone, model=model) as two:
        await one.user("minsu").personas.create(PERSONAS["hana"], persona_id="hana")
        chats = [gieok.user("minsu").chat for gieok in (one, two)]
        results = await asyncio.gather(
            *(chat.send("hana", "안녕!", listen=heard.append) for chat in chats), return_exceptions=True
        )
    refused = [result for result in results if isinstance(result, BaseException)]
    assert [isinstance(each, Conflict) for each in refused] == [True]
    assert model.replies == 2
    assert (behind.count("sessions"), behind.count("messages")) == (1, 2)


async def test_a_session_that_ends_meanwhile_does_not_refuse_the_message(
    gieok: Gieok, settings: Settings, clock: Clock
) -> None:
    """It was open when the message chose it, and has ended when the turn begins."""
    user = gieok.user("minsu")
    first = await user.chat.send("hana", "안녕!")
    async with gieok.session_locks.of("minsu", first.session_ref):
        sending = asyncio.create_task(user.chat.send("hana", "또 왔어"))
        await asyncio.sleep(0.1)
        async with await Gieok.open(replace(settings, background=False), clock=clock) as other:
            await other.user("minsu").sessions.close(first.session_ref)
    assert (await sending).session_ref != first.session_ref


async def test_a_failed_turn_starts_no_session(settings: Settings, behind: Behind) -> None:
    class Away(CountingModel):
        async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
            raise RuntimeError("away")

    async with await Gieok.open(replace(settings, background=False), model=Away()) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PERSONAS["hana"], persona_id="hana")
        with pytest.raises(Exception, match="call"):
            await user.chat.send("hana", "안녕!")
    assert behind.count("sessions") == 0
