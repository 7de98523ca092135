"""What the model is told: the day, the state, the facts, the memories and what was said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from gieok import Gieok, PersonaDraft, Settings, Worker
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.companion.records import MemoryDraft, SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from gieok.testing.models import CountingModel
from tests.behind import Behind
from tests.sessions.conversation import work

KO = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야.")
EN = PersonaDraft(name="Juno", language="en", system_prompt="You are Juno.")


class Listener(CountingModel):
    """Keeps everything that it is asked."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.remembered: list[Conversation] = []
        self.summarized: list[Sequence[Spoken]] = []

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.prompts.append(prompt)
        return await super().reply(prompt, emit)

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        self.remembered.append(conversation)
        return await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        self.summarized.append(messages)
        return await super().summarize_session(messages)

    @property
    def system(self) -> str:
        """The last system prompt."""
        return self.prompts[-1].system


@pytest.fixture
def clock() -> Clock:
    """It is Friday in Seoul already."""
    return Clock(datetime(2026, 3, 5, 16, 0, tzinfo=UTC))


@pytest.fixture
def model() -> Listener:
    return Listener()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock, model: Listener) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, model=model, clock=clock) as opened:
        await opened.user("minsu").personas.create(KO, persona_id="hana")
        await opened.user("minsu").personas.create(EN, persona_id="juno")
        yield opened


@pytest.mark.req("MIND-8")
@pytest.mark.parametrize(
    ("persona", "in_utc", "in_seoul"),
    [
        ("hana", "[오늘 날짜] 2026-03-05 (목요일)", "[오늘 날짜] 2026-03-06 (금요일)"),
        ("juno", "[Current date] 2026-03-05 (Thursday)", "[Current date] 2026-03-06 (Friday)"),
    ],
)
async def test_a_prompt_says_what_day_it_is_for_the_user(
    gieok: Gieok, model: Listener, persona: str, in_utc: str, in_seoul: str
) -> None:
    user = gieok.user("minsu")
    await user.chat.send(persona, "안녕")
    assert in_utc in model.system.splitlines()
    await user.profile.set(timezone="Asia/Seoul")
    await user.chat.send(persona, "안녕")
    assert in_seoul in model.system.splitlines()


@pytest.mark.req("MIND-8")
async def test_without_a_profile_the_day_is_that_of_the_service(
    settings: Settings, clock: Clock, model: Listener
) -> None:
    in_seoul = replace(settings, timezone="Asia/Seoul")
    async with await Gieok.open(in_seoul, model=model, clock=clock) as gieok:
        await gieok.user("minsu").personas.create(KO, persona_id="hana")
        await gieok.user("minsu").chat.send("hana", "안녕")
        assert "2026-03-06 (금요일)" in model.system


@pytest.mark.req("MIND-3", "MIND-8")
async def test_remembering_knows_the_users_day_name_and_language(
    gieok: Gieok, model: Listener, clock: Clock
) -> None:
    """The day is that of the message, although the job runs two days later."""
    user = gieok.user("minsu")
    await user.profile.set(display_name="민수", timezone="Asia/Seoul", language="en")
    turn = await user.chat.send("hana", "12345")
    clock.advance(days=2)
    assert turn.remembering is not None
    await user.jobs.wait(turn.remembering.job_id)
    (told,) = model.remembered
    assert (told.timezone, told.user_name, told.language) == ("Asia/Seoul", "민수", "en")
    assert told.said_at == datetime(2026, 3, 5, 16, 0, tzinfo=UTC)


@pytest.mark.req("MIND-8")
async def test_a_summary_is_made_on_the_users_clock(gieok: Gieok, model: Listener, clock: Clock) -> None:
    user = gieok.user("minsu")
    await user.profile.set(timezone="Asia/Seoul")
    turn = await user.chat.send("hana", "내일 면접이 있어")
    clock.advance(days=2)
    await user.sessions.close(turn.session_ref, wait=True)
    ((said, _),) = model.summarized
    assert said.timestamp is not None
    assert said.timestamp.isoformat() == "2026-03-06T01:00:00+09:00"


