"""Grounding by quote: what is kept, what is refused, and with which reason."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.memory.canon.grounding import ALL_COMMITMENTS, find_quote, ground
from gieok.memory.observations import Category, Observation, Reason, SpokenMessage
from gieok.text.modality import Commitment

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Known:
    key: str
    value: str


def said(*texts: str, first: str = "user") -> list[SpokenMessage]:
    """Messages that alternate between the user and the assistant."""
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    return [
        SpokenMessage(role="user" if roles[index % 2] == "user" else "assistant", text=text, at=AT)
        for index, text in enumerate(texts)
    ]


def seen(value: str, quote: str, **fields: Any) -> Observation:
    category = Category(fields.pop("category", "EVENT"))
    given_fields = {"turn": 1, "op": "add", "key": "note", "importance": 5} | fields
    return Observation.model_validate(given_fields | {"category": category, "value": value, "quote": quote})


def reason_for(
    observation: Observation,
    messages: Sequence[SpokenMessage],
    *,
    before: Sequence[SpokenMessage] = (),
    known: Mapping[str, Known] | None = None,
    prompt_texts: Sequence[str] = (),
    from_reply: Collection[Commitment] = ALL_COMMITMENTS,
) -> Reason | None:
    kept, refusals = ground(
        [observation],
        messages,
        before=before,
        known=known or {},
        prompt_texts=prompt_texts,
        from_reply=from_reply,
    )
    assert len(kept) + len(refusals) == 1
    return refusals[0].reason if refusals else None


KEPT: list[tuple[str, str, dict[str, Any]]] = [
    ("내일 중요한 면접이 있어", "2026-03-03 면접", {"quote": "내일 중요한 면접이 있어"}),
    ("나 스물일곱이야", "27세", {"category": "PERSONAL_INFO"}),
    ("남친이랑 깨졌어 ㅠㅠ", "남자친구와 헤어짐", {"category": "RELATIONSHIP", "quote": "남친이랑 깨졌어"}),
    ("커피 마시면 잠을 못 자", "커피를 마시면 잠을 못 잠", {"category": "HABIT"}),
    ("나 고기 안 먹어", "고기를 먹지 않음", {"category": "PREFERENCE"}),
    ("이제 그 회사 안 다녀", "회사를 그만둠", {}),
    ("동생이 임신했대", "동생이 임신함", {"subject": "person:동생"}),
    ("의사가 골절이라고 했어", "골절 진단", {}),
    ("이름은 소라라고 불러 줘", "소라라고 불러 주기를 원함", {"category": "PREFERENCE"}),
    ("my sister is pregnant", "pregnant", {"subject": "person:sister"}),
    ("Jake broke up with me", "Jake broke up with her", {"category": "RELATIONSHIP"}),
    ("I don't eat meat", "does not eat meat", {"category": "PREFERENCE"}),
    ("I used to live in Rome", "lived in Rome formerly", {"category": "PERSONAL_INFO"}),
    ("The doctor says I have asthma", "has asthma", {"category": "PERSONAL_INFO"}),
    ("can you call me Ben?", "wants to be called Ben", {"category": "PREFERENCE"}),
    (
        "Given that I work nights, is a cat ok?",
        "works nights",
        {"quote": "I work nights", "category": "HABIT"},
    ),
    ("I wish I could sing", "wants to be able to sing", {"category": "GOAL"}),
    ("maybe I'll move to Oslo", "is considering a move to Oslo", {"category": "GOAL"}),
]

REFUSED: list[tuple[Reason, str, str, dict[str, Any]]] = [
    (Reason.HYPOTHETICAL, "로또 되면 회사 때려친다", "회사를 그만둠", {}),
    (Reason.HYPOTHETICAL, "if i fail im becoming a monk", "is becoming a monk", {"category": "GOAL"}),
    (Reason.OTHER_PERSON, "우리 언니가 임신했어", "임신함", {}),
    (Reason.OTHER_PERSON, "my brother broke his leg", "broke a leg", {}),
    (Reason.OTHER_PERSON, "아니 엄마는 대구에 살아", "대구에 거주", {"subject": "person:아빠"}),
    (Reason.NEGATED, "나 이사 안 가", "이사를 감", {}),
    (Reason.NEGATED, "we are NOT moving to Leeds", "is moving to Leeds", {"quote": "moving to Leeds"}),
    (Reason.NEGATED, "퇴사하는 거 아니고 휴직이야", "퇴사함", {"quote": "퇴사하는 거 아니고"}),
    (Reason.NEGATED, "회사 그만두는 거 아니야", "회사를 그만둠", {}),
    (Reason.NEGATED, "여행 취소됐어", "여행 예정", {}),
    (Reason.JOKE, "나 결혼해! 아 농담이야", "결혼함", {"quote": "나 결혼해"}),
    (Reason.JOKE, "I sold the car. just kidding", "sold the car", {"quote": "I sold the car"}),
    (Reason.QUESTION, "나 이사 갈까?", "이사를 감", {"quote": "이사 갈까"}),
    (Reason.QUESTION, "should I sell the car?", "sells the car", {"quote": "sell the car"}),
    (Reason.QUOTED, '엄마가 "나 퇴사했어" 이러는 거야', "퇴사함", {"quote": "나 퇴사했어"}),
    (Reason.QUOTED, "> I moved to Paris\nlol look at this", "moved to Paris", {"quote": "I moved to Paris"}),
    (Reason.FICTION, "*draws a sword* I am the king of this land", "is a king", {"quote": "I am the king"}),
    (Reason.FICTION, "영화 봤는데 여주가 암에 걸리더라", "암에 걸림", {"quote": "암에 걸리더라"}),
    (Reason.PAST, "I used to smoke", "smokes", {"category": "HABIT"}),
    (Reason.PAST, "예전에는 피아노를 쳤었지", "피아노를 침", {"category": "HABIT"}),
    (Reason.OPINION_OF_OTHERS, "my aunt thinks I should quit", "should quit", {"quote": "I should quit"}),
    (Reason.OPINION_OF_OTHERS, "삼촌은 내가 망할 거라고 하더라", "사업이 망함", {}),
    (Reason.SARCASM, "rain again. living the dream", "enjoys life", {"quote": "living the dream"}),
    (Reason.NOT_SAID, "안녕", "회사를 그만둠", {"quote": "회사 그만뒀어"}),
]  # fmt: skip


@pytest.mark.req("MIND-4")
@pytest.mark.parametrize(("text", "value", "fields"), KEPT)
def test_what_was_said_and_meant_is_kept(text: str, value: str, fields: dict[str, Any]) -> None:
    assert reason_for(seen(value, **{"quote": text} | fields), said(text, "응")) is None


@pytest.mark.req("MIND-5")
@pytest.mark.parametrize(("reason", "text", "value", "fields"), REFUSED)
def test_what_was_not_asserted_is_refused_with_its_reason(
    reason: Reason, text: str, value: str, fields: dict[str, Any]
) -> None:
    assert reason_for(seen(value, **{"quote": text} | fields), said(text, "그래?")) == reason


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("내일중요한 면접이있어", True),
        ("내일 … 면접이 있어", True),
        ("면접이 있어 ... 내일", False),
        ("ＩＴ 회사", True),
        ("it 회사", True),
        ("❤️", True),
        ("면접이 없어", False),
    ],
)
def test_spacing_width_case_and_ellipsis_do_not_matter(quote: str, found: bool) -> None:
    assert bool(find_quote("내일 중요한 면접이 있어, IT 회사 ❤️", quote)) is found


@given(st.text(min_size=1, max_size=60), st.data())
def test_every_piece_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    if text[start:end].strip():
        spans = find_quote(text, text[start:end])
        assert spans
        assert all(0 <= left < right <= len(text) for left, right in spans)


def test_decomposed_hangul_is_the_same_text() -> None:
    decomposed = unicodedata.normalize("NFD", "나 이사했어")
    assert reason_for(seen("이사함", "나 이사했어"), said(decomposed, "축하해")) is None
    assert reason_for(seen("이사함", decomposed), said("나 이사했어", "축하해")) is None


def test_a_quote_of_the_other_speaker_is_not_said() -> None:
    exchange = said("오늘 날씨 좋다", "나는 고양이를 좋아해")
    assert reason_for(seen("고양이를 좋아함", "고양이를 좋아해"), exchange) == Reason.NOT_SAID


def test_the_right_turn_is_found() -> None:
    messages = said("나 이사했어", "축하해!", "그리고 고양이도 데려왔어", "귀엽겠다")
    kept, _ = ground([seen("고양이를 데려옴", "고양이도 데려왔어")], messages, known={})
    assert [observation.turn for observation in kept] == [2]


@pytest.mark.parametrize(
    ("question", "answer", "value"),
    [
        ("생일이 언제야?", "12월 3일!", "생일 12월 3일"),
        ("상처가 이제 다 나은 것 같다, 그렇지?", "응", "상처가 다 나음"),
        ("그럼 우리 화해한 거지?", "ㅇㅇ 맞아", "화해함"),
        ("So payments stay out of version one?", "Agreed.", "no payments in version one"),
    ],
)
@pytest.mark.req("MIND-4")
def test_an_answer_is_grounded_with_its_question(question: str, answer: str, value: str) -> None:
    before = said("음", question)
    assert reason_for(seen(value, answer), said(answer, "좋아"), before=before) is None


def test_a_yes_to_something_else_proves_nothing() -> None:
    before = said("음", "오늘 점심 먹었어?")
    assert reason_for(seen("회사를 그만둠", "응"), said("응", "그래"), before=before) == Reason.NOT_SAID


def test_a_no_does_not_affirm() -> None:
    before = said("음", "벌써 이사했어?")
    assert reason_for(seen("이사함", "아니"), said("아니", "그래"), before=before) == Reason.NEGATED


@pytest.mark.parametrize(
    ("reply", "value", "subject"),
    [
        ("내일 아침에 깨워 줄게, 약속.", "내일 아침에 깨워 주기로 약속", "character"),
        ("I'll remind you every Sunday.", "promised to remind every Sunday", "character"),
        ("좋아, 이제 화해한 거다.", "화해함", "user"),
        ("앞으로 콩이라고 부를게.", "콩이라고 부르기로 함", "user"),
    ],
)
def test_the_character_may_promise_agree_make_up_and_name(reply: str, value: str, subject: str) -> None:
    observation = seen(value, reply, says="assistant", subject=subject)
    assert reason_for(observation, said("그래", reply)) is None
    assert reason_for(observation, said("그래", reply), from_reply=()) == Reason.OPINION_OF_OTHERS


def test_the_character_may_not_conclude_anything_else() -> None:
    observation = seen("곧 나음", "금방 나을 병이야", says="assistant", subject="person:아빠")
    assert reason_for(observation, said("아빠가 아파", "금방 나을 병이야")) == Reason.OPINION_OF_OTHERS


def test_what_the_user_confirms_afterwards_counts() -> None:
    messages = said("이제 안 아파", "상처가 다 나았구나", "응 맞아", "다행이다")
    observation = seen("상처가 다 나음", "상처가 다 나았구나", says="assistant")
    assert reason_for(observation, messages) is None
    assert reason_for(observation, messages, from_reply={Commitment.PROMISE}) == Reason.OPINION_OF_OTHERS


def test_what_the_prompt_held_is_no_news() -> None:
    prompt = ["- (EVENT) 면접: 2026-03-06 IT 회사 면접"]
    exchange = said("안녕, 오늘 덥다", "면접이 IT 회사라고 했지, 응원한다고 약속할게")
    echoed = seen("IT 회사 면접", "면접이 IT 회사", says="assistant", subject="user")
    by_user = seen("IT 회사 면접", "오늘 덥다")
    assert reason_for(by_user, exchange, prompt_texts=prompt) == Reason.FROM_PROMPT
    assert reason_for(echoed, exchange, prompt_texts=prompt) is not None


def test_what_is_known_is_refused_and_an_update_is_not() -> None:
    known = {"F1": Known("allergy", "복숭아 알레르기가 있음")}
    text = said("나 복숭아 알레르기 있잖아", "맞아")
    quote = "복숭아 알레르기 있잖아"
    assert (
        reason_for(seen("복숭아 알레르기", quote, key="allergy"), text, known=known) == Reason.ALREADY_KNOWN
    )
    more = seen("복숭아와 땅콩 알레르기", quote, op="update", id="F1", key="allergy")
    assert reason_for(more, text, known=known) is None


def test_a_retirement_needs_a_known_fact_and_an_assertion() -> None:
    known = {"F1": Known("fishing", "주말마다 낚시를 다님")}
    retired = seen("낚시를 그만둠", "낚시는 이제 못 다녀", op="retire", id="F1", key="fishing")
    assert reason_for(retired, said("낚시는 이제 못 다녀", "저런"), known=known) is None
    assert reason_for(retired, said("낚시는 이제 못 다녀", "저런")) == Reason.MALFORMED
    asked = seen("낚시를 그만둠", "낚시 그만둘까", op="retire", id="F1", key="fishing")
    assert reason_for(asked, said("낚시 그만둘까?", "글쎄"), known=known) == Reason.QUESTION


def test_a_joke_taken_back_in_the_next_message_is_refused() -> None:
    messages = said("나 오늘 퇴사했어", "뭐?!", "뻥이야 ㅋㅋ", "놀랐잖아")
    assert reason_for(seen("퇴사함", "나 오늘 퇴사했어"), messages) == Reason.JOKE


def test_a_role_is_played_until_it_is_left() -> None:
    before = said("let's role-play. I'm the captain and you're my parrot", "Aye!")
    played = said("I have three dead husbands", "Squawk!")
    assert (
        reason_for(seen("has three dead husbands", "three dead husbands"), played, before=before)
        == Reason.FICTION
    )
    real = said("haha ok. I passed my exam today", "Great!")
    assert reason_for(seen("passed an exam", "I passed my exam"), real, before=before) is None


def test_somebody_else_at_the_keyboard_is_another_person() -> None:
    known = {"F1": Known("name", "Eleanor")}
    text = said("hi this is theo. i have a loose tooth", "Hi Theo!")
    assert (
        reason_for(seen("has a loose tooth", "i have a loose tooth"), text, known=known)
        == Reason.OTHER_PERSON
    )
    assert reason_for(seen("has a loose tooth", "i have a loose tooth"), text) is None


def test_each_observation_is_kept_or_refused_once_and_in_order() -> None:
    messages = said("나 이사했어. 로또 되면 퇴사한다", "축하해")
    good, bad = seen("이사함", "나 이사했어"), seen("퇴사함", "로또 되면 퇴사한다")
    kept, refusals = ground([bad, good, bad], messages, known={})
    assert kept == [good]
    assert [refusal.observation for refusal in refusals] == [bad, bad]
