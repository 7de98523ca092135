"""What the user takes back in the next message is not known any more, whatever the model says."""

from __future__ import annotations

import pytest

from gieok import Gieok, Settings, User
from gieok.memory.canon.grounding import ground
from gieok.memory.canon.retraction import taken_back
from gieok.memory.observations import Category, Observation, Reason, SpokenMessage
from gieok.testing.contracts.sessions import START
from gieok.text.modality import misspoke, only_joked
from tests.canon.scripted_turns import HANA, Scripted, found

HOME, JOKE = "나 부산에 살아", "나 제주도로 이사 갔어"
PARTNER, LEFT = "나 지훈이랑 사귀어", "지훈이랑 헤어졌어"
BOTH = "나 제주도로 이사 갔어. 그리고 고양이도 키워"


def home(value: str) -> Observation:
    return found(value, "사는 곳", Category.PERSONAL_INFO)


CAT = found("고양이를 키움", "반려동물", Category.PERSONAL_INFO)
FACTS = {
    HOME: [home("부산에 삶")],
    JOKE: [home("제주도로 이사함")],
    PARTNER: [found("지훈과 사귀는 중", "연인")],
    LEFT: [found("지훈과 헤어짐", "연인", op="retire")],
    BOTH: [home("제주도로 이사함"), CAT],
    "아니 잘못 말했어, 서울로 갔어": [home("서울로 이사함")],
}


async def talk(user: User, *messages: str, plan: str = "chat_turn") -> list[str]:
    """The values that are known after these messages, in one session."""
    await user.personas.create(HANA, persona_id="hana")
    for message in messages:
        await user.chat.send("hana", message, session_ref="s", plan=plan, wait_memory=True)
    return sorted(fact.value for fact in await user.canon.facts("hana"))


@pytest.mark.req("MIND-5")
@pytest.mark.parametrize("plan", ["chat_turn", "chat_turn_whole"])
@pytest.mark.parametrize(
    ("messages", "known"),
    [
        ((JOKE, "농담이야 ㅋㅋ"), []),
        ((JOKE, "아니 뻥이야"), []),
        ((JOKE, "just kidding"), []),
        ((HOME, JOKE, "농담이야"), ["부산에 삶"]),
        ((PARTNER, LEFT, "장난이야 장난"), ["지훈과 사귀는 중"]),
        ((BOTH, "농담이지~"), []),
        ((JOKE, "아니 잘못 말했어"), []),
        ((HOME, JOKE, "아 미안 말실수"), ["부산에 삶"]),
        ((BOTH, "아니 잘못 말했어, 서울로 갔어"), ["고양이를 키움", "서울로 이사함"]),
        ((BOTH, "앗 고양이는 아니고"), ["고양이를 키움", "제주도로 이사함"]),
        ((BOTH, "아니 고양이 말인데, 잘 커"), ["고양이를 키움", "제주도로 이사함"]),
        ((BOTH, "오타야! 고양이가 아니라 강아지"), ["제주도로 이사함"]),
        ((JOKE, "날씨 좋다", "농담이야"), ["제주도로 이사함"]),
    ],
)
async def test_what_is_taken_back_goes(
    settings: Settings, messages: tuple[str, ...], known: list[str], plan: str
) -> None:
    """Only what the message before has changed; an older value comes back."""
    async with await Gieok.open(settings, model=Scripted(FACTS)) as gieok:
        assert await talk(gieok.user("minsu"), *messages, plan=plan) == known


@pytest.mark.req("MIND-6")
async def test_history_and_the_changes_of_the_turn_say_so(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Scripted(FACTS)) as gieok:
        user = gieok.user("minsu")
        await talk(user, HOME, JOKE)
        turn = await user.chat.send("hana", "농담이야", session_ref="s", wait_memory=True)
        (change,) = turn.changes
        assert change.fact is not None
        assert (change.outcome, change.fact.value) == ("superseded", "부산에 삶")
        versions = await user.canon.history("hana", change.fact.root_id)
        assert [(each.value, each.reason) for each in versions] == [
            ("부산에 삶", None),
            ("제주도로 이사함", None),
            ("부산에 삶", "taken_back"),
        ]


