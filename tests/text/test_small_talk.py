"""Which messages and conversations are small talk, in Korean and English."""

from __future__ import annotations

import pytest

from gieok.memory.companion.records import Spoken
from gieok.memory.companion.rules import is_only_small_talk
from gieok.text.small_talk import is_small_talk

pytestmark = pytest.mark.req("MIND-11")


@pytest.mark.parametrize(
    "text",
    [
        "안녕!",
        "안녕하세요~ 잘 지냈어요?",
        "오늘 날씨 진짜 좋다",
        "비 온다 밖에 추워",
        "밥 먹었어?",
        "뭐 하고 있었어? 심심해",
        "ㅋㅋㅋ 재밌네",
        "그냥 그래 ㅎㅎ",
        "응 잘 자~",
        "고마워 내일 봐!",
        "👍",
        "Hi there! How are you today?",
        "It's raining today",
        "How's your day going?",
        "Not much, you?",
        "I'm good, thanks!",
        "haha nice",
        "ok, good night!",
        "",
    ],
)
def test_small_talk_says_nothing_to_remember(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "안녕! 내일 면접이야",
        "날씨가 좋아서 부산 갔다 왔어",
        "요즘 스트레스 받아",
        "나 헤어졌어",
        "밥 먹었어? 나는 땅콩 알레르기 있어",
        "12월 3일!",
        "좋은 하루 보내 나 취직했어",
        "너무 슬퍼 ㅠㅠ",
        "Hi! I got the job",
        "I'm good at chess",
        "It's cold today and I miss my grandmother",
        "I'm hungry for success",
        "my dog is sick",
        "no, I moved to Boston",
    ],
)
def test_what_says_more_is_not_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["안녕", "안녕! 오늘은 어떻게 지냈어?", "그냥 그래", "그렇구나.", "잘 자", "잘 자."], True),
        (["Hi!", "Hi! How has your day been?", "good, thanks", "Glad to hear it.", "bye", "Bye!"], True),
        (["안녕", "상처가 이제 다 나은 것 같다, 그렇지?", "응"], False),
        (["hey", "So you and Jihoon are together now?", "yes"], False),
        (["안녕", "생일이 언제야?", "12월 3일!"], False),
        (["안녕", "안녕!", "나 부산으로 이사했어"], False),
        ([], False),
    ],
)
def test_a_yes_to_a_question_with_content_is_an_answer(said: list[str], expected: bool) -> None:
    """The user speaks first, then both take turns."""
    roles = ("user", "assistant")
    messages = [Spoken(role=roles[number % 2], content=text) for number, text in enumerate(said)]
    assert is_only_small_talk(messages) is expected
