"""Confidence of hits: from 0 to 1, comparable between queries, explained; thresholds in plan and search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean

import pytest

from gieok import Gieok, Hit, PersonaDraft, User
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import InputRefused
from gieok.memory.sessions.records import ChatMessage
from gieok.plans import read_plan
from gieok.testing.contracts.companion import memory, save

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = {
    "ko": (
        "어제 한강에서 자전거를 탔어.",
        "동생이 부산으로 이사했어.",
        "다음 주에 치과 예약이 있어.",
        "고양이 이름은 두부야.",
        "회사에서 새 팀장님이 왔어.",
        "주말마다 베이킹 수업을 들어.",
    ),
    "en": (
        "I rode my bike along the river yesterday.",
        "My brother moved to Busan.",
        "I have a dentist appointment next week.",
        "The cat is called Tofu.",
        "A new manager started at the office.",
        "I take a baking class every weekend.",
    ),
}
ASKED = {
    "ko": (
        "동생은 어디로 이사했어?",
        "치과 예약이 언제야?",
        "고양이 이름이 뭐지?",
        "베이킹 수업은 언제 들어?",
    ),
    "en": (
        "Where did my brother move?",
        "When is the dentist appointment?",
        "How is the cat called?",
        "When is the baking class?",
    ),
}
NEVER = {
    "ko": ("피아노 연주회는 언제였지?", "비밀번호가 뭐야?", "여권은 어디에 뒀지?"),
    "en": (
        "When was the piano recital?",
        "What is the wifi password?",
        "Where did I put my passport?",
        "Who is my favourite striker?",
    ),
}


@pytest.fixture
async def user(gieok: Gieok) -> User:
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    return user


async def tell(user: User, texts: Sequence[str]) -> None:
    await user.sessions.start("hana", plan="chat_turn", session_ref="s1")
    messages = [
        ChatMessage(id=f"m{number}", role="user", content=text, timestamp=START + timedelta(minutes=number))
        for number, text in enumerate(texts)
    ]
    await user.sessions.save_messages("s1", messages, remember=False)


async def search(user: User, question: str, min_confidence: float | None = None) -> Sequence[Hit]:
    return await user.companion.search("hana", question, kinds="all", min_confidence=min_confidence)


@pytest.mark.parametrize("language", ["ko", "en"])
async def test_answerable_questions_have_more_confidence_than_others(user: User, language: str) -> None:
    await tell(user, SAID[language])

    async def confidences(questions: Sequence[str]) -> list[float]:
        found = [await search(user, question) for question in questions]
        return [hits[0].confidence if hits else 0.0 for hits in found]

    answerable, never = await confidences(ASKED[language]), await confidences(NEVER[language])
    assert min(answerable) > max(never)
    assert fmean(answerable) > 0.5
    assert fmean(never) < 0.2
    assert all(0 <= each <= 1 for each in (*answerable, *never))


async def test_confidence_does_not_depend_on_the_other_hits_of_a_query(user: User) -> None:
    """The best hit of any query has the best score; only a good one has a high confidence."""
    await tell(user, SAID["en"])
    good, poor = (
        (await search(user, "dentist appointment"))[0],
        (await search(user, "dentist for the horse named Comet"))[0],
    )
    assert good.id == poor.id
    assert good.confidence == 1.0
    assert poor.confidence < 0.5


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("내일 중요한 면접이 있어", "면접이 걱정돼. 나 부산으로 이사했어"),
        (
            "내일 중요한 면접이 있어",
            "오늘 아침에 늦잠을 자서 지하철을 놓쳤고 점심은 김밥을 먹었는데 면접 준비는 못 했어",
        ),
        (
            "I have a job interview tomorrow",
            "I overslept this morning, missed the subway, had soup for lunch, called my sister, "
            "and I still have not prepared for the interview, what a job",
        ),
    ],
)
async def test_a_chat_recalls_for_a_message_that_tells_several_things(
    user: User, said: str, message: str
) -> None:
    """In a young conversation too, where every message is about the same thing."""
    await tell(user, [said] * 3)
    turn = await user.chat.send("hana", message, new_session=True)
    assert said in [hit.text for hit in turn.recalled]


async def test_the_reasons_say_what_the_confidence_is_made_of(user: User) -> None:
    await tell(user, SAID["en"])
    hit = (await search(user, "dentist in Busan"))[0]
    assert hit.why.matched_words == ("dentist",)
    assert hit.why.missing_words == ("busan",)
    assert hit.why.matched_fields == ("text",)
    parts = hit.why.confidence
    assert hit.confidence == pytest.approx(1 - (1 - parts.words) * (1 - parts.meaning))
    assert parts.words == pytest.approx(0.75), "one of two words of equal weight, and the other next to it"


async def test_a_time_counts_as_a_word_of_the_question(user: User) -> None:
    await tell(user, SAID["ko"])
    (inside, *_) = await search(user, "2026년 3월에 뭐 했지?")
    assert inside.confidence == 1.0
    assert not await search(user, "2025년 1월에 뭐 했지?", min_confidence=0.1)


async def test_what_is_known_of_a_message_is_named(user: User) -> None:
    """A message that is found by what was understood of it says by which of that."""
    turn = await user.chat.send("hana", "나는 지훈이랑 사귀고 있어", wait_memory=True)
    fact = turn.changes[0].fact
    assert fact is not None
    found = await search(user, fact.key)
    said = next(hit for hit in found if hit.kind == "message" and hit.role == "user")
    assert said.why.matched_fields == ("known",)
    assert fact.key in said.why.known


async def test_a_search_leaves_out_hits_below_the_threshold(user: User) -> None:
    await tell(user, SAID["en"])
    everything = await search(user, "dentist in Busan")
    certain = await search(user, "dentist in Busan", min_confidence=0.6)
    assert 0 < len(certain) < len(everything)
    assert all(hit.confidence >= 0.6 for hit in certain)
    for bad in (-0.1, 1.1):
        with pytest.raises(InputRefused) as refused:
            await search(user, "dentist", min_confidence=bad)
        assert refused.value.at == "minConfidence"


def strict_plan() -> ExecutionPlan:
    document = json.loads(read_plan("search_memories"))
    document["steps"][0]["metadata"]["minConfidence"] = 0.9
    return make_plan(document)


async def test_a_plan_has_a_threshold_that_a_request_can_only_raise(user: User) -> None:
    await tell(user, SAID["en"])
    plan = strict_plan()
    assert not await user.companion.search(
        "hana", "dentist in Busan", kinds="all", min_confidence=0.0, plan=plan
    )
    assert len(await user.companion.search("hana", "dentist", kinds="all", plan=plan)) == 1


async def test_a_chat_does_not_recall_what_hardly_matches(gieok: Gieok, user: User) -> None:
    """One common word of many is no reason; memories that fill up are marked as such."""
    await tell(
        user, [f"I like the {thing} a lot" for thing in ("sea", "moon", "rain", "snow", "wind", "sun")]
    )
    await save(gieok.scope("minsu"), memory("Minsu works at a library.", persona_id="hana"))
    question = "Do you think my grandmother would like a ticket for Tuesday's Schubert concert downtown?"
    turn = await user.chat.send("hana", question, session_ref="s2")
    assert [hit.text for hit in turn.recalled if not hit.why.filled] == []
    assert [hit.confidence for hit in turn.recalled] == [0.0]
    assert await search(user, question), "a search without a threshold finds them"