@pytest.mark.req("MIND-7")
async def test_an_ordinary_fact_that_has_ended_leaves_the_prompt(
    gieok: Gieok, model: Listener, clock: Clock
) -> None:
    user = gieok.user("minsu")
    await user.canon.set_fact("hana", "PERSONAL_INFO", "직업", "인턴", until=date(2026, 3, 6))
    await user.chat.send("hana", "안녕")
    assert "인턴" in model.system
    clock.advance(days=1, hours=8)
    await user.chat.send("hana", "안녕")
    assert "인턴" not in model.system


async def _keep(gieok: Gieok, persona: str, summary: str, **more: Any) -> None:
    draft = MemoryDraft(persona_id=persona, summary=summary, **more)
    await gieok.user("minsu").companion.create(draft, account_plan="premium")


async def _talk(gieok: Gieok, session: str, first: int, last: int) -> None:
    for number in range(first, last):
        await gieok.user("minsu").chat.send("hana", f"{number}번째 이야기야", session_ref=session)


@pytest.mark.req("SESS-1", "COMP-1")
async def test_what_was_summarised_leaves_the_window_and_stands_before_it(
    gieok: Gieok, model: Listener, clock: Clock
) -> None:
    """Ruling 13: the last four messages stay. Until the summary is stored, the window is whole."""
    user = gieok.user("minsu")
    await _talk(gieok, "s", 0, 10)
    assert len((await user.sessions.get("s")).messages) == 10
    await work(Worker(gieok), clock)
    kept = (await user.sessions.get("s")).messages
    assert [message.content for message in kept if message.role == "user"] == [
        "8번째 이야기야",
        "9번째 이야기야",
    ]
    await _talk(gieok, "s", 10, 11)
    prompt = model.prompts[-1]
    assert len(prompt.messages) == 5
    assert "[이 대화의 앞부분]\n- 20 messages with" in prompt.system
    assert prompt.system.count("20 messages with") == 1
    await _talk(gieok, "s", 11, 15)
    assert [message.content for message in model.prompts[-1].messages][:2] == [
        "10번째 이야기야",
        "I heard 2 words.",
    ]


@pytest.mark.req("MIND-9", "COMP-6")
async def test_a_conversation_begins_with_its_most_important_memories(gieok: Gieok, model: Listener) -> None:
    """In the first prompt, also where the character has spoken first; then only what is recalled."""
    user = gieok.user("minsu")
    for number in range(1, 8):
        await _keep(gieok, "hana", f"기억 {number}", topics=(f"주제{number}",), importance=number)
    start = await user.sessions.start("hana", plan="chat_turn")
    await user.sessions.save(start.session_ref, [message(1, "왔어?", "assistant")])
    await user.chat.send("hana", "응", session_ref=start.session_ref)
    block = model.system[model.system.index("[과거 대화 기록]") :].splitlines()
    assert [line[:6] for line in block if line.startswith("- ")][:5] == [
        f"- 기억 {number}" for number in (7, 6, 5, 4, 3)
    ]
    assert '예: "어제 본 영화 어땠어?" 같은 질문으로 관심 표현' in block
    await user.chat.send("hana", "기억 2", session_ref=start.session_ref)
    assert "예: " not in model.system
    assert "- 기억 2" in model.system


@pytest.mark.req("CANON-2", "MIND-8")
async def test_ordinary_facts_have_a_heading_of_their_own(gieok: Gieok, model: Listener) -> None:
    user = gieok.user("minsu")
    await user.profile.set(display_name="민수")
    await user.canon.set_fact("hana", "PERSONAL_INFO", "직업", "개발자")
    await user.canon.set_fact("hana", "PERSONAL_INFO", "사는 곳", "대구", subject="person:엄마")
    await user.canon.set_fact("hana", "RELATIONSHIP", "연인", "지훈과 사귀는 중")
    await user.chat.send("hana", "안녕")
    assert "[사용자 이름] 민수" in model.system
    state, facts = model.system.split("[사용자에 대해 아는 것]\n")
    assert "- (RELATIONSHIP) 연인: 지훈과 사귀는 중 (2026-03-05)" in state
    assert "- 엄마 · 사는 곳: 대구 (2026-03-05)\n- 직업: 개발자 (2026-03-05)" in facts


