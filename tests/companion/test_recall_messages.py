"""Recall of messages and facts: in a chat and in a search, on both databases."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from gieok import Gieok, Hit, MemoryDraft, PersonaDraft, User
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import InputRefused
from gieok.memory.fields import AccountPlan
from gieok.memory.sessions.records import ChatMessage
from gieok.plans import read_plan
from tests.behind import Behind

HANA = PersonaDraft(name="하나", system_prompt="너는 하나, 다정한 친구다.")
DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
async def user(gieok: Gieok) -> User:
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")
    await user.personas.create(HANA, persona_id="mina")
    return user


async def say(
    user: User, session: str, *texts: str, persona: str = "hana", speaker: str | None = None
) -> None:
    """Save messages of a user in a new session, without a reply."""
    await user.sessions.start(persona, plan="chat_turn", session_ref=session)
    messages = [
        ChatMessage(id=f"{session}-{number}", role="user", content=text, timestamp=DAY, speaker=speaker)
        for number, text in enumerate(texts)
    ]
    await user.sessions.save_messages(session, messages, remember=False)


def texts(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.text for hit in hits]


@pytest.mark.req("MIND-10")
@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("지훈이랑 부산에 놀러 가기로 했어", "부산에는 누구랑 가기로 했더라?"),
        ("I am going to Busan with Jihoon", "who am I going to Busan with?"),
    ],
)
async def test_a_message_of_an_earlier_session_is_recalled_word_for_word(
    user: User, said: str, question: str
) -> None:
    await say(user, "s1", said, speaker="민수")
    await say(user, "other", said, persona="mina")
    turn = await user.chat.send("hana", question, session_ref="s2")
    hit = turn.recalled[0]
    assert hit.kind == "message"
    assert (hit.text, hit.role, hit.speaker, hit.session_ref) == (said, "user", "민수", "s1")
    assert (hit.timestamp, hit.id) == (DAY, "s1-0")
    assert hit.why.matched_words
    assert (len(turn.recalled), turn.degraded) == (1, ())


@pytest.mark.req("MIND-10")
async def test_messages_in_the_window_are_not_recalled_again(user: User) -> None:
    first = await user.chat.send("hana", "내일 부산에서 면접이 있어")
    again = await user.chat.send("hana", "부산 면접 기억나?", session_ref=first.session_ref)
    assert [hit for hit in again.recalled if hit.kind == "message"] == []
    for number in range(6):
        await user.chat.send("hana", f"오늘은 {number}시에 밥을 먹었어", session_ref=first.session_ref)
    later = await user.chat.send("hana", "부산 면접 기억나?", session_ref=first.session_ref)
    assert "내일 부산에서 면접이 있어" in texts(later.recalled)


def without_messages_for(plan: AccountPlan) -> ExecutionPlan:
    """The shipped search, without messages for this account plan."""
    document = json.loads(read_plan("search_memories"))
    document["steps"][0]["metadata"]["withoutMessages"] = [plan]
    return make_plan(document)


@pytest.mark.req("MIND-10")
async def test_a_plan_may_turn_messages_off_for_an_account_plan(user: User) -> None:
    await say(user, "s1", "부산에서 면접이 있어")
    plan = without_messages_for("free")

    async def found(account_plan: AccountPlan) -> list[str]:
        hits = await user.companion.search("hana", "부산", kinds="all", plan=plan, account_plan=account_plan)
        return texts(hits)

    assert await found("free") == []
    assert await found("premium") == ["부산에서 면접이 있어"]


@pytest.mark.req("MIND-15")
async def test_kinds_are_one_ranking(user: User) -> None:
    await say(user, "s1", "부산에서 면접이 있어", "점심은 국수")
    await user.canon.set_fact("hana", "EVENT", "면접", "부산 회사 면접")
    everything = await user.companion.search("hana", "부산 면접", kinds="all")
    assert {hit.kind for hit in everything} == {"message", "fact"}
    assert [hit.score for hit in everything] == sorted((hit.score for hit in everything), reverse=True)
    facts = await user.companion.search("hana", "부산 면접", kinds=["fact"])
    assert texts(facts) == ["면접: 부산 회사 면접"]
    assert await user.companion.search("hana", "부산 면접") == ()
    assert len(await user.companion.search("hana", "부산 면접", kinds="all", limit=1)) == 1
    for kinds in ("", "memory,thing", "everything"):
        with pytest.raises(InputRefused, match="kinds"):
            await user.companion.search("hana", "부산", kinds=kinds)  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.req("MIND-10")
async def test_a_chat_recalls_at_least_two_memories(user: User) -> None:
    """Behind the messages that match better: the memories that match, then the most important. The scores are
    those of one ranking."""
    await say(user, "s1", *(f"부산에서 {number}번 버스를 타고 회를 먹었어" for number in range(12)))
    memories = (("부산 여행을 계획함.", 3), ("면접을 앞두고 긴장함.", 9), ("고양이를 키움.", 5))
    for summary, importance in memories:
        draft = MemoryDraft(persona_id="hana", summary=summary, importance=importance)
        await user.companion.create(draft, account_plan="premium")
    turn = await user.chat.send("hana", "부산에서 버스 타고 회 먹은 거 기억나?", session_ref="s2")
    assert [hit.kind for hit in turn.recalled] == ["message"] * 6 + ["memory"] * 2
    assert texts(turn.recalled)[-2:] == ["부산 여행을 계획함.", "면접을 앞두고 긴장함."]
    assert [hit.why.filled for hit in turn.recalled[-2:]] == [False, True]
    scores = [hit.score for hit in turn.recalled[:-1]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.req("MIND-15")
async def test_what_was_understood_of_a_message_finds_it(user: User) -> None:
    """The offline model understands the appointment, so it is also found as a fact."""
    turn = await user.chat.send("hana", "내일 치과 예약이 있어", wait_memory=True)
    assert turn.changes
    hits = await user.companion.search("hana", "치과", kinds="all")
    [fact] = [hit for hit in hits if hit.kind == "fact"]
    assert fact.fact.source is not None
    assert fact.fact.source.message_id == turn.turn_id
    [message] = [hit for hit in hits if hit.id == turn.turn_id]
    assert (message.kind, message.text) == ("message", "내일 치과 예약이 있어")


async def test_older_messages_that_are_not_indexed_are_reported(
    gieok: Gieok, user: User, behind: Behind
) -> None:
    await say(user, "s1", "부산에서 면접이 있어")
    behind.run("UPDATE messages SET persona_id = NULL, number = NULL, changed = NULL, terms = NULL")
    behind.run("UPDATE persona_memory_configs SET last_entry = 0, entries = 0")
    hits = await user.companion.search("hana", "부산", kinds="all")
    assert (hits, hits.degraded) == ((), ("messages",))
    assert (await user.companion.search("hana", "부산")).degraded == ()
    turn = await user.chat.send("hana", "부산 기억나?")
    assert turn.degraded == ("messages",)
    await gieok.scope("minsu").write(lambda view: view.messages.index_missing(100))
    found = await user.companion.search("hana", "부산", kinds="all")
    assert found.degraded == ()
    assert "부산에서 면접이 있어" in texts(found)


@pytest.mark.parametrize(
    ("asked", "replied", "question"),
    [
        ("운전면허 시험 결과 나왔어?", "나 떨어졌어", "운전면허 시험 어떻게 됐더라?"),
        ("누나 결혼식이 며칠이야?", "12월 3일!", "누나 결혼식 날짜가 언제지?"),
        ("퇴사 얘기는 팀장님한테 했어?", "아직", "퇴사 얘기 팀장님한테 했었나?"),
        ("Did you hear back about the driving test?", "I failed", "how did my driving test go?"),
        ("When is your sister's wedding?", "December 3rd!", "what date is my sister's wedding?"),
        ("Have you told your manager that you're quitting?", "Yes!", "did I tell my manager I'm quitting?"),
    ],
)
async def test_a_bare_reply_is_found_by_the_question_that_it_answers(
    user: User, asked: str, replied: str, question: str
) -> None:
    """It shares no word with the question of the search, and comes before the question that it answers."""
    await user.sessions.start("hana", plan="chat_turn", session_ref="s1")
    said = ["오늘 진짜 덥다", asked, replied, "그렇구나, I see.", "회사에서 새 시스템을 쓴대", "what a day"]
    messages = [
        ChatMessage(id=str(number), role="assistant" if number % 2 else "user", content=text, timestamp=DAY)
        for number, text in enumerate(said)
    ]
    await user.sessions.save_messages("s1", messages, remember=False)
    hits = await user.companion.search("hana", question, kinds="all")
    assert texts(hits)[:2] == [replied, asked]
