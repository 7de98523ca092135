"""Fact extraction of the offline model: which facts it finds, and under which keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from gieok.adapters.models.offline.facts import facts_in
from gieok.adapters.models.offline.taken_back import owns_up
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.observations import Category
from tests.canon.long_conversation import TALK, Change

START = datetime(2025, 10, 27, 12, tzinfo=UTC)


async def facts(user: str, assistant: str = "", known: tuple[Fact, ...] = ()) -> list[ExtractedFact]:
    return list(facts_in(user, assistant, known, ""))


def as_known(fact: ExtractedFact, at: datetime = START) -> Fact:
    return Fact(
        root_id=UUID(int=1),
        version=1,
        valid_from=at,
        **fact.model_dump(exclude={"retracts"}),
    )


async def known_from(*said: str) -> tuple[Fact, ...]:
    """The facts in these messages, one message per hour."""
    known: list[Fact] = []
    for hours, text in enumerate(said):
        known += [as_known(fact, START + timedelta(hours=hours)) for fact in await facts(text)]
    return tuple(known)


@pytest.mark.req("CANON-6")
@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("내일 면접이 있어", "면접 봤어", "면접 봄"),
        ("내일 면접이 있어", "그 면접에서 방금 나왔어!", "면접을 마침"),
        ("I have a job interview tomorrow", "I just came out of the interviews!", "had interviews"),
        ("다음 주 수요일에 입사 면접 봐", "면접 드디어 끝났어", "면접 끝남"),
        ("내일 면접이 있어", "카카오 면접 망쳤어", "카카오 면접을 망침"),
        ("다음 주에 발표가 있어", "오늘 발표했어", "발표함"),
        ("다음 주에 수술이 있어", "어제 수술 받았어", "수술 받음"),
        ("내일 회식 있어", "회식 다녀왔어", "회식 다녀옴"),
        ("I have a job interview on Thursday", "The interview went well!", "had interview"),
        ("I have an exam tomorrow", "I passed my driving exam", "passed their driving exam"),
    ],
)
async def test_a_past_event_keeps_the_key_of_the_planned_event(before: str, after: str, value: str) -> None:
    """Also where it has another name."""
    known = await known_from(before)
    assert [(fact.key, fact.value) for fact in await facts(after, known=known)] == [(known[0].key, value)]


@pytest.mark.req("CANON-6")
@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ("내일 카카오 면접 있어", "네이버 면접 봤어", "네이버 면접"),
        ("I have a job interview on Thursday", "I had my visa interview today", "visa interview"),
        ("면접 떨어졌어", "구글 면접 봤어", "구글 면접"),
    ],
)
async def test_a_different_event_gets_its_own_key(before: str, after: str, key: str) -> None:
    """An event with another name, or one after the first has ended."""
    known = await known_from(before)
    assert [fact.key for fact in await facts(after, known=known)] == [key]


@pytest.mark.parametrize(
    "closing", [", though.", " tho", ", actually!", " anyway", " lol", ", sadly", ", haha"]
)
@pytest.mark.parametrize(
    "said", ["Jihoon and I broke up last night", "Mina and I moved in together", "I moved to Busan"]
)
async def test_a_closing_word_does_not_change_the_facts(said: str, closing: str) -> None:
    plain = await facts(said)
    assert plain
    assert await facts(said + closing) == plain


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Mina and I broke up", "broke up with Mina"),
        ("Mina and I got engaged", "engaged to Mina"),
        ("Me and Mina got married last week", "married to Mina"),
        ("Mina and I are getting divorced", "divorced from Mina"),
    ],
)
async def test_a_joint_subject_is_a_fact_about_the_partner(said: str, value: str) -> None:
    (fact,) = await facts(said)
    assert (fact.category, fact.key, fact.value) == (Category.RELATIONSHIP, "partner", value)


async def test_an_ordinary_event_is_a_fact_only_if_it_was_planned() -> None:
    assert await facts("회식 다녀왔어") == await facts("모임 갔어") == []


@pytest.mark.req("CANON-6")
@pytest.mark.parametrize(
    ("said", "values"),
    [
        (
            ("지훈이랑 사귀기 시작했어", "나 어제 지훈이랑 헤어졌어", "지훈이랑 다시 만나기로 했어"),
            ("지훈과 사귀는 중", "지훈과 헤어짐", "지훈과 다시 만남"),
        ),
        (
            ("I'm dating Jake", "I broke up with Jake", "Jake and I got back together"),
            ("dating Jake", "broke up with Jake", "back together with Jake"),
        ),
    ],
)
async def test_a_relationship_keeps_one_key(said: tuple[str, ...], values: tuple[str, ...]) -> None:
    """So that each state supersedes the one before."""
    for text, value in zip(said, values, strict=True):
        (fact,) = await facts(text)
        assert (fact.category, fact.key, fact.value) == (Category.RELATIONSHIP, "partner", value)


async def test_liking_and_disliking_a_thing_share_a_key() -> None:
    (liked,), (disliked,) = await facts("나 커피 좋아해"), await facts("난 커피 싫어")
    assert liked.key == disliked.key
    assert liked.value != disliked.value


@pytest.mark.req("CANON-6")
@pytest.mark.parametrize(
    ("goal", "done", "key"),
    [
        ("마라톤 완주하는 게 목표야", "드디어 마라톤 완주했어!", "마라톤"),
        ("올해는 토익 900점 넘고 싶어", "토익 920점 나왔어", "토익"),
        ("My goal is to run a marathon", "I finally ran the marathon!", "marathon"),
    ],
)
async def test_a_reached_goal_is_retracted_and_becomes_an_event(goal: str, done: str, key: str) -> None:
    found = await facts(done, known=await known_from(goal))
    assert {(fact.category, fact.key, fact.retracts) for fact in found} == {
        (Category.EVENT, key, False),
        (Category.GOAL, key, True),
    }


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("올해는 토익 900점 넘고 싶어", "토익 750점 나왔어"),
        ("올해는 토익 900점 넘고 싶어", "토익 책 샀어"),
        ("I want to learn Spanish", "I bought a Spanish cookbook"),
    ],
)
async def test_mentioning_a_goal_does_not_retract_it(goal: str, said: str) -> None:
    """For example a lower score, or a book about the topic."""
    assert not [fact for fact in await facts(said, known=await known_from(goal)) if fact.retracts]


async def test_that_goal_refers_to_the_newest_goal() -> None:
    known = await known_from("올해는 마라톤 완주하는 게 목표야", "나 중국어 배우고 싶어")
    (fact,) = await facts("그 목표는 포기했어", known=known)
    assert (fact.category, fact.key, fact.retracts) == (Category.GOAL, "중국어", True)


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize(
    ("assistant", "key"),
    [
        ("매일 밤 네 이야기 들어줄게. 약속할게.", "promise:이야기"),
        ("좋아, 오늘부터 우리 1일이야.", "us"),
        ("응, 다 용서할게.", "us"),
        ("I promise I will call you tomorrow.", "promise:call you tomorrow"),
        ("I forgive you.", "us"),
    ],
)
async def test_a_promise_of_the_persona_is_a_fact_with_provenance_model(assistant: str, key: str) -> None:
    """The same for an agreed relationship and for forgiveness."""
    (fact,) = await facts("그랬구나", assistant)
    assert (fact.category, fact.key, fact.provenance) == (Category.RELATIONSHIP, key, "model")


@pytest.mark.req("CANON-7")
async def test_statements_of_the_persona_are_no_facts_about_the_user() -> None:
    """Neither about itself nor about the user."""
    assert await facts("너는 어디 살아?", "나는 부산에 살아. 커피 좋아해. 너 지훈이랑 헤어졌잖아.") == []
    assert await facts("Where do you live?", "I live in Busan. I love coffee. I quit my job.") == []


async def test_facts_from_the_user_have_the_provenance_user() -> None:
    assert [fact.provenance for fact in await facts("나 부산으로 이사했어", "좋겠다!")] == ["user", "user"]


async def test_one_message_may_state_several_facts() -> None:
    """Joined clauses share their tense and are analysed separately."""
    found = await facts("회사 그만두고 부산으로 이사했어. 요즘 기타 배우고 있어")
    assert {(fact.category, fact.key) for fact in found} == {
        (Category.EVENT, "job"),
        (Category.PERSONAL_INFO, "job"),
        (Category.PERSONAL_INFO, "home"),
        (Category.EVENT, "move"),
        (Category.HABIT, "기타"),
    }


@pytest.mark.req("CANON-10")
async def test_a_long_conversation_gives_exactly_the_expected_changes() -> None:
    """Two hundred turns, each with its expected facts."""
    known: dict[tuple[Category, str], Fact] = {}
    for hours, line in enumerate(TALK):
        found = await facts(line.user, line.assistant, tuple(known.values()))
        changes = {Change(fact.category, fact.key, None if fact.retracts else fact.value) for fact in found}
        assert changes == set(line.changes), line.user
        for fact in found:
            known.pop((fact.category, fact.key), None)
            if not fact.retracts:
                known[fact.category, fact.key] = as_known(fact, START + timedelta(hours=hours))
    assert len(TALK) >= 200


@pytest.mark.req("CANON-6", "CANON-7")
@pytest.mark.parametrize(
    ("said", "then", "gone"),
    [
        ("나 대전으로 이사했어", "사실 대전으로 이사 안 했어", {"home", "move"}),
        ("나 춘천으로 이사했어", "저 사실은 이사 안 했어요", {"home", "move"}),
        ("나 임신했어", "나 임신 아니야", {"임신"}),
        ("나 복숭아 알레르기 있어", "복숭아 알레르기 없어졌어", {"allergy:복숭아"}),
        ("민호랑 사귀어", "나 이제 민호랑 안 사귀어", {"partner"}),
        ("내년에 유학 갈 거야", "유학 안 가기로 했어", {"유학"}),
        ("다음 주에 발표 있어", "발표 취소됐어", {"발표"}),
        ("I moved to Denver", "I did not move to Denver", {"home", "move"}),
        ("I'm pregnant", "I'm not pregnant after all", {"pregnancy"}),
        ("I'm allergic to cats", "Turns out I'm not allergic to cats", {"allergy:cats"}),
        ("I'm dating Maya", "I'm not dating Maya anymore", {"partner"}),
        ("I want to learn piano", "I don't want to learn piano anymore", {"piano"}),
        ("I have an exam on Monday", "The exam got cancelled", {"exam"}),
    ],
)
async def test_a_denial_retracts_the_denied_fact(said: str, then: str, gone: set[str]) -> None:
    known = await known_from(said)
    made = await facts(then, known=known)
    assert {fact.key for fact in made if fact.retracts} & {fact.key for fact in known} == gone
    assert not [fact for fact in made if not fact.retracts]


@pytest.mark.req("CANON-6")
@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("다음 주에 면접 있어", "아직 면접 안 봤어"),
        ("다음 주에 면접 있어", "면접 준비 안 했어"),
        ("다음 주에 면접 있어", "회의 취소됐어"),
        ("나 간호사야", "민수는 간호사 아니야"),
        ("나 복숭아 알레르기 있어", "엄마는 복숭아 알레르기 없어"),
        ("나 복숭아 알레르기 있어", "나 새우 알레르기는 없어"),
        ("매일 아침 조깅해", "오늘은 조깅 안 했어"),
        ("올해는 영어 공부할 거야", "오늘은 영어 공부 안 할 거야"),
        ("민호랑 사귀어", "민호랑 안 싸웠어"),
        ("나 부산에 살아", "이번 주말에는 부산 안 가"),
        ("I live in Boston", "I don't live in Denver"),
        ("I'm dating Maya", "I'm not dating Jake"),
        ("I have an interview tomorrow", "I did not have the interview yet"),
        ("I have an interview tomorrow", "My meeting got cancelled"),
        ("I want to learn piano", "I'm not going to learn piano tonight"),
        ("I have a dog", "I don't have a cat"),
    ],
)
async def test_an_unrelated_negation_retracts_nothing(said: str, then: str) -> None:
    """About another person, another thing, or only for now."""
    known = await known_from(said)
    assert known
    retracted = {fact.key for fact in await facts(then, known=known) if fact.retracts}
    assert not retracted & {fact.key for fact in known}


@pytest.mark.req("CANON-6")
@pytest.mark.parametrize(
    ("said", "then", "stays"),
    [
        ("나 결혼했어", "아니 농담이야 ㅋㅋ", False),
        ("나 결혼했어", "뻥이야~", False),
        ("나 결혼했어", "사실 거짓말이었어", False),
        ("I got married!", "just kidding", False),
        ("I got married!", "no, I'm joking lol", False),
        ("나 결혼했어", "농담 아니야", True),
        ("나 결혼했어", "남편이 농담을 잘해", True),
        ("I got married!", "I'm not joking", True),
        ("I got married!", "He told a joke at dinner", True),
    ],
)
async def test_a_statement_called_a_joke_is_retracted(said: str, then: str, stays: bool) -> None:
    known = await known_from("나 부산에 살아" if "나" in said else "I live in Boston", said)
    made = facts_in(then, "", known, said)
    assert {fact.key for fact in made if fact.retracts} == (set() if stays else {"partner"})
    assert not [fact for fact in await facts(then, known=known) if fact.retracts], (
        "it needs the previous message"
    )


@pytest.mark.parametrize("laughter", ["ㅋ", "ㅎㅎ ", "!", "…", "haha ", "no, ", "lol "])
def test_long_laughter_does_not_cause_catastrophic_backtracking(laughter: str) -> None:
    """An ambiguous pattern would take exponential time."""
    assert not owns_up(laughter * 5_000 + "x")
    assert owns_up("아니 농담이야 " + "ㅋ" * 5_000)
    assert owns_up("just kidding" + "!" * 5_000)
