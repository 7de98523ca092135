"""A session of small talk leaves no memory; neither does one in which the model finds nothing to keep."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gieok import Gieok, PersonaDraft, Settings, Worker
from gieok.adapters.models.offline import OfflineModel
from gieok.app import User
from gieok.errors import ModelUnavailable
from gieok.memory.companion.records import MemoryChanges, MemoryOutline, SessionSummary, Spoken
from gieok.memory.conversation.records import Message
from gieok.memory.fields import Language
from gieok.testing.clock import Clock
from tests.sessions.conversation import job_plans, memories, work

pytestmark = pytest.mark.req("MIND-11")

KOREAN = ("안녕!", "그냥 심심해서 ㅋㅋ", "오늘 날씨 좋다", "응", "잘 자~")
ENGLISH = ("Hi!", "not much, you?", "it's raining today", "haha nice", "good night!")


class Choosy(OfflineModel):
    """Finds nothing worth keeping, and counts how often it was asked. `away`: does not answer."""

    asked = 0
    away = False

    async def summarize_session(  # pyright: ignore[reportIncompatibleMethodOverride] - the offline model always finds something
        self, messages: Sequence[Spoken]
    ) -> SessionSummary | None:
        self.asked += 1
        if self.away:
            raise ModelUnavailable("away")
        return None


async def talk(user: User, *messages: str) -> str:
    session: str | None = None
    for message in messages:
        session = (await user.chat.send("hana", message, session_ref=session, wait_memory=True)).session_ref
    assert session is not None
    return session


@pytest.mark.parametrize(("language", "said"), [("ko", KOREAN), ("en", ENGLISH)])
async def test_small_talk_leaves_no_memory(
    settings: Settings, language: Language, said: tuple[str, ...]
) -> None:
    """Not by the end of the session, and not by the worker; its turns stay in the log."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나", language=language), persona_id="hana")
        closed = await user.sessions.close(await talk(user, *said), wait=True)
        assert ([job.status for job in closed.jobs], closed.memory_id) == (["done"], None)
        await user.sessions.close(later := await talk(user, *said))
        await work(Worker(gieok), clock)
        assert await memories(gieok) == []
        session = (await user.sessions.get(later)).session
        assert session.summarized_count == session.message_count == 2 * len(said)
        kept = await user.sessions.close(await talk(user, *said, "나 부산으로 이사했어"), wait=True)
        assert [memory.id for memory in await memories(gieok)] == [kept.memory_id]


async def test_the_model_is_asked_only_where_something_was_said_and_may_find_nothing(
    settings: Settings,
) -> None:
    model, clock = Choosy(), Clock()
    async with await Gieok.open(settings, clock=clock, model=model) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        closed = await user.sessions.close(await talk(user, *KOREAN), wait=True)
        assert (closed.memory_id, model.asked) == (None, 0)
        closed = await user.sessions.close(await talk(user, "편의점 가서 우유 샀어"), wait=True)
        assert (closed.memory_id, model.asked) == (None, 1)
        assert await memories(gieok) == []


@pytest.mark.parametrize("is_edited", [False, True])
async def test_an_excerpt_goes_when_the_model_finds_nothing_in_it(
    settings: Settings, is_edited: bool
) -> None:
    """It stood in for a summary. One that the user has edited is the user's own, and stays."""
    model, clock = Choosy(), Clock()
    model.away = True
    async with await Gieok.open(settings, clock=clock, model=model, job_plans=job_plans("excerpt")) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        closed = await user.sessions.close(await talk(user, "편의점 가서 우유 샀어"), wait=True)
        assert closed.is_excerpt
        assert closed.memory_id is not None
        if is_edited:
            await user.companion.edit(closed.memory_id, MemoryChanges(importance=9))
        model.away = False
        clock.advance(hours=1)
        await work(Worker(gieok), clock)
        assert [memory.id for memory in await memories(gieok)] == ([closed.memory_id] if is_edited else [])
        job = await user.jobs.get(closed.jobs[0].id)
        assert (job.status, job.memory_id) == ("done", closed.memory_id if is_edited else None)


async def test_a_memory_that_is_asked_for_is_made_of_small_talk_too(settings: Settings) -> None:
    """`create` with messages is a wish of the user: the words themselves, if the model finds nothing."""
    async with await Gieok.open(settings, model=Choosy()) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        outline = MemoryOutline(persona_id="hana")
        made = await user.companion.create_of_messages(
            outline, [Message(role="user", content="안녕!")], account_plan="free"
        )
        assert (made.memory.summary, made.memory.origin) == ("user: 안녕!", "excerpt")
