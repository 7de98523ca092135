"""The three scenarios of the specification, as written there, with an injected clock."""

from __future__ import annotations

import pytest

from gieok import Gieok, Settings
from gieok.adapters.models.offline import OfflineModel
from gieok.app import User
from gieok.app.background.worker import Worker
from gieok.errors import ModelUnavailable
from gieok.memory.canon.records import PersonaCard, PersonaDraft
from gieok.memory.companion.records import Emotion, MemoryDraft, SessionSummary, Spoken
from gieok.testing.clock import Clock
from tests.sessions.conversation import job_plans

HANA = PersonaDraft(
    name="하나", language="ko", system_prompt="너는 하나, 사용자의 다정한 친구다. 반말로 말한다."
)
DAY_ONE = (
    "안녕!",
    "내일 중요한 면접이 있어",
    "IT 스타트업인데 정말 가고 싶어",
    "자기소개를 연습하고 있어",
    "포트폴리오도 다시 만들었어",
    "긴장돼서 잠이 안 와",
    "그래도 준비는 많이 했어",
    "오늘은 일찍 자려고 해",
    "고마워",
    "응원해 줘서 힘이 나",
    "내일 잘하고 올게",
)
SIX_EVENINGS = (
    "내일 중요한 면접이 있어",
    "나 부산으로 이사했어",
    "오늘 영화 봤는데 재미있었어",
    "할머니가 돌아가셔서 너무 슬퍼",
    "나 지훈이랑 사귀기로 했어",
    "나 다음 달에 결혼해",
)


async def talk(user: User, persona: PersonaCard, clock: Clock, *messages: str) -> str:
    """Say these in one new session; returns the session."""
    session: str | None = None
    for message in messages:
        session = (
            await user.chat.send(persona.id, message, session_ref=session, wait_memory=True)
        ).session_ref
        clock.advance(minutes=1)
    assert session is not None
    return session


@pytest.mark.req("COMP-1", "COMP-6", "CANON-9", "SESS-1")
async def test_a_character_recalls_yesterday(settings: Settings) -> None:
    """Twenty messages and more, the end, a memory by itself; the next day the character mentions it."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        session = await talk(user, hana, clock, *DAY_ONE)
        assert (await user.sessions.get(session)).session.message_count == 22
        await user.sessions.close(session)
        while await Worker(gieok).run_once(clock.now):
            pass
        kept = (await user.companion.list(hana.id)).memories
        assert any("면접" in memory.summary for memory in kept)
        clock.advance(days=1)
        turn = await user.chat.send(hana.id, "나 왔어!")
        assert "면접" in turn.reply
        assert "[과거 대화 기록]" in turn.prompt.system
        assert {hit.id for hit in turn.recalled if hit.kind == "memory"} == {
            str(memory.id) for memory in kept
        }


@pytest.mark.req("CANON-2", "CANON-8", "CANON-9")
@pytest.mark.parametrize(
    "plan", ["chat_turn", "chat_turn_without_summaries", "chat_turn_without_turn_memory"]
)
async def test_facts_about_the_user_are_known_in_another_session(settings: Settings, plan: str) -> None:
    """Whatever the summary kept: a name, a pet and an allergy are no state, and are known all the same."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        told = ("내 이름은 김민지야", "우리 강아지 이름은 초코야", "나 땅콩 알레르기 있어")
        await user.sessions.close(await talk(user, hana, clock, *told), wait=True)
        clock.advance(days=7)
        turn = await user.chat.send(hana.id, "우리 강아지 이름 뭐였지", plan=plan)
        assert "초코" in turn.reply
        state, known = turn.prompt.system.split("[사용자에 대해 아는 것]")
        assert all(word in known and word not in state for word in ("김민지", "초코", "땅콩"))
        turn = await user.chat.send(hana.id, "나 땅콩 먹어도 돼?", plan=plan)
        assert "알레르기" in turn.reply
        opening = await user.companion.start(hana.id, "안녕")
        assert "김민지" in opening.prompt.system


@pytest.mark.req("CANON-6")
async def test_a_joke_leaves_no_state(settings: Settings) -> None:
    """Only what was said right before is taken back, in the same session; what was true before stays."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        await talk(user, hana, clock, "나 부산에 살아", "나 지훈이랑 결혼했어!", "아니 농담이야 ㅋㅋ")
        assert [fact.key for fact in await user.canon.facts(hana.id)] == ["home"]
        await talk(user, hana, clock, "아니 농담이야 ㅋㅋ")
        assert [fact.key for fact in await user.canon.facts(hana.id)] == ["home"]


@pytest.mark.req("COMP-4", "COMP-5")
async def test_the_sixth_memory_archives_the_least_important(settings: Settings) -> None:
    """Five memories, a sixth: the least important is archived, five stay active, and the user is told."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        made = [
            await user.companion.create(
                MemoryDraft(
                    persona_id=hana.id,
                    summary=f"{number}번째 이야기",
                    topics=(f"주제{number}",),
                    emotion=Emotion.JOY,
                    importance=importance,
                ),
                account_plan="free",
            )
            for number, importance in enumerate((8, 3, 9, 6, 7, 5))
        ]
        active = (await user.companion.list(hana.id)).memories
        archived = (await user.companion.list(hana.id, status="archived")).memories
        assert len(active) == 5
        assert [memory.importance for memory in archived] == [3]
        assert "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다." in str(made[-1])


@pytest.mark.req("COMP-1", "COMP-4", "COMP-5")
async def test_the_sixth_conversation_archives_the_least_important_memory(settings: Settings) -> None:
    """The same by talking: each conversation that ends makes a memory, and the sixth is one too many."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        for number, told in enumerate(SIX_EVENINGS):
            turn = await user.chat.send(hana.id, told, account_plan="free", wait_memory=True)
            closed = await user.sessions.close(turn.session_ref, wait=True)
            clock.advance(days=1)
            assert bool(closed.notices) is (number == 5)
            assert (await user.companion.list(hana.id)).total == min(number + 1, 5)
        active = (await user.companion.list(hana.id)).memories
        archived = (await user.companion.list(hana.id, status="archived")).memories
        lowest = min(memory.importance for memory in (*active, *archived))
        assert [memory.importance for memory in archived] == [lowest]


class NoSummaries(OfflineModel):
    """Speaks, and cannot summarise as long as it is away."""

    away = True

    async def summarize_session(self, messages: object) -> SessionSummary:
        if self.away:
            raise ModelUnavailable("blocked on purpose")
        return await super().summarize_session([Spoken(role="user", content="내일 중요한 면접이 있어")])


@pytest.mark.req("COMP-3")
async def test_without_a_model_an_excerpt_is_stored_and_replaced_later(settings: Settings) -> None:
    """The model is blocked, the session ends: a marked excerpt is kept until a summary succeeds."""
    clock = Clock()
    model = NoSummaries()
    async with await Gieok.open(settings, clock=clock, model=model, job_plans=job_plans("excerpt")) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        session = await talk(user, hana, clock, "내일 중요한 면접이 있어", "정말 가고 싶은 회사야")
        closed = await user.sessions.close(session, wait=True)
        assert closed.memory_id is not None
        excerpt = await user.companion.get(closed.memory_id)
        assert (excerpt.origin, excerpt.importance) == ("excerpt", 5)
        assert "user: 내일 중요한 면접이 있어" in excerpt.summary
        assert len(excerpt.summary) <= 500
        model.away = False
        clock.advance(hours=1)
        while await Worker(gieok).run_once(clock.now):
            pass
        summary = await user.companion.get(closed.memory_id)
        assert summary.origin == "summary"
        assert "user:" not in summary.summary
