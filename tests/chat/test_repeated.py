"""A message that is sent again: the same answer, stored once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from gieok import Gieok, MemoryDraft, Settings
from gieok.app import ChatTurn
from gieok.errors import Conflict, ModelUnavailable, NotFound, StepFailed
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.requests import RequestKey
from gieok.testing.clock import Clock
from gieok.testing.models import CountingModel
from tests.behind import Behind

MOVED = "나 부산으로 이사했어. 내일 면접도 있어"


class Slow(CountingModel):
    """Counts its replies, waits at a gate, and fails on demand."""

    def __init__(self) -> None:
        self.replies = 0
        self.failures = 0
        self.begun = asyncio.Semaphore(0)
        self.gate = asyncio.Event()
        self.gate.set()

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.replies += 1
        self.begun.release()
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise ModelUnavailable("away")
        emit(f"답 {self.replies}")
        return Reply(text=f"답 {self.replies}", input_tokens=3, output_tokens=2)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> Slow:
    return Slow()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock, model: Slow) -> AsyncIterator[Gieok]:
    async with await Gieok.open(replace(settings, background=False), model=model, clock=clock) as opened:
        await opened.user("minsu").personas.create(PersonaDraft(name="하나"), persona_id="hana")
        yield opened


def key(name: str = "k1", body: bytes = b"{}") -> RequestKey:
    return RequestKey(key=name, body=body)


@pytest.mark.parametrize("how", ["key", "message", "both"])
async def test_a_repeated_turn_gives_the_same_answer(
    gieok: Gieok, model: Slow, behind: Behind, clock: Clock, how: str
) -> None:
    """Also in another process, under a new data key, and after its session has ended."""
    user = gieok.user("minsu")
    await user.canon.set_fact("hana", "GOAL", "취업", "스타트업 입사")
    memory = MemoryDraft(persona_id="hana", summary="면접을 앞두고 긴장함.")
    await user.companion.create(memory, account_plan="premium")

    async def send(name: str = how, text: str = MOVED) -> ChatTurn:
        return await user.chat.send(
            "hana",
            text,
            once=None if how == "message" else key(name, text.encode()),
            message_id=None if how == "key" else name,
        )

    first = await send()
    assert (len(first.recalled), len(first.state)) == (1, 1)
    clock.advance(minutes=1)
    assert await send() == first
    await send("other", "다른 말이야")
    await user.rotate_key()
    clock.advance(hours=2)
    assert await send() == first
    assert (model.replies, behind.count("messages"), behind.count("sessions")) == (2, 4, 1)
    with pytest.raises(Conflict):
        await send(text="다른 내용이야")
    assert behind.files_with("부산") == {"부산": []}


async def test_a_repeated_answer_has_no_prompt(gieok: Gieok) -> None:
    chat = gieok.user("minsu").chat
    first, again = [await chat.send("hana", MOVED, message_id="m1") for _ in range(2)]
    assert first.prompt.messages
    assert (first.record.plan_hash, first.turn_id) == (again.plan_hash, "m1")
    with pytest.raises(NotFound, match="repeated"):
        _ = again.prompt


@pytest.mark.parametrize("how", ["key", "message"])
async def test_a_request_that_is_still_running_is_waited_for(
    gieok: Gieok, model: Slow, behind: Behind, how: str
) -> None:
    chat = gieok.user("minsu").chat
    model.gate.clear()
    once, message_id = (key(), None) if how == "key" else (None, "m1")
    sends = [
        asyncio.create_task(chat.send("hana", MOVED, once=once, message_id=message_id)) for _ in range(4)
    ]
    await model.begun.acquire()
    model.gate.set()
    turns = await asyncio.gather(*sends)
    assert all(turn == turns[0] for turn in turns)
    assert (model.replies, behind.count("messages")) == (1, 2)


async def test_two_processes_store_a_repeated_turn_once(settings: Settings, behind: Behind) -> None:
    """Both ask the model. The later commit is refused, and its caller gets the answer of the first."""
    model = Slow()
    model.gate.clear()
    alone = replace(settings, background=False)
    async with await Gieok.open(alone, model=model) as one, await Gieok.open(alone, model=model) as two:
        await one.user("minsu").personas.create(PersonaDraft(name="하나"), persona_id="hana")
        sends = [
            asyncio.create_task(each.user("minsu").chat.send("hana", MOVED, once=key()))
            for each in (one, two)
        ]
        for _ in sends:
            await model.begun.acquire()
        model.gate.set()
        turns = await asyncio.gather(*sends)
    assert turns[0] == turns[1]
    assert (behind.count("messages"), behind.count("sessions")) == (2, 1)


async def test_a_failed_turn_can_be_repeated(gieok: Gieok, model: Slow, behind: Behind) -> None:
    """It has stored nothing, not even its key."""
    chat = gieok.user("minsu").chat
    model.failures = 1
    with pytest.raises(StepFailed):
        await chat.send("hana", MOVED, once=key(), message_id="m1")
    assert [behind.count(table) for table in ("messages", "sessions", "requests")] == [0, 0, 0]
    turn = await chat.send("hana", MOVED, once=key(), message_id="m1")
    assert await chat.send("hana", MOVED, once=key(), message_id="m1") == turn
    assert behind.count("messages") == 2


async def test_a_message_id_is_found_in_the_log_for_as_long_as_the_session_exists(
    gieok: Gieok, clock: Clock, model: Slow, behind: Behind
) -> None:
    """After the stored answer has expired: the reply, without what it was based on."""
    chat = gieok.user("minsu").chat
    first = await chat.send("hana", MOVED, session_ref="s", message_id="m1")
    clock.advance(hours=25)
    again = await chat.send("hana", MOVED, session_ref="s", message_id="m1")
    assert (again.reply, again.session_ref, again.turn_id) == (first.reply, "s", "m1")
    assert (again.usage.calls, again.recalled, again.remembering) == (0, (), None)
    with pytest.raises(Conflict, match="m1"):
        await chat.send("hana", "다른 내용이야", session_ref="s", message_id="m1")
    assert (model.replies, behind.count("messages")) == (1, 2)


async def test_message_ids_of_two_sessions_are_independent(gieok: Gieok) -> None:
    chat = gieok.user("minsu").chat
    one = await chat.send("hana", MOVED, session_ref="s", message_id="1")
    two = await chat.send("hana", "안녕!", session_ref="t", message_id="1")
    assert (one.session_ref, two.session_ref) == ("s", "t")


async def test_the_session_of_the_answer_may_be_named_in_the_repeated_request(
    gieok: Gieok, model: Slow
) -> None:
    chat = gieok.user("minsu").chat
    first = await chat.send("hana", MOVED, message_id="m1")
    again = await chat.send("hana", MOVED, message_id="m1", session_ref=first.session_ref)
    assert (again.reply, model.replies) == (first.reply, 1)


async def test_a_repeated_request_can_wait_for_its_memory(gieok: Gieok) -> None:
    chat = gieok.user("minsu").chat
    first = await chat.send("hana", MOVED, once=key())
    assert first.remembering is not None
    again = await chat.send("hana", MOVED, once=key(), wait_memory=True)
    assert again.remembering is not None
    assert (again.remembering.job_id, again.remembering.status) == (first.remembering.job_id, "done")


async def test_a_listener_of_a_repeated_request_gets_the_reply(gieok: Gieok) -> None:
    chat, heard = gieok.user("minsu").chat, list[str]()
    turn = await chat.send("hana", MOVED, once=key())
    await chat.send("hana", MOVED, once=key(), listen=lambda event: heard.append(event.data))
    assert heard == [turn.reply]


def answers(behind: Behind) -> int:
    """How many answers are stored; a key whose answer was deleted stays until it expires."""
    return behind.run("SELECT count(*) FROM requests WHERE sealed IS NOT NULL")[0][0]


async def test_a_stored_answer_is_deleted_with_its_session(gieok: Gieok, behind: Behind) -> None:
    """It quotes the conversation. Answers of other sessions stay."""
    user = gieok.user("minsu")
    for session_ref in ("s", "t"):
        await user.chat.send("hana", MOVED, session_ref=session_ref, message_id="m1", once=key(session_ref))
    assert answers(behind) == 4
    await user.sessions.delete("s")
    assert answers(behind) == 2
    with pytest.raises(Conflict, match="withdrawn or deleted"):
        await user.chat.send("hana", MOVED, session_ref="s", message_id="m1", once=key("s"))
    again = await user.chat.send("hana", MOVED, session_ref="s", message_id="m1", once=key("new"))
    assert again.reply == "답 3"


@pytest.mark.req("MIND-12")
@pytest.mark.parametrize("named", [True, False], ids=["in a session", "without one"])
async def test_the_reply_of_a_withdrawn_turn_is_not_given_again(
    gieok: Gieok, behind: Behind, named: bool
) -> None:
    """Its stored answers are deleted, those of other turns stay. Its message id and its keys stay taken: a
    client that repeats the request must not bring back unnoticed what the user has withdrawn."""
    user, session_ref = gieok.user("minsu"), "s" if named else None

    async def send(text: str, name: str, message_id: str | None = None) -> ChatTurn:
        return await user.chat.send(
            "hana", text, session_ref=session_ref, once=key(name), message_id=message_id
        )

    kept = await send("안녕", "k0", "m0")
    withdrawn = await send(MOVED, "k1", "m1")
    later = await send("하나 더", "k3")
    assert answers(behind) == 5
    await user.sessions.withdraw(withdrawn.session_ref, later.turn_id)
    await user.sessions.withdraw(withdrawn.session_ref)
    assert answers(behind) == 2
    with pytest.raises(Conflict, match="m1 was withdrawn"):
        await send(MOVED, "k2", "m1")
    for text, name, message_id in ((MOVED, "k1", "m1"), ("하나 더", "k3", None)):
        with pytest.raises(Conflict, match="withdrawn or deleted"):
            await send(text, name, message_id)
    assert await send("안녕", "k0", "m0") == kept
    again = await send(MOVED, "k4")
    assert (again.session_ref, again.reply) == (withdrawn.session_ref, "답 4")


async def test_a_stored_answer_is_deleted_with_its_persona(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="두나"), persona_id="duna")
    for persona in ("hana", "duna"):
        await user.chat.send(persona, MOVED, message_id="m1", once=key(persona))
    await user.personas.delete("hana")
    assert answers(behind) == 2
    with pytest.raises(Conflict, match="withdrawn or deleted"):
        await user.chat.send("hana", MOVED, message_id="m1", once=key("hana"))
    with pytest.raises(NotFound):
        await user.chat.send("hana", MOVED, message_id="m1", once=key("new"))


async def test_stored_answers_about_facts_are_deleted_with_their_persona(
    gieok: Gieok, behind: Behind
) -> None:
    """They quote the facts. Those of another persona stay."""
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="두나"), persona_id="duna")
    for persona in ("hana", "duna"):
        await user.canon.set_fact(persona, "GOAL", "취업", "개발자", once=key(persona))
    assert answers(behind) == 2
    await user.personas.delete("hana")
    assert answers(behind) == 1
    with pytest.raises(Conflict, match="withdrawn or deleted"):
        await user.canon.set_fact("hana", "GOAL", "취업", "개발자", once=key("hana"))
    repeated = await user.canon.set_fact("duna", "GOAL", "취업", "개발자", once=key("duna"))
    assert repeated.fact is not None
    assert (await user.canon.history("duna", repeated.fact.root_id))[-1].version == 1


@pytest.mark.req("MIND-12")
async def test_a_repeated_request_for_another_reply_gives_the_same_one(
    gieok: Gieok, model: Slow, behind: Behind
) -> None:
    """Two at once, later, and after the session has ended. The answer to the first send is gone."""
    user, heard = gieok.user("minsu"), list[str]()
    await user.chat.send("hana", MOVED, session_ref="s", once=key("k0"))
    first, same = await asyncio.gather(*(user.chat.regenerate("s", once=key()) for _ in range(2)))
    assert (first, first.reply) == (same, "답 2")
    assert (model.replies, behind.count("messages"), answers(behind)) == (2, 4, 1)
    await user.sessions.close("s")
    again = await user.chat.regenerate("s", once=key(), listen=lambda event: heard.append(event.data))
    assert (again, heard, model.replies) == (first, ["답 2"], 2)
    with pytest.raises(Conflict, match="Idempotency-Key"):
        await user.chat.regenerate("t", once=key(body=b"t"))
    with pytest.raises(Conflict, match="Idempotency-Key"):
        await user.chat.send("hana", MOVED, once=key())


async def test_two_processes_make_another_reply_once(settings: Settings, behind: Behind) -> None:
    model = Slow()
    alone = replace(settings, background=False)
    async with await Gieok.open(alone, model=model) as one, await Gieok.open(alone, model=model) as two:
        await one.user("minsu").personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await one.user("minsu").chat.send("hana", MOVED, session_ref="s")
        await model.begun.acquire()
        model.gate.clear()
        calls = [
            asyncio.create_task(each.user("minsu").chat.regenerate("s", once=key())) for each in (one, two)
        ]
        for _ in calls:
            await model.begun.acquire()
        model.gate.set()
        turns = await asyncio.gather(*calls)
    assert turns[0] == turns[1]
    assert behind.count("messages") == 4
