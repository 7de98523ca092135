"""What the model is told: the day, the state, the facts, the memories and what was said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from gieok import Gieok, PersonaDraft, Settings
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.testing.clock import Clock
from gieok.testing.models import CountingModel

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