@pytest.mark.req("CANON-9")
@pytest.mark.parametrize(
    ("persona", "sentence"),
    [
        ("hana", "무엇을 기억하는지 직접 물으면"),
        ("juno", "Asked directly what you remember, answer from memory."),
    ],
)
async def test_asked_directly_the_character_may_say_what_it_remembers(
    gieok: Gieok, model: Listener, persona: str, sentence: str
) -> None:
    """Ruling 18, in a prompt with memories only and in one with state only."""
    user = gieok.user("minsu")
    fact = await user.canon.set_fact(persona, "GOAL", "토익", "900점")
    await user.chat.send(persona, "안녕")
    assert sentence in model.system
    assert fact.fact is not None
    await user.canon.retire_fact(persona, fact.fact.root_id)
    await _keep(gieok, persona, "토익 이야기를 했다")
    await user.chat.send(persona, "안녕")
    assert sentence in model.system


def _rows(behind: Behind) -> list[int]:
    tables = ("sessions", "messages", "memories", "fact_heads", "jobs", "turn_memories", "usage_days")
    return [behind.count(table) for table in tables]


@pytest.mark.req("MIND-14")
async def test_a_context_is_the_prompt_of_a_turn_and_changes_nothing(
    gieok: Gieok, model: Listener, behind: Behind
) -> None:
    """Word for word, in a new conversation and in one that goes on, and without asking the model."""
    user = gieok.user("minsu")
    await _keep(gieok, "hana", "사용자가 면접을 앞두고 있음", topics=("면접",))
    await user.canon.set_fact("hana", "GOAL", "취업", "개발자 되기")
    for number in range(2):
        before = _rows(behind)
        context = await user.context("hana", f"면접 이야기 {number}")
        assert (len(model.prompts), _rows(behind)) == (number, before)
        turn = await user.chat.send("hana", f"면접 이야기 {number}")
        assert (context.prompt.system, context.prompt.messages) == (
            turn.prompt.system,
            turn.prompt.messages,
        )
        assert [hit.id for hit in context.recalled] == [hit.id for hit in turn.recalled]
    last = await user.context("hana")
    assert [part.kind for part in last.parts] == [
        *("persona", "today", "state", "facts", "memories", "lore", "earlier", "window")
    ]
    assert last.prompt.messages[-1].role == "assistant"


@pytest.mark.req("MIND-14")
async def test_a_context_keeps_its_budget_and_says_what_was_left_out(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    for number in range(5):
        await _keep(gieok, "hana", f"기억 {number}: " + "긴 이야기 " * 50, topics=(f"{number}",))
    await user.canon.set_fact("hana", "GOAL", "취업", "개발자 되기")
    whole = await user.context("hana", "안녕")
    assert whole.tokens <= whole.budget == 16_000
    assert not any(part.left_out for part in whole.parts)
    tight = await user.context("hana", "안녕", budget=whole.tokens // 2)
    assert tight.tokens <= tight.budget == whole.tokens // 2
    left_out = {part.kind: part.left_out for part in tight.parts if part.left_out}
    shown = tight.prompt.system.count("- 기억")
    assert left_out == {"memories": 5 - shown}
    with pytest.raises(InputRefused, match=r"^budget: persona and message have \d+ tokens"):
        await user.context("hana", "안녕", budget=5)


@pytest.mark.req("MIND-14")
async def test_a_context_needs_a_session_with_its_persona(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    turn = await user.chat.send("hana", "안녕")
    with pytest.raises(Conflict):
        await user.context("juno", session_ref=turn.session_ref)
    with pytest.raises(NotFound):
        await user.context("hana", session_ref="unknown")
    with pytest.raises(NotFound):
        await user.context("nobody")
