"""Two weeks of chats with an injected clock: an appointment comes, passes, and is still found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from gieok import Gieok, PersonaDraft, Settings, User
from gieok.app.chat_turn import ChatTurn
from gieok.testing.clock import Clock


@dataclass(frozen=True)
class Words:
    """What is said, and what must be in state, replies and memories."""

    persona: PersonaDraft
    told: tuple[str, ...]
    greeting: str
    question: str
    fact: str
    event: str
    past: str
    today: str
    yesterday: str


KOREAN = Words(
    persona=PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야."),
    told=("내일 중요한 면접이 있어", "IT 스타트업인데 정말 가고 싶어"),
    greeting="나 왔어",
    question="내 면접 언제였지?",
    fact="면접: 면접 예정, 2026-03-06",
    event="면접",
    past="(지난 일)",
    today="오늘",
    yesterday="어제",
)
ENGLISH = Words(
    persona=PersonaDraft(name="Juno", language="en", system_prompt="You are Juno."),
    told=("I have an important interview tomorrow", "It is an IT startup and I really want to go there"),
    greeting="I'm back",
    question="When was my interview?",
    fact="interview: interview ahead, 2026-03-06",
    event="interview",
    past="(past)",
    today="today",
    yesterday="yesterday",
)


@pytest.mark.req("MIND-7", "MIND-8", "CANON-9")
@pytest.mark.parametrize("words", [KOREAN, ENGLISH], ids=["ko", "en"])
async def test_an_interview_comes_and_passes_and_is_still_found(settings: Settings, words: Words) -> None:
    """On the day it is today, then past for two weeks; then it leaves the state, and questions find it."""
    clock = Clock(datetime(2026, 3, 5, 3, 0, tzinfo=UTC))
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        await user.profile.set(timezone="Asia/Seoul")
        await user.personas.create(words.persona, persona_id="friend")
        told = await talk(user, *words.told)
        assert state_of(told[-1]) == [words.fact]
        clock.advance(days=1)
        turn = (await talk(user, words.greeting))[0]
        assert state_of(turn) == [words.fact]
        assert words.event in turn.reply
        assert words.today in turn.reply
        clock.advance(days=1)
        turn = (await talk(user, words.greeting))[0]
        assert words.event in turn.reply
        assert words.yesterday in turn.reply
        for _ in range(13):
            assert state_of(turn) == [f"{words.fact} {words.past}"]
            clock.advance(days=1)
            turn = (await talk(user, words.greeting))[0]
        clock.advance(days=1)
        turn = (await talk(user, words.question))[0]
        assert clock().date().isoformat() == "2026-03-21"
        assert state_of(turn) == []
        assert words.event in turn.recalled[0].text
        assert turn.recalled[0].session_ref == told[0].session_ref
        assert words.event in turn.reply
        assert turn.changes == ()
        [fact] = await user.canon.facts("friend")
        assert (str(fact.when), str(fact.until)) == ("2026-03-06", "2026-03-06")


async def talk(user: User, *messages: str) -> list[ChatTurn]:
    """One session from its beginning to its end."""
    turns: list[ChatTurn] = []
    for message in messages:
        session = turns[0].session_ref if turns else None
        turns.append(await user.chat.send("friend", message, session_ref=session, wait_memory=True))
    await user.sessions.close(turns[0].session_ref, wait=True)
    return turns


def state_of(turn: ChatTurn) -> list[str]:
    """The events in the state block of the prompt, as they are shown there."""
    lines = turn.prompt.system.splitlines()
    return [line.removeprefix("- (EVENT) ") for line in lines if line.startswith("- (EVENT) ")]
