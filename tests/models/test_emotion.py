"""Emotion detection of the offline model in both languages."""

from __future__ import annotations

import pytest

from gieok.adapters.models.offline import Emotion, emotion_of

CASES: list[tuple[str, Emotion | None]] = [
    ("나 시험 합격해서 너무 기뻐", Emotion.JOY),
    ("오늘 진짜 행복했어", Emotion.JOY),
    ("너무 슬퍼서 계속 울었어", Emotion.SADNESS),
    ("혼자라서 외로워", Emotion.SADNESS),
    ("시험 떨어졌어 ㅠㅠ", Emotion.SADNESS),
    ("우리 고양이가 어제 무지개다리를 건넜어", Emotion.SADNESS),
    ("요즘 회사 일로 너무 지쳐", Emotion.STRESS),
    ("내일 면접이라 떨려", Emotion.STRESS),
    ("오늘은 집에서 편안하게 쉬었어", Emotion.CALM),
    ("내일 콘서트라서 설레", Emotion.EXCITEMENT),
    ("이제 안 힘들어", Emotion.CALM),
    ("별로 행복하지 않아", Emotion.SADNESS),
    ("면접에서 하나도 안 떨었어", Emotion.CALM),
    ("서울에 살아", None),
    ("I'm so happy for you", Emotion.JOY),
    ("I cried all night", Emotion.SADNESS),
    ("My cat passed away yesterday", Emotion.SADNESS),
    ("I passed the exam", Emotion.JOY),
    ("I'm exhausted and anxious", Emotion.STRESS),
    ("It was a quiet, peaceful day", Emotion.CALM),
    ("I'm so excited about the trip", Emotion.EXCITEMENT),
    ("I'm not happy", Emotion.SADNESS),
    ("I don't feel stressed any more", Emotion.CALM),
    ("I live in Seoul", None),
    ("", None),
]


@pytest.mark.req("COMP-2")
@pytest.mark.parametrize(("text", "emotion"), CASES)
def test_the_emotion_is_detected(text: str, emotion: Emotion | None) -> None:
    """By the stem of a word, with any ending. A negation inverts it."""
    assert emotion_of(text) == emotion


@pytest.mark.req("COMP-2")
def test_the_korean_names_are_those_of_the_specification() -> None:
    """The API accepts the English and the Korean names."""
    names = {emotion.value: emotion.korean for emotion in Emotion}
    assert names == {
        "joy": "기쁨",
        "sadness": "슬픔",
        "stress": "스트레스",
        "calm": "평온",
        "excitement": "흥분",
    }
