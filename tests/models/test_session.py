"""Session summaries of the offline model."""

from __future__ import annotations

import pytest

from gieok.adapters.models.offline import OfflineModel
from gieok.memory.companion.records import Emotion, SessionSummary, Spoken


async def summarize(*said: str) -> SessionSummary:
    """Summarise a conversation in which user and assistant alternate, the user first."""
    messages = [
        Spoken(role="assistant" if index % 2 else "user", content=text) for index, text in enumerate(said)
    ]
    return await OfflineModel().summarize_session(messages)


@pytest.mark.req("COMP-2")
async def test_the_summary_contains_what_the_user_shared() -> None:
    """Facts and plans in the third person, without greetings, and the topics of the whole session."""
    result = await summarize(
        "안녕!",
        "안녕",
        "내일 중요한 면접이 있어",
        "와, 떨리겠다! 어떤 회사야?",
        "IT 스타트업인데 정말 가고 싶어",
    )
    assert result.summary == "사용자가 내일 중요한 면접이 있다고 함. IT 스타트업인데 정말 가고 싶다고 함."
    assert set(result.topics) == {"면접", "IT 스타트업"}


@pytest.mark.req("COMP-2")
@pytest.mark.parametrize(
    ("said", "emotion"),
    [
        ("요즘 너무 지쳐... 회사 일이 힘들어", Emotion.STRESS),
        ("어제 본 영화가 진짜 재미있었어. 너무 행복했어", Emotion.JOY),
        ("할머니가 돌아가셔서 너무 슬퍼", Emotion.SADNESS),
        ("I'm so excited about the trip", Emotion.EXCITEMENT),
        ("오늘 회의가 세 시에 있어", Emotion.CALM),
    ],
)
async def test_the_emotion_is_that_of_the_user_and_calm_by_default(said: str, emotion: Emotion) -> None:
    """The messages of the assistant do not count."""
    assert (await summarize(said, "정말 슬프고 힘들고 우울하다")).emotion is emotion


@pytest.mark.req("COMP-2")
async def test_importance_rises_with_the_significance_of_the_topic() -> None:
    """Small talk, an ordinary day, a move, a break-up."""
    said = (
        ("안녕", "안녕", "ㅋㅋㅋ"),
        ("점심에 국수 먹었어",),
        ("다음 주에 부산으로 이사해",),
        ("어제 남자친구랑 헤어졌어. 너무 슬퍼서 계속 울었어",),
    )
    weights = [(await summarize(*each)).importance for each in said]
    assert weights == sorted(set(weights))
    assert weights[0] == 1
    assert weights[-1] >= 8


@pytest.mark.req("COMP-2")
async def test_important_sentences_come_before_long_ones() -> None:
    """A short sentence about a break-up outweighs a long one about lunch."""
    lunch = "오늘 점심에 회사 앞 새로 생긴 국수집에서 비빔국수랑 만두를 먹었어"
    result = await summarize(lunch, "맛있었겠다", f"{lunch} 정말로", "응", "나 이혼했어", "저런")
    assert "이혼했다고" in result.summary


@pytest.mark.req("COMP-2")
async def test_the_language_is_that_of_most_words_of_the_user() -> None:
    """A single word in the other language does not change it."""
    korean = await summarize("오늘 회사에서 presentation 했어", "How was it?", "생각보다 잘 끝났어")
    english = await summarize(
        "I moved to Boston and I love it here", "좋겠다", "My new flat is near the river"
    )
    assert korean.summary.startswith("사용자가")
    assert english.summary.startswith("The user")


async def test_a_conversation_without_information_gets_a_short_summary() -> None:
    """With the lowest importance."""
    for result in (await summarize("안녕", "안녕", "잘 자"), await OfflineModel().summarize_session([])):
        assert result.summary
        assert (result.topics, result.importance) == ((), 1)


async def test_the_summary_of_a_long_conversation_is_short() -> None:
    """At most two sentences and 500 characters."""
    said = [f"{day}일에 면접이 있는데 준비를 못 해서 너무 불안하고 잠도 안 와" for day in range(1, 29)]
    result = await summarize(*(text for each in said for text in (each, "그렇구나")))
    assert len(result.summary) <= 500
    assert result.summary.count(".") <= 2
    assert len(result.topics) <= 5
