"""Any input: the offline model does not fail, keeps its limits, and is deterministic."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gieok.adapters.models.offline import OfflineModel, emotion_of
from gieok.adapters.models.offline.reading import listed
from gieok.adapters.models.offline.summary import summarize_turn
from gieok.memory.companion.records import Spoken
from gieok.memory.conversation.records import ContextMemory, Message, Persona, Prompt, StateFact
from gieok.memory.observations import Conversation, Exchange, SpokenMessage
from gieok.text import normalize
from tests.models.facts.score import AT, VERBATIM
from tests.models.phrases import assert_phrases

PIECES = sorted(
    listed("""
        나는 내가 저는 우리 너 네 면접 회사 어제 내일 있어 했어요 갈 거야 싶어 뭐야? 해 줘 인데 때문에 ㅋㅋㅋ
        ㅠㅠ … . ! ? " ( ) 그 이 할게 먹을게요 힘든데요 알려줘 내꺼야 나 I I'm my you don't was went because
        and what's please can IT GPT-4 3.5% 😀
    """)
)
anything = st.one_of(
    st.text(max_size=300),
    st.text(st.characters(codec=None), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
)


@settings(max_examples=300, deadline=None)
@given(anything, anything, st.integers(12, 300), st.integers(0, 12))
async def test_the_summary_of_any_turn_is_within_its_limits(
    user: str, assistant: str, chars: int, words: int
) -> None:
    """Not empty, not too long, not the raw text, and the same when repeated."""
    made = summarize_turn(user, assistant, chars=chars, max_keywords=words, is_copy=VERBATIM.is_copy)
    assert 0 < len(made.summary) <= chars
    assert len(made.keywords) <= words
    assert len({word.casefold() for word in made.keywords}) == len(made.keywords)
    for raw in (normalize(user), normalize(assistant)):
        assert normalize(made.summary) != raw
        assert len(raw) < 40 or raw not in normalize(made.summary)
    assert made == summarize_turn(user, assistant, chars=chars, max_keywords=words, is_copy=VERBATIM.is_copy)


@settings(max_examples=300, deadline=None)
@given(anything, anything)
async def test_observing_any_turn_does_not_fail(user: str, assistant: str) -> None:
    """One fact per subject and key, with a verbatim quote, and the same when repeated."""
    messages = (
        SpokenMessage(role="user", text=user, at=AT),
        SpokenMessage(role="assistant", text=assistant, at=AT),
    )
    conversation = Conversation(
        language="ko",
        character="지우",
        timezone="Asia/Seoul",
        before=messages,
        exchanges=(Exchange(messages=messages),),
        known=(),
    )
    made = await OfflineModel().remember(conversation, summary_chars=300, max_keywords=8, verbatim=VERBATIM)
    found = made.observations
    assert len({(fact.subject, fact.category, fact.key) for fact in found}) == len(found)
    assert all(fact.quote in (user if fact.says == "user" else assistant) for fact in found)
    assert made == await OfflineModel().remember(
        conversation, summary_chars=300, max_keywords=8, verbatim=VERBATIM
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), anything), max_size=8))
async def test_the_summary_of_any_conversation_is_within_its_limits(
    said: list[tuple[Literal["user", "assistant"], str]],
) -> None:
    """Not empty, not too long, and the same when repeated."""
    messages = [Spoken(role=role, content=content) for role, content in said]
    made = await OfflineModel().summarize_session(messages)
    assert 0 < len(made.summary) <= 500
    assert len(made.topics) <= 5
    assert made == await OfflineModel().summarize_session(messages)


@pytest.mark.req("MIND-13")
@settings(max_examples=300, deadline=None)
@given(
    anything,
    anything,
    anything,
    anything,
    st.sampled_from(["ko", "en"]),
    st.sampled_from(["", "존댓말로 말한다"]),
)
async def test_every_reply_consists_of_phrases_and_quotes(
    said: str, earlier: str, memory: str, value: str, language: str, manner: str
) -> None:
    """Nothing of a message is in a reply except verbatim in quotation marks."""
    now = datetime(2025, 10, 28, 3, tzinfo=UTC)
    prompt = Prompt(
        system=manner,
        messages=(Message(role="user", content=earlier), Message(role="user", content=said)),
        persona=Persona(name="지우", language="ko" if language == "ko" else "en", system_prompt=manner),
        state=(StateFact(category="GOAL", key=value, value=value),),
        memories=(ContextMemory(summary=memory, timestamp=now),),
        now=now,
    )
    pieces: list[str] = []
    reply = await OfflineModel().reply(prompt, pieces.append)
    assert "".join(pieces) == reply.text
    assert reply.output_tokens > 0
    assert_phrases(reply.text, prompt)


@settings(max_examples=150, deadline=None)
@given(anything)
def test_detecting_the_emotion_of_any_text_does_not_fail(text: str) -> None:
    assert emotion_of(text) is None or emotion_of(text) == emotion_of(text)


async def test_the_time_for_a_huge_message_is_bounded() -> None:
    """Only the beginning of a message is analysed."""

    async def seconds_for(times: int) -> float:
        said = "오늘 회사에서 회의를 했는데 너무 힘들었어. " * times
        started = time.perf_counter()
        summarize_turn(said, "", chars=200, max_keywords=8, is_copy=VERBATIM.is_copy)
        return time.perf_counter() - started

    await seconds_for(10)
    long, huge = min([await seconds_for(200) for _ in range(3)]), await seconds_for(20_000)
    assert huge < 20 * long
