"""The modality of clauses: one table of sentences per modality and language, with hard negatives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text.modality import Clause, Modality, clause_at, clauses, opens_role_play, takes_back
from gieok.text.modality.clause import level

M = Modality


def modality_of(text: str, said: str) -> frozenset[Modality]:
    """The modalities of the clauses that `said` is part of."""
    start = text.index(said)
    found = clause_at(text, start, start + len(said))
    return frozenset[Modality]().union(*(clause.modality for clause in found))


HAS: list[tuple[Modality, str, str]] = [
    # English
    (M.NEGATED, "I'm not moving to Berlin.", "moving to Berlin"),
    (M.NEGATED, "we are definitely NOT getting a dog", "getting a dog"),
    (M.NEGATED, "i dont drink anymore", "drink"),
    (M.NEGATED, "I have never been to Rome", "been to Rome"),
    (M.NEGATED, "it's Tuesday now, not Monday", "not Monday"),
    (M.HYPOTHETICAL, "If I had a garden I would grow tomatoes", "grow tomatoes"),
    (M.HYPOTHETICAL, "what if we just moved to Spain", "moved to Spain"),
    (M.HYPOTHETICAL, "maybe I'll learn the piano one day", "learn the piano"),
    (M.CONDITIONAL, "if the exam goes wrong im becoming a baker", "becoming a baker"),
    (M.CONDITIONAL, "And if he calls again, I'm changing my number", "changing my number"),
    (M.WISH, "I wish I had a sister", "had a sister"),
    (M.QUESTION, "should I quit my job?", "quit my job"),
    (M.QUESTION, "would u come with me", "come with me"),
    (M.QUESTION, "Given that I work nights, is a puppy a bad idea?", "is a puppy a bad idea"),
    (M.HEARSAY, "my brother says the shop is closing", "the shop is closing"),
    (M.OPINION_OF_OTHERS, "my aunt thinks I should marry him", "I should marry him"),
    (M.OPINION_OF_OTHERS, "Tom keeps saying we'd be great parents", "we'd be great parents"),
    (M.QUOTED, 'She yelled "I am leaving you" and slammed the door', "I am leaving you"),
    (M.QUOTED, "🎶 i want to break free 🎶", "i want to break free"),
    (M.QUOTED, 'the log says `user "root" has been deleted`', "has been deleted"),
    (M.JOKE, "I sold the house today. Just kidding!", "I sold the house"),
    (M.JOKE, "we're getting married lol. nah, only joking", "getting married"),
    (M.JOKE, "ugh im gonna kill him", "gonna kill him"),
    (M.FICTION, "let's pretend I'm a pirate and you are my parrot", "I'm a pirate"),
    (M.FICTION, "*draws a sword* I have a castle in the north", "I have a castle"),
    (M.FICTION, "In the film she quits her job and buys a farm", "buys a farm"),
    (M.FICTION, "i dreamt that i was pregnant", "pregnant"),
    (M.SARCASM, "Three hours in the rain. Living the dream.", "Living the dream"),
    (M.SARCASM, "oh great, another meeting", "oh great"),
    (M.PAST, "I used to play the violin", "play the violin"),
    (M.PAST, "when I was a kid we had a parrot", "we had a parrot"),
    (M.OTHER_PERSON, "my sister is pregnant", "is pregnant"),
    (M.OTHER_PERSON, "Anna got a job in Oslo and moves next week", "moves next week"),
    (M.OTHER_PERSON, "he hurt his back", "hurt his back"),
    # Korean
    (M.NEGATED, "나 담배 안 피워", "담배 안 피워"),
    (M.NEGATED, "회사 그만두는 거 아니고 휴직이야", "그만두는 거 아니고"),
    (M.NEGATED, "토요일 말고 일요일에 보자", "토요일 말고"),
    (M.NEGATED, "어제 헬스장 가려고 했는데 비가 왔어", "헬스장 가려고 했는데"),
    (M.NEGATED, "떨어질 줄 알았는데 붙었어", "떨어질 줄 알았는데"),
    (M.NEGATED, "약속은 수요일.. 아니다 목요일이야", "약속은 수요일.."),
    (M.NEGATED, "고기는 먹지 않아", "먹지 않아"),
    (M.NEGATED, "나 형제 없어", "형제 없어"),
    (M.HYPOTHETICAL, "돈만 많으면 세계 일주를 할 텐데", "세계 일주를 할 텐데"),
    (M.HYPOTHETICAL, "기타라도 배울까 싶다", "기타라도 배울까"),
    (M.CONDITIONAL, "시험 떨어지면 고향 내려간다", "고향 내려간다"),
    (M.WISH, "강아지 한 마리 키우면 좋겠다", "강아지 한 마리 키우면"),
    (M.QUESTION, "나 이사 갈까?", "이사 갈까"),
    (M.QUESTION, "우리 내일 만나냐", "내일 만나냐"),
    (M.HEARSAY, "지민이 결혼한대", "결혼한대"),
    (M.HEARSAY, "거기 문 닫았다더라", "문 닫았다더라"),
    (M.OPINION_OF_OTHERS, "삼촌은 내가 망할 거라고 하더라", "망할 거라고"),
    (M.OPINION_OF_OTHERS, "엄마가 빨리 결혼하라고 난리야", "빨리 결혼하라고"),
    (M.QUOTED, '걔가 "나 오늘 회사 그만뒀어" 이러더라', "나 오늘 회사 그만뒀어"),
    (M.QUOTED, "라디오에서 나는 너를 떠나~ 이 노래 나옴", "나는 너를 떠나~"),
    (M.JOKE, "나 복권 당첨됐어! 아 농담이야 ㅋㅋ", "복권 당첨됐어"),
    (M.JOKE, "오늘부터 채식한다 ㅋㅋㅋ 뻥이지", "오늘부터 채식한다"),
    (M.JOKE, "구름 위를 걷는 기분이야", "구름 위를 걷는 기분"),
    (M.FICTION, "영화 봤는데 남주가 회사 때려치우고 떠나더라", "회사 때려치우고"),
    (M.FICTION, "꿈에서 나 의사였어", "의사였어"),
    (M.FICTION, "상황극 하자 나는 왕이고 돈이 많아", "나는 왕이고"),
    (M.SARCASM, "또 야근이래. 아주 행복하네", "아주 행복하네"),
    (M.SARCASM, "천재 났다 천재 났어", "천재 났다"),
    (M.PAST, "예전에는 축구를 했었는데 이제 안 해", "축구를 했었는데"),
    (M.PAST, "대학 때 밴드 했었지", "밴드 했었지"),
    (M.OTHER_PERSON, "우리 언니가 임신했어", "임신했어"),
    (M.OTHER_PERSON, "민준이는 어제 다쳤어", "다쳤어"),
    (M.OTHER_PERSON, "걔 지난주에 헤어졌어", "헤어졌어"),
]

LACKS: list[tuple[Modality, str, str]] = [
    (M.NEGATED, "I wouldn't say no to cake", "say no to cake"),
    (M.NEGATED, "I can't wait for the concert", "the concert"),
    (M.NEGATED, "not only do I sing, I also dance", "I also dance"),
    (M.NEGATED, "I'm vegan, not vegetarian", "I'm vegan"),
    (M.NEGATED, "No, I live in Leeds", "I live in Leeds"),
    (M.CONDITIONAL, "I'm seeing her friday if the trains run", "I'm seeing her friday"),
    (M.CONDITIONAL, "If you must know, I am thirty", "I am thirty"),
    (M.CONDITIONAL, "If it rains we stay in, but the party is on Sunday", "the party is on Sunday"),
    (M.HYPOTHETICAL, "I'd like to learn Greek", "learn Greek"),
    (M.HYPOTHETICAL, "I would rather stay home", "stay home"),
    (M.QUESTION, "Given that I work nights, is a puppy a bad idea?", "I work nights"),
    (M.QUESTION, "Guess what? I got the job", "I got the job"),
    (M.PAST, "I'm used to the cold", "used to the cold"),
    (M.QUOTED, 'My favourite film is "The Third Man"', "The Third Man"),
    (M.FICTION, "*sighs* I failed my exam", "I failed my exam"),
    (M.OTHER_PERSON, "My name is Carla", "My name is Carla"),
    (M.OTHER_PERSON, "she left and I moved to Porto", "I moved to Porto"),
    (M.NEGATED, "안 먹으면 안 돼", "안 먹으면 안 돼"),
    (M.NEGATED, "그 말이 틀린 건 아니지 않아", "아니지 않아"),
    (M.NEGATED, "갈 수밖에 없어", "갈 수밖에 없어"),
    (M.NEGATED, "아니 근데 나 오늘 승진했어", "승진했어"),
    (M.NEGATED, "나 승진했어. 아니 근데 왜 이렇게 피곤하지", "나 승진했어"),
    (M.CONDITIONAL, "약은 꼭 먹으면 돼", "먹으면 돼"),
    (M.CONDITIONAL, "라면 먹고 잤어", "라면 먹고"),
    (M.QUESTION, "비가 오니까 집에 있을게", "비가 오니까"),
    (M.PAST, "어릴 때부터 피아노 쳤어", "피아노 쳤어"),
    (M.FICTION, "나 어제 드라마 다 봤어", "드라마 다 봤어"),
    (M.OPINION_OF_OTHERS, "다들 나를 쭈니라고 불러", "쭈니라고 불러"),
    (M.OTHER_PERSON, "나는 수원에 살아", "수원에 살아"),
    (M.OTHER_PERSON, "언니는 서울에 살고 나는 부산에 살아", "나는 부산에 살아"),
]


@pytest.mark.req("MIND-5")
@pytest.mark.parametrize(("modality", "text", "said"), HAS)
def test_modality_is_recognised(modality: Modality, text: str, said: str) -> None:
    assert modality in modality_of(text, said), [(c.text, set(c.modality)) for c in clauses(text)]


@pytest.mark.req("MIND-5")
@pytest.mark.parametrize(("modality", "text", "said"), LACKS)
def test_lookalikes_are_not_taken_for_it(modality: Modality, text: str, said: str) -> None:
    assert modality not in modality_of(text, said), [(c.text, set(c.modality)) for c in clauses(text)]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("my cousin got engaged", "cousin"),
        ("My cousin Rita got engaged", "cousin rita"),
        ("Rita called. she is moving out", "rita"),
        ("동생이 다쳤어", "동생"),
        ("서연이가 편지를 썼어", "서연"),
    ],
)
def test_other_person_is_named(text: str, subject: str) -> None:
    assert clauses(text)[-1].subject == subject


def test_speaker_of_a_report_is_named() -> None:
    assert clauses("My neighbour says I should sell")[0].speaker == "my neighbour"
    assert clauses("장모님은 사위가 변했다 하시고")[0].speaker == "장모님"


@pytest.mark.parametrize("text", ["jk", "아니 농담이야 ㅋㅋ", "just kidding!", "lol no, kidding", "뻥이야"])
def test_taking_back(text: str) -> None:
    assert takes_back(text)


@pytest.mark.parametrize(
    "text", ["농담 하나 해줘 재밌는 걸로", "no I live here", "kids are fine", "장난감 샀어"]
)
def test_no_taking_back(text: str) -> None:
    assert not takes_back(text)


@pytest.mark.parametrize("text", ["let's pretend we are spies", "역할극 하자", "*opens the treasure chest*"])
def test_role_play_opens(text: str) -> None:
    assert opens_role_play(text)


@pytest.mark.parametrize("text", ["*hugs* I passed", "I play the piano", "역할이 커졌어"])
def test_no_role_play(text: str) -> None:
    assert not opens_role_play(text)


@given(st.text(max_size=300))
def test_clauses_are_pieces_of_any_text_in_order(text: str) -> None:
    end = 0
    for clause in clauses(text):
        assert isinstance(clause, Clause)
        assert clause.start >= end
        assert clause.text == text[clause.start : clause.end]
        assert clause.text.strip()
        end = clause.end


@given(st.text(max_size=300))
def test_level_keeps_the_length(text: str) -> None:
    assert len(level(text)) == len(text)


REPEATED = [
    "if ",
    "no, ",
    "ok no ",
    "she says ",
    "ㅋ",
    "아니 ",
    "아니야",
    "하면 ",
    "'a b ",
    "*a* ",
    "( ",
    "\n",
]


@pytest.mark.parametrize("unit", REPEATED)
def test_repetitions_do_not_make_a_pattern_hang(unit: str) -> None:
    text = unit * (8_000 // len(unit))
    assert len(clauses(f"{text}나 이사했어")) < 8_000
    assert not takes_back(f"{text}x")
    assert not opens_role_play(text)
