"""The chat turn: one cycle for one user and one persona."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gieok import Gieok, Message, Settings
from gieok.adapters.models.offline import OfflineModel
from gieok.errors import (
    Conflict,
    InputRefused,
    ModelUnavailable,
    NotFound,
    PlanHashMismatch,
    SessionEnded,
    StepFailed,
)
from gieok.memory.blocks import WORDING
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.steps import AssembledPrompt, PromptAssemble
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.plans import plan_names
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import append, message
from tests.behind import Behind

HANA = PersonaDraft(
    name="하나", language="ko", system_prompt="너는 하나, 사용자의 다정한 친구다. 반말로 말한다."
)
HUGO = PersonaDraft(name="Hugo", language="en", system_prompt="You are Hugo, a calm friend of the user.")
CHAT_PLANS = [name for name in plan_names() if name.startswith("chat_turn")]
TABLES = (
    "sessions",
    "messages",
    "jobs",
    "turn_memories",
    "search_scopes",
    "memories",
    "chain_versions",
    "chain_heads",
)


async def test_a_turn_joins_turn_memory_canon_recall_and_the_session(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    first = await user.chat.send(hana.id, "나 부산으로 이사했어. 내일 면접도 있어", wait_memory=True)
    second = await user.chat.send(hana.id, "면접에서는 뭘 물어볼까?", session_ref=first.session_ref)
    assert first.changes
    assert [memory.summary for memory in second.retrieved]
    assert [fact.value for fact in second.state]
    system = second.prompt.system
    places = [system.index(part) for part in ("너는 하나", "[현재 상태(캐논)]", "[과거 대화 기록]")]
    assert places == sorted(places)
    assert [message.content for message in second.prompt.messages] == [
        "나 부산으로 이사했어. 내일 면접도 있어",
        first.reply,
        "면접에서는 뭘 물어볼까?",
    ]
    log = await user.sessions.log(first.session_ref)
    assert [message.content for message in log][1::2] == [first.reply, second.reply]


class FailsLate(OfflineModel):
    """Replies, and then fails in the last model step of a turn."""

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        raise ModelUnavailable("away")


@pytest.mark.req("ENG-6")
async def test_a_failed_turn_leaves_no_message_no_fact_and_no_memory(
    settings: Settings, behind: Behind
) -> None:
    async with await Gieok.open(settings, model=FailsLate()) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        before = {table: behind.count(table) for table in TABLES}
        with pytest.raises(StepFailed) as failed:
            await user.chat.send(hana.id, "나 부산으로 이사했어", plan="chat_turn_whole")
        assert failed.value.step == "summarize"
        assert {table: behind.count(table) for table in TABLES} == before


@pytest.mark.req("SESS-3")
async def test_a_client_may_keep_its_own_window(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    first = await user.chat.send(hana.id, "안녕")
    own = [
        Message(role="user", content="요즘 스트레스 받아"),
        Message(role="assistant", content="무슨 일 있어?"),
    ]
    turn = await user.chat.send(
        hana.id, "회사 일이 많아서", session_ref=first.session_ref, recent_messages=own
    )
    assert [message.content for message in turn.prompt.messages] == [
        "요즘 스트레스 받아",
        "무슨 일 있어?",
        "회사 일이 많아서",
    ]


@pytest.mark.req("SESS-1")
async def test_the_window_is_the_last_ten_messages_and_the_rest_is_recalled(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    session: str | None = None
    for number in range(7):
        turn = await user.chat.send(hana.id, f"이야기 {number}번", session_ref=session)
        session = turn.session_ref
    last = await user.chat.send(hana.id, "계속해 보자", session_ref=session)
    assert len(last.prompt.messages) == 11
    assert last.prompt.messages[0].content == "이야기 2번"


@pytest.mark.req("COMP-7", "OPS-4")
async def test_personas_and_users_are_isolated(settings: Settings) -> None:
    """One user with two personas, two users with a persona of the same id: nothing crosses."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
        for user in (minsu, jiyoung):
            await user.personas.create(HANA, persona_id="hana")
        await minsu.personas.create(HUGO, persona_id="hugo")
        told = await minsu.chat.send("hana", "나 부산으로 이사했어. 내일 면접이 있어", wait_memory=True)
        await minsu.sessions.close(told.session_ref, wait=True)
        clock.advance(days=1)
        for user, persona in ((minsu, "hugo"), (jiyoung, "hana")):
            turn = await user.chat.send(persona, "면접 이사 부산")
            assert (turn.recalled, turn.retrieved, turn.state) == ((), (), ())
            assert "이사했" not in turn.prompt.system
        again = await minsu.chat.send("hana", "면접 이사 부산")
        assert again.recalled
        assert again.state


async def test_the_parts_of_another_owner_are_not_found(gieok: Gieok) -> None:
    minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
    hana = await minsu.personas.create(HANA)
    told = await minsu.chat.send(hana.id, "안녕")
    with pytest.raises(NotFound):
        await jiyoung.chat.send(hana.id, "안녕")
    with pytest.raises(NotFound):
        await jiyoung.sessions.get(told.session_ref)


