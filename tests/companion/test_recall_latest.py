"""Recall of what holds now: the latest of statements that contradict each other, and what the user said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gieok import Gieok, PersonaDraft, Settings, User
from gieok.memory.sessions.records import ChatMessage, Role
from gieok.testing.clock import Clock

PAIRS = json.loads(Path("bench/contradictions.json").read_text("utf-8"))
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
FILLERS = ("오늘 날씨가 별로야.", "I read a book about whales.", "이번 주는 너무 바빴어.", "We had soup.")


@pytest.fixture
async def user(gieok: Gieok) -> User:
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    return user


async def say(user: User, session: str, at: datetime, *turns: tuple[Role, str]) -> None:
    """Save messages in a new session, a minute apart."""
    await user.sessions.start("hana", plan="chat_turn", session_ref=session)
    messages = [
        ChatMessage(
            id=f"{session}-{number}", role=role, content=text, timestamp=at + timedelta(minutes=number)
        )
        for number, (role, text) in enumerate(turns)
    ]
    await user.sessions.save_messages(session, messages, remember=False)


async def found(user: User, question: str) -> list[str]:
    return [hit.text for hit in await user.companion.search("hana", question, kinds=("message",))]


def told(pairs: Sequence[Mapping[str, str]], which: str) -> list[tuple[Role, str]]:
    """One statement of each pair, with a reply and some other talk after each."""
    turns: list[tuple[Role, str]] = []
    for number, pair in enumerate(pairs):
        for text in (pair[which], FILLERS[number % len(FILLERS)]):
            turns.append(("user", text))
            turns.append(("assistant", "그렇구나, I see."))
    return turns


@pytest.mark.req("MIND-10")
@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("apart", [timedelta(hours=3), timedelta(days=200)], ids=["hours", "months"])
async def test_of_two_contradicting_statements_the_newer_is_found_first(
    user: User, language: str, apart: timedelta
) -> None:
    """In 10 of 12 or better, however much time is between them."""
    pairs = PAIRS[language]
    await say(user, "s1", START, *told(pairs, "before"))
    await say(user, "s2", START + apart, *told(pairs, "now"))
    newer_first = 0
    for pair in pairs:
        texts = await found(user, pair["question"])
        places = {text: place for place, text in enumerate(texts)}
        newer_first += places.get(pair["now"], len(texts)) < places.get(pair["before"], len(texts))
    assert newer_first >= len(pairs) * 10 / 12


@pytest.mark.parametrize(
    ("question", "is_about_now"),
    [
        ("나 지금 어디 살아?", True),
        ("나 예전에 어디 살았지?", False),
        ("나 작년에 어디 살았지?", False),
        ("Where do I live?", True),
        ("Where did I live?", False),
        ("Where do I live in May 2026?", False),
    ],
)
async def test_the_latest_statement_is_preferred_for_a_question_about_now_only(
    user: User, question: str, is_about_now: bool
) -> None:
    await say(user, "s1", START, ("user", "나는 수원에 살아."), ("user", "I live in Leeds."))
    await say(
        user,
        "s2",
        START + timedelta(days=30),
        ("user", "나는 이제 대전에 살아."),
        ("user", "I live in Bristol now."),
    )
    hits = await user.companion.search("hana", question, kinds=("message",))
    assert any("latest" in hit.why.signals for hit in hits) == is_about_now


@pytest.mark.parametrize(
    ("said", "reply", "question", "question_to_assistant"),
    [
        (
            "요가 수업을 화요일마다 들어.",
            "요가 수업은 화요일이구나.",
            "요가 수업은 화요일인가?",
            "네가 요가 수업이 화요일이라고 했나?",
        ),
        (
            "My yoga class with Ms. Park is on Tuesdays.",
            "A yoga class on Tuesdays.",
            "Is the yoga class on Tuesdays?",
            "Which day did you say the yoga class is, Tuesdays?",
        ),
    ],
)
async def test_what_the_user_said_comes_before_what_the_assistant_replied(
    user: User, said: str, reply: str, question: str, question_to_assistant: str
) -> None:
    """Unless the question is what the assistant said."""
    await say(user, "s1", START, ("user", said), ("assistant", reply), ("user", "그래."))
    assert (await found(user, question))[0] == said
    assert (await found(user, question_to_assistant))[0] == reply


async def test_a_bare_reply_is_found_by_the_question_that_it_answers(user: User) -> None:
    await say(
        user,
        "s1",
        START,
        ("assistant", "면접 결과는 나왔어?"),
        ("user", "나 떨어졌어"),
        ("assistant", "When is your birthday?"),
        ("user", "December 3rd!"),
    )
    assert (await found(user, "면접 결과가 어땠어?"))[0] == "나 떨어졌어"
    assert (await found(user, "on which day is my birthday?"))[0] == "December 3rd!"


@pytest.mark.parametrize(
    ("timezone", "found_text"), [("Asia/Seoul", "저녁에 산책했어."), ("UTC", "아침에 뛰었어.")]
)
async def test_yesterday_is_a_day_of_the_users_timezone(
    settings: Settings, timezone: str, found_text: str
) -> None:
    """20:00 UTC on 10 March is 11 March in Seoul; 'yesterday' is asked on 12 March there, 11 March in UTC."""
    now = datetime(2026, 3, 11, 16, tzinfo=UTC)
    async with await Gieok.open(settings, clock=Clock(now)) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await user.profile.set(timezone=timezone)
        await say(user, "s1", datetime(2026, 3, 10, 8, tzinfo=UTC), ("user", "아침에 뛰었어."))
        await say(user, "s2", datetime(2026, 3, 10, 20, tzinfo=UTC), ("user", "저녁에 산책했어."))
        inside = [
            hit.text
            for hit in await user.companion.search("hana", "어제 뭐 했지?", kinds=("message",))
            if "time" in hit.why.signals
        ]
    assert found_text in inside
    assert len(inside) == (1 if timezone == "Asia/Seoul" else 2)
