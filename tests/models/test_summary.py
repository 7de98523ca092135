"""Turn summaries and keywords of the offline model."""

from __future__ import annotations

import math

import pytest

from gieok.adapters.models.offline.summary import summarize_turn
from gieok.memory.observations import TurnNote
from gieok.text import normalize
from tests.models.english_turns import ENGLISH
from tests.models.facts.score import VERBATIM
from tests.models.korean_turns import KOREAN

LONG_KOREAN = (
    "나 어제 남자친구랑 헤어졌는데 너무 슬퍼서 하루 종일 울기만 했고 밥도 못 먹었고 "
    "회사에서도 집중을 할 수가 없었고 저녁에는 친구가 와서 같이 있어 줬는데 그래도 잠이 안 왔어"
)
LONG_ENGLISH = (
    "I broke up with my boyfriend last night and I feel terrible because we had been together "
    "for three years and I thought we were going to get married next spring"
)


async def summarize(user: str, assistant: str = "", chars: int = 200, words: int = 8) -> TurnNote:
    return summarize_turn(user, assistant, chars=chars, max_keywords=words, is_copy=VERBATIM.is_copy)


@pytest.mark.req("TURN-2")
@pytest.mark.parametrize(("said", "summary", "words"), KOREAN)
async def test_a_korean_turn_is_summarised_in_reported_speech(said: str, summary: str, words: str) -> None:
    """The ending becomes …다고 함, and the first person becomes the user. Questions are told by topics."""
    result = await summarize(said)
    assert result.summary == summary
    assert set(words.split(", ")) - {""} <= set(result.keywords)


@pytest.mark.req("TURN-2")
@pytest.mark.parametrize(("said", "summary", "words"), ENGLISH)
async def test_an_english_turn_is_summarised_in_the_third_person(said: str, summary: str, words: str) -> None:
    """`I` becomes the user. A short statement becomes a note, and questions are told by their topics."""
    result = await summarize(said)
    assert result.summary == summary
    assert set(words.split(", ")) - {""} <= set(result.keywords)


@pytest.mark.parametrize("said", [said for said, _, _ in KOREAN])
async def test_korean_keywords_contain_no_particles_or_pronouns(said: str) -> None:
    """A keyword is a dictionary form without a particle, and no pronoun or question word."""
    found = (await summarize(said)).keywords
    assert not {"나", "내", "저", "너", "우리", "뭐", "언제", "어디", "것", "거"} & set(found)
    assert not [word for word in found if word.endswith(("에서", "한테", "이랑", "까지", "부터"))]


@pytest.mark.parametrize("said", [said for said, _, _ in ENGLISH])
async def test_english_keywords_contain_no_stop_words(said: str) -> None:
    """Function words and time words are not topics."""
    found = {word.casefold() for word in (await summarize(said)).keywords}
    assert not {"i", "the", "my", "you", "what", "yesterday", "tomorrow", "is", "i'm", "to", "and"} & found


@pytest.mark.parametrize(
    ("said", "answered", "summary"),
    [
        ("안녕!", "안녕! 잘 지냈어?", "사용자가 인사를 나눔."),
        ("고마워~ 잘 자", "잘 자!", "사용자가 작별 인사를 나눔."),
        ("ㅋㅋㅋㅋㅋ", "왜 웃어?", "사용자가 짧게 맞장구를 침."),
        ("good night!", "Sleep well", "The user said goodbye."),
        ("", "", "The user sent a short message."),
        ("!!!", "", "The user sent a short message."),
    ],
)
async def test_small_talk_gets_a_fixed_summary_without_keywords(
    said: str, answered: str, summary: str
) -> None:
    result = await summarize(said, answered)
    assert (result.summary, result.keywords) == (summary, ())


async def test_a_greeting_is_left_out_of_the_summary() -> None:
    result = await summarize("안녕하세요! 저 오늘 운전면허 땄어요. 감사합니다!")
    assert result.summary == "사용자가 오늘 운전면허 땄다고 함."


@pytest.mark.req("TURN-1")
@pytest.mark.parametrize("said", [LONG_KOREAN, LONG_ENGLISH])
async def test_a_long_sentence_is_condensed_to_whole_clauses(said: str) -> None:
    """The summary is shorter than the message, ends as a sentence, and does not contain the message."""
    summary = (await summarize(said, chars=500)).summary
    assert len(summary) < len(said)
    assert summary.endswith(("다고 함.", "terrible.", "years."))
    assert said not in summary


@pytest.mark.req("TURN-1")
@pytest.mark.parametrize(
    "said",
    [
        "the old tower at the river is three hundred metres tall and result of iron",
        "강가에 서 있는 오래된 탑의 높이와 무게와 나이와 그 앞에서 열리는 봄의 큰 축제와 그 밤의 불꽃",
    ],
)
async def test_a_message_is_never_its_own_summary(said: str) -> None:
    """Also for a sentence without a person."""
    assert said not in (await summarize(said)).summary


@pytest.mark.req("MIND-13")
@pytest.mark.parametrize("said", [said for said, _, _ in (*KOREAN, *ENGLISH) if len(said) > 20])
async def test_a_message_of_more_than_20_characters_is_condensed(said: str) -> None:
    """Less than 70 % of it comes back as one verbatim run."""
    raw, summary = normalize(said), normalize((await summarize(said, chars=500)).summary)
    run = math.ceil(0.7 * len(raw))
    assert not any(raw[start : start + run] in summary for start in range(len(raw) - run + 1))


@pytest.mark.req("TURN-1")
async def test_the_reply_is_never_the_summary() -> None:
    """Also where the reply equals the summary that the turn would have."""
    assert (await summarize("안녕!", "사용자가 인사를 나눔.")).summary != "사용자가 인사를 나눔."


async def test_a_summary_is_cut_between_words() -> None:
    """If the room is too small for a sentence."""
    short = (await summarize("내일 중요한 면접이 있어서 너무 떨려", chars=15, words=1)).summary
    assert short == "사용자가 면접에 대해"


async def test_two_sentences_name_the_user_once() -> None:
    """The second Korean sentence has no subject."""
    summary = (await summarize("어제 이사했어. 다음 주에 집들이 할 거야.")).summary
    assert summary == "사용자가 어제 이사했다고 함. 다음 주에 집들이 할 예정이라고 함."


async def test_a_keyword_that_both_sides_used_comes_first() -> None:
    """A word that the assistant repeats is the topic."""
    said = "요즘 수영이랑 테니스랑 피아노 배워"
    assert (await summarize(said, "와, 피아노 멋지다!")).keywords[0] == "피아노"


async def test_keywords_are_unique_regardless_of_case() -> None:
    """`Python` and `PYTHON` are the same keyword."""
    found = (await summarize("I like Python. They say PYTHON is slow. My python code is fast.")).keywords
    assert len({word.casefold() for word in found}) == len(found)
