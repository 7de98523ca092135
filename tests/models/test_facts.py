"""Observations of the offline model."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from gieok.adapters.models.offline import OfflineModel
from gieok.memory.observations import Category, Conversation, Exchange, ListedFact, Observation, SpokenMessage
from tests.models.facts.score import AT, VERBATIM, observe

COLD = ListedFact(id="F1", subject="user", category=Category.EVENT, key="health", value="감기에 걸림")
INTERVIEW = ListedFact(id="F2", subject="user", category=Category.EVENT, key="면접", value="면접 예정")
HOME = ListedFact(id="F3", subject="user", category=Category.PERSONAL_INFO, key="home", value="제주도 거주")


async def found(said: str, *known: ListedFact, asked: str = "") -> list[tuple[str, str, str]]:
    """Operation, key and value of each observation."""
    observed = await observe(OfflineModel(), said, *known, asked=asked)
    return [(each.op, each.key, each.value) for each in observed]


@pytest.mark.req("MIND-4", "MIND-13")
@pytest.mark.parametrize(
    ("said", "key", "value", "quote"),
    [
        ("안녕! 나 지훈이랑 사귀기로 했어", "partner", "지훈과 사귀는 중", "나 지훈이랑 사귀기로 했어"),
        ("저는 올해 스물아홉 살이에요", "age", "29세", "저는 올해 스물아홉 살이에요"),
        ("나 땅콩 알러지라 과자도 조심해", "allergy", "땅콩 알레르기", "나 땅콩 알러지라"),
        ("hey! I'm allergic to amoxicillin", "allergy", "amoxicillin allergy", "I'm allergic to amoxicillin"),
        ("Devon broke up with me. from Tulsa", "partner", "broke up with Devon", "Devon broke up with me"),
    ],
)
async def test_a_value_is_normalised_and_a_quote_is_verbatim(
    said: str, key: str, value: str, quote: str
) -> None:
    (fact,) = await observe(OfflineModel(), said)
    assert (fact.key, fact.value, fact.quote) == (key, value, quote)
    assert fact.quote in said


@pytest.mark.req("MIND-7")
@pytest.mark.parametrize(
    ("said", "day", "value"),
    [
        ("내일 면접이 있어", date(2026, 3, 3), "면접 예정"),
        ("다음 주 화요일에 수술이 있어", date(2026, 3, 10), "수술 예정"),
        ("I have a job interview on Friday", date(2026, 3, 6), "job interview ahead"),
        ("I have an exam tomorrow", date(2026, 3, 3), "exam ahead"),
    ],
)
async def test_a_day_is_absolute(said: str, day: date, value: str) -> None:
    """It counts from the day of the message in the time zone of the user: Monday, 2 March 2026."""
    (fact,) = await observe(OfflineModel(), said)
    assert (fact.when, fact.value) == (day, value)


@pytest.mark.req("MIND-5", "MIND-13")
@pytest.mark.parametrize(
    "said",
    [
        "로또 되면 회사 그만둘 거야",
        "나 이사하면 어떨까?",
        "민수가 부산으로 이사했대",
        "부산으로 이사 안 했어",
        "꿈에서 부산으로 이사했어",
        "시험 봤어야 했는데",
        "내 친구 남편이 이번에 승진했어",
        "나 임신했어! 뻥이야 ㅋㅋ",
        "what if I moved to Boston?",
        "If I quit my job I'd move to Boston",
        "She said I moved to Boston",
        "I used to live in Boston",
        '"I quit my job" is my favourite line',
    ],
)
async def test_nothing_is_found_that_is_not_claimed(said: str) -> None:
    """Conditions, questions, hearsay, negation, dreams, jokes, other people, the past, quotations."""
    assert await found(said) == []


@pytest.mark.parametrize(
    ("said", "subject", "value"),
    [
        ("엄마가 어제 입원하셨어", "person:엄마", "엄마 입원함"),
        ("우리 부모님 작년에 이혼하셨어", "person:부모님", "부모님 이혼함"),
        ("My mom was just diagnosed with breast cancer", "person:mom", "mom diagnosed with breast cancer"),
    ],
)
async def test_the_news_of_the_family_are_about_them(said: str, subject: str, value: str) -> None:
    (fact,) = await observe(OfflineModel(), said)
    assert (fact.subject, fact.value) == (subject, value)


@pytest.mark.req("MIND-4", "MIND-13")
@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("생일이 언제야?", "12월 3일!", ("add", "birthday", "생일 12월 3일")),
        ("그럼 뭐라고 부르면 돼?", "가람이. 근데 다들 람쥐라 부름", ("add", "name", "가람")),
        ("출근은 언제부터인가요?", "6월 22일이요", ("add", "출근", "출근 예정")),
        ("when is your interview?", "next friday", ("add", "interview", "interview ahead")),
        ("What's your name?", "Nora!", ("add", "name", "Nora")),
    ],
)
async def test_an_answer_is_understood_with_its_question(
    asked: str, said: str, expected: tuple[str, str, str]
) -> None:
    assert expected in await found(said, asked=asked)
    assert expected not in await found(said)


@pytest.mark.req("MIND-4", "MIND-13")
async def test_an_agreement_ends_what_the_character_concludes() -> None:
    """The case of the specification: the wound has healed, hasn't it? – Yes."""
    wound = COLD.model_copy(update={"value": "상처를 입음"})
    asked = "상처가 이제 다 나은 것 같다, 그렇지?"
    assert await found("응", wound, asked=asked) == [("retire", "health", "상처를 입음")]
    assert await found("응", asked=asked) == [("add", "health", "상처가 이제 다 나은 것 같다")]
    assert await found("아니", wound, asked=asked) == []