async def test_the_exchange_before_is_that_of_the_session(settings: Settings) -> None:
    """Another session has no part in it."""
    async with await Gieok.open(settings, model=Scripted(FACTS)) as gieok:
        user = gieok.user("minsu")
        await talk(user, JOKE)
        await user.chat.send("hana", "농담이야", session_ref="t", wait_memory=True)
        assert [fact.value for fact in await user.canon.facts("hana")] == ["제주도로 이사함"]


def spoken(*texts: str) -> list[SpokenMessage]:
    return [
        SpokenMessage(role="user" if number % 2 == 0 else "assistant", text=text, at=START)
        for number, text in enumerate(texts)
    ]


def said(value: str, quote: str, turn: int = 1) -> Observation:
    return found(value, value, Category.EVENT, quote=quote).model_copy(update={"turn": turn})


@pytest.mark.req("MIND-5")
@pytest.mark.parametrize(
    ("answer", "kept", "reason"),
    [
        ("just kidding lol", [], Reason.JOKE),
        ("oops, I meant I sold the bike", ["quit the bakery"], Reason.NEGATED),
        ("lol no. I dropped my apron", ["sold the bike"], Reason.NEGATED),
        ("not really settled yet", ["sold the bike", "quit the bakery"], None),
        ("yes, today", ["sold the bike", "quit the bakery"], None),
    ],
)
def test_several_exchanges_that_are_remembered_at_once(
    answer: str, kept: list[str], reason: Reason | None
) -> None:
    first = "I sold the bike. oh and I quit the bakery today"
    messages = spoken(first, "WAIT. You quit the bakery??", answer, "Ha.")
    observations = [said("sold the bike", "I sold the bike"), said("quit the bakery", "I quit the bakery")]
    found_kept, refused = ground(observations, messages, known={})
    assert [each.value for each in found_kept] == kept
    assert {each.reason for each in refused} == ({reason} if reason else set())


def test_a_correction_with_a_new_value_is_left_to_merging() -> None:
    messages = spoken("I moved to Leeds", "Oh!", "sorry, I meant York", "Ah.")
    observations = [said("moved to Leeds", "I moved to Leeds"), said("moved to York", "I meant York", 2)]
    assert ground(observations, messages, known={})[1] == []


def test_a_no_takes_back_only_what_the_reply_asks_in_its_words() -> None:
    notes = ["home: lives in Berlin since March"]
    assert taken_back(notes, "Do you like Berlin?", "no")[0] == frozenset()
    assert taken_back(notes, "Wait, you live in Berlin since March?", "haha no")[0] == {0}
    assert taken_back(notes, "You live in Berlin since March.", "no")[0] == frozenset()
    dated = ["job: quit the bakery on 2026-05-17"]
    assert taken_back(dated, "WAIT. you quit the bakery??", "lol no. I dropped my apron")[0] == {0}
    assert taken_back(["퇴사: 회사를 그만둠"], "뭐? 회사를 그만뒀다고? 진짜 퇴사야?", "아니 ㅋㅋ")[0] == {0}


@pytest.mark.parametrize(
    "text",
    [
        "아니 잘못 말했어",
        "아 말 잘못했다 미안",
        "앗 오타!",
        "잘못 썼다 ㅋㅋ",
        "I misspoke",
        "oops, my mistake",
        "no wait, I meant Friday",
    ],
)
def test_a_slip_is_recognised(text: str) -> None:
    assert misspoke(text)
    assert not only_joked(text)


@pytest.mark.parametrize(
    "text",
    [
        "네가 잘못 말했어",
        "친구가 잘못 말해서 싸웠어",
        "I meant it",
        "my mistake list is long ago",
        "내가 잘못한 거야?",
    ],
)
def test_no_slip(text: str) -> None:
    assert not misspoke(text)


@pytest.mark.parametrize(
    "text", ["not really", "nah", "forget it", "haha no", "yeah right", "seriously though"]
)
def test_what_may_be_an_answer_is_no_joke_of_the_message_before(text: str) -> None:
    assert not only_joked(text)