@pytest.mark.req("ENG-1", "CANON-5")
@pytest.mark.parametrize("plan", CHAT_PLANS)
async def test_every_variant_of_the_chat_plan_runs(gieok: Gieok, plan: str) -> None:
    """What a variant leaves out is not done. Without the state block it still learns (seed 002)."""
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    first = await user.chat.send(
        hana.id, "나 부산으로 이사했어. 내일 면접이 있어", plan=plan, wait_memory=True
    )
    turn = await user.chat.send(hana.id, "면접 얘기야", session_ref=first.session_ref, plan=plan)
    assert turn.reply
    assert bool(turn.retrieved) == (plan != "chat_turn_without_turn_memory")
    assert bool(turn.state) == (plan != "chat_turn_without_state")
    assert (WORDING["ko"].state_header in turn.prompt.system) == (plan != "chat_turn_without_state")
    assert first.changes
    assert {fact.value for fact in await user.canon.facts(hana.id)} >= {"부산으로 이사함"}


@pytest.mark.req("ENG-9")
async def test_a_session_stays_with_its_plan(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    told = await user.chat.send(hana.id, "안녕")
    with pytest.raises(PlanHashMismatch):
        await user.chat.send(hana.id, "안녕", session_ref=told.session_ref, plan="chat_turn_without_state")


@pytest.mark.req("SESS-2")
async def test_an_ended_session_accepts_no_message(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    told = await user.chat.send(hana.id, "안녕")
    await user.sessions.close(told.session_ref)
    with pytest.raises(SessionEnded):
        await user.chat.send(hana.id, "아직 있어?", session_ref=told.session_ref)


@pytest.mark.req("SESS-2")
@pytest.mark.parametrize("plan", CHAT_PLANS)
async def test_a_session_ends_after_thirty_minutes_even_without_a_worker(
    settings: Settings, plan: str
) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        told = await user.chat.send(hana.id, "안녕", plan=plan)
        clock.advance(minutes=29)
        await user.chat.send(hana.id, "아직 있어?", session_ref=told.session_ref, plan=plan)
        clock.advance(minutes=30)
        with pytest.raises(SessionEnded):
            await user.chat.send(hana.id, "아직 있어?", session_ref=told.session_ref, plan=plan)


async def test_a_session_keeps_its_account_plan(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    paid = await user.chat.send(hana.id, "안녕")
    free = await user.chat.send(hana.id, "안녕", account_plan="free", new_session=True)
    await user.chat.send(hana.id, "또 왔어", session_ref=free.session_ref)
    views = [await user.sessions.get(turn.session_ref) for turn in (free, paid)]
    assert [view.session.account_plan for view in views] == ["free", "premium"]


@pytest.mark.req("SESS-4")
@pytest.mark.parametrize("plan", CHAT_PLANS)
async def test_a_reply_based_on_an_old_window_is_not_stored(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch, plan: str
) -> None:
    """Another process writes after the window was read and before the turn commits."""
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    told = await user.chat.send(hana.id, "안녕", plan=plan)
    assemble = PromptAssemble.run
    elsewhere = gieok.scope("minsu")

    async def assemble_while_another_writes(step: PromptAssemble, *given: Any) -> AssembledPrompt:
        await append(elsewhere, message(1), session_ref=told.session_ref)
        return await assemble(step, *given)

    monkeypatch.setattr(PromptAssemble, "run", assemble_while_another_writes)
    with pytest.raises(Conflict):
        await user.chat.send(hana.id, "뭐 해?", session_ref=told.session_ref, plan=plan)
    assert len(await user.sessions.log(told.session_ref)) == 3


async def test_two_concurrent_sends_are_both_stored_in_order(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    told = await user.chat.send(hana.id, "시작하자")
    sends = [user.chat.send(hana.id, f"{n}번 이야기", session_ref=told.session_ref) for n in range(5)]
    turns = await asyncio.gather(*sends)
    log = await user.sessions.log(told.session_ref)
    assert len(log) == 12
    said = [message.content for message in log]
    for number, turn in enumerate(turns):
        place = said.index(f"{number}번 이야기")
        assert said[place + 1] == turn.reply


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"message": ""}, "message"),
        ({"message": " \n"}, "message"),
        ({"message": "x" * 20_001}, "message"),
        ({"message": "안녕\0"}, "message"),
        ({"message": "안녕\ud800"}, "message"),
        ({"message": None}, "message"),
        ({"message": 7}, "message"),
        ({"recent_messages": None}, "recentMessages"),
        ({"session_ref": ""}, "sessionRef"),
        ({"session_ref": "a b"}, "sessionRef"),
        ({"persona_id": ""}, "personaId"),
        ({"plan": "turn_memory"}, "request"),
    ],
)
async def test_an_invalid_argument_is_refused_before_any_step_runs(
    gieok: Gieok, behind: Behind, changes: dict[str, Any], at: str
) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    call: dict[str, Any] = {"persona_id": hana.id, "message": "안녕"} | changes
    with pytest.raises(InputRefused) as refused:
        await user.chat.send(call.pop("persona_id"), call.pop("message"), **call)
    assert refused.value.at is not None
    assert refused.value.at.startswith(at)
    assert behind.count("messages") == 0


async def test_the_reply_is_streamed(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    heard: list[str] = []
    turn = await user.chat.send(hana.id, "요즘 너무 지쳐", listen=lambda event: heard.append(event.data))
    assert "".join(heard) == turn.reply
    assert turn.usage.output_tokens > 0