async def test_an_agreement_makes_peace() -> None:
    asked = "그럼 우리 화해한 걸로 해도 돼?"
    assert ("add", "standing with character", "캐릭터와 화해함") in await found("ㅇㅇ 화해", asked=asked)


@pytest.mark.parametrize(
    ("said", "known", "retired"),
    [
        ("감기 다 나았어", COLD, True),
        ("면접 취소됐어", INTERVIEW, True),
        ("여행 취소됐어", INTERVIEW, False),
        ("면접 취소되면 어떡하지?", INTERVIEW, False),
    ],
)
async def test_a_known_fact_ends(said: str, known: ListedFact, *, retired: bool) -> None:
    """Named by its id. What is not named, or only feared, stays."""
    ended = [each for each in await observe(OfflineModel(), said, known) if each.op == "retire"]
    assert [each.id for each in ended] == ([known.id] if retired else [])


@pytest.mark.parametrize(
    ("said", "value"),
    [("드디어 마라톤 완주했어!!", "마라톤 완주함"), ("마라톤 드디어 해냈어", "마라톤 목표 달성")],
)
async def test_a_goal_that_is_reached_becomes_an_event(said: str, value: str) -> None:
    goal = ListedFact(
        id="F4", subject="user", category=Category.GOAL, key="마라톤", value="마라톤 완주하는 것이 목표"
    )
    (fact,) = await observe(OfflineModel(), said, goal)
    assert (fact.op, fact.id, fact.category, fact.value) == ("update", "F4", Category.EVENT, value)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("네 얘기부터 끝까지 들을게. 이건 약속이야.", "약속: 네 얘기부터 끝까지 들을게"),
        ("I promise I'll call you tomorrow.", "promise: I promise I'll call you tomorrow"),
    ],
)
async def test_a_promise_of_the_character_is_kept(reply: str, value: str) -> None:
    """Said by the assistant, about the character."""
    (fact,) = await remember("응", reply)
    assert (fact.subject, fact.says, fact.value) == ("character", "assistant", value)


async def test_each_exchange_has_a_note_and_observations_have_its_number() -> None:
    told = [("나 커피 좋아해", "그렇구나"), ("나 부산에 살아", "좋겠다")]
    exchanges = tuple(Exchange(messages=(spoken("user", u), spoken("assistant", a))) for u, a in told)
    talk = conversation(exchanges)
    made = await OfflineModel().remember(talk, summary_chars=100, max_keywords=4, verbatim=VERBATIM)
    assert len(made.turns) == 2
    assert [(each.turn, each.value) for each in made.observations] == [(1, "커피를 좋아함"), (2, "부산 거주")]


def spoken(role: str, text: str, at: datetime = AT) -> SpokenMessage:
    return SpokenMessage(role="user" if role == "user" else "assistant", text=text, at=at)


def conversation(
    exchanges: tuple[Exchange, ...],
    before: tuple[SpokenMessage, ...] = (),
    known: tuple[ListedFact, ...] = (),
) -> Conversation:
    return Conversation(
        language="ko",
        character="하나",
        timezone="Asia/Seoul",
        before=before,
        exchanges=exchanges,
        known=known,
    )


async def remember(*texts: str, known: tuple[ListedFact, ...] = ()) -> tuple[Observation, ...]:
    """The observations of the last exchange; the user speaks first, and an even number ends with a reply."""
    messages = [spoken("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]
    last = len(messages) - 1 - (len(messages) % 2 == 0)
    talk = conversation((Exchange(messages=tuple(messages[last:])),), tuple(messages[:last]), known)
    made = await OfflineModel().remember(talk, summary_chars=100, max_keywords=4, verbatim=VERBATIM)
    return made.observations
