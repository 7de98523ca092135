"""The emotion and the importance of a message, recognised by word stems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from gieok.adapters.models.offline.reading import Sentence, Utterance, either, listed, read
from gieok.memory.companion.records import Emotion
from gieok.text import Morpheme

_KOREAN_WORDS = {
    Emotion.JOY: """
        기쁘 기뻐하 행복 즐겁 재밌 재미있 좋 뿌듯 신나 웃기 고맙 감사 반갑 사랑 만족 합격 축하 성공 다행
        최고 행운
    """,
    Emotion.SADNESS: """
        슬프 슬퍼하 우울 외롭 눈물 울 속상 서운 섭섭 그립 허전 이별 헤어지 실망 상처 쓸쓸 아쉽 불합격
        장례 돌아가시
    """,
    Emotion.STRESS: """
        힘들 힘들어하 지치 스트레스 피곤 짜증 화나 불안 걱정 답답 초조 떨 떨리 긴장 무섭 두렵 야근 바쁘
        괴롭 막막 망치 귀찮 싫 싫어하 부담 억울 아프 싸우 혼나 밤새 빡치 미치
    """,
    Emotion.CALM: """
        편안 평온 차분 느긋 여유 잔잔 조용 쉬 힐링 안심 편하 평화 홀가분 산책
    """,
    Emotion.EXCITEMENT: """
        설레 기대 흥분 두근거리 두근두근 신기 대박 드디어 벅차 짜릿
    """,
}
_ENGLISH_WORDS = {
    Emotion.JOY: """
        happy glad joy great good enjoy enjoyed fun love loved loves pleased proud delighted wonderful
        grateful thankful awesome laughed passed won amazing fantastic cheerful promoted
    """,
    Emotion.SADNESS: """
        sad unhappy lonely cry cried crying depressed miss missed heartbroken grief upset disappointed
        hurt gloomy sorrow died funeral failed lost broke terrible
    """,
    Emotion.STRESS: """
        stress stressed stressful tired exhausted anxious worried worry nervous angry annoyed
        overwhelmed busy pressure afraid scared frustrated burned burnt hard tough struggling sick hate
        panic deadline
    """,
    Emotion.CALM: """
        calm relaxed relaxing relax peaceful peace quiet rested cozy comfortable relieved serene
    """,
    Emotion.EXCITEMENT: """
        excited exciting thrilled finally eager pumped hyped wow
    """,
}


def _index(table: dict[Emotion, str]) -> dict[str, Emotion]:
    return {word: emotion for emotion, words in table.items() for word in words.split()}


_KOREAN = _index(_KOREAN_WORDS)
_ENGLISH = _index(_ENGLISH_WORDS)

# Not good is a burden, not hard is a relief; the other three have no plain opposite among the five.
_OPPOSITE = {
    Emotion.JOY: Emotion.SADNESS,
    Emotion.SADNESS: Emotion.CALM,
    Emotion.STRESS: Emotion.CALM,
    Emotion.CALM: Emotion.STRESS,
}
_NOT_BEFORE = frozenset({"안", "못"})
_NOT_AFTER = frozenset({"않", "못하", "없", "아니", "말"})
_NOT_ENGLISH = re.compile(r"^(?:not|no|never|\w+n't|hardly|without)$")
_CRYING = re.compile(r"[ㅠㅜ]{2,}|:'?-?\(|[😢😭😞😔]")
_SMILING = re.compile(r":-?[)D]|[😀😁😄😊🥰😍]")
_PASSED_AWAY = re.compile(r"\bpass(?:ed|es|ing)? (?:away|on)\b|\bcrossed the rainbow bridge\b")
_WORD = re.compile(r"[a-z]+(?:['’-][a-z]+)*")


# What a conversation can be about, by weight: a turning point of a life, a change, a plan.
_KOREAN_TURNING = listed("""
    결혼 이혼 약혼 임신 출산 유산 사망 장례 돌아가시 죽 암 수술 입원 이별 헤어지 해고 파산 파혼
    낳 태어나 사고 진단 재결합 고백 청혼 프러포즈
""")
_KOREAN_CHANGES = listed("""
    면접 시험 이사 취업 취직 입사 이직 퇴사 그만두 합격 불합격 승진 병원 아프 다치 사귀 화해 싸우
    유학 이민 졸업 입학 대학원 수능 창업 계약 대출 빚 꿈 목표 마감 발표 대회 남자친구 여자친구
    남친 여친 애인 입양 약속 우울증 병 퇴원 붙 떨어지
""")
_KOREAN_PLANS = listed("""
    여행 생일 기념일 공연 콘서트 데이트 소개팅 공부 운동 예정 계획 기로 싶 회사 가족 엄마 아빠 친구
""")


def _any_of(phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{either(phrases)})\b", re.IGNORECASE)


_ENGLISH_TURNING = _any_of(r"""
    married / wedding / divorc\w* / engaged / pregnant / gave birth / born / died / passed away
    funeral / cancer / surgery / hospital\w* / broke up / breakup / laid off / fired / accident
    diagnos\w* / propos\w*
""")
_ENGLISH_CHANGES = _any_of(r"""
    interview\w* / exams? / mov(?:ed|ing) / hired / new job / quit / resign\w* / promot\w* / passed
    failed / sick / ill / injur\w* / dating / boyfriend / girlfriend / made up / fight / fought
    graduat\w* / visa / deadline\w* / goal / dream / adopted / depress\w* / debt / loan
    promise\w* / doctor / accepted
""")
_ENGLISH_PLANS = _any_of(r"""
    trip / birthday / anniversary / concert / date / plan\w* / want to / going to / work / family
    mom / dad / friend\w* / study\w* / training
""")
_TURNING, _CHANGE, _PLAN = 5, 3, 1
_MOST = 10


def emotion_of(text: str) -> Emotion | None:
    """The strongest of the five emotions in `text`, or None when it shows none."""
    return emotion_in(read(text))


def emotion_in(utterance: Utterance) -> Emotion | None:
    """The same, of a message that has been read already."""
    felt: Counter[Emotion] = Counter()
    for sentence in utterance.informative or utterance.sentences:
        felt.update(feelings(sentence, utterance.language))
    # On a tie the burden is what a friend would answer first.
    order = (Emotion.STRESS, Emotion.SADNESS, Emotion.EXCITEMENT, Emotion.JOY, Emotion.CALM)
    return max(order, key=lambda emotion: felt[emotion]) if felt else None


def feelings(sentence: Sentence, language: str) -> list[Emotion]:
    """Every emotion that a sentence shows, in its order."""
    words = _felt_in_korean(sentence.morphemes) if language == "ko" else _felt_in_english(sentence.text)
    return [*words, *_felt_in_marks(sentence.text)]


def shows_emotion(form: str) -> bool:
    """Whether a Korean stem or noun belongs to one of the five."""
    return form in _KOREAN


def _felt_in_marks(text: str) -> Iterable[Emotion]:
    if _CRYING.search(text):
        yield Emotion.SADNESS
    if _SMILING.search(text):
        yield Emotion.JOY


def _felt_in_korean(found: tuple[Morpheme, ...]) -> Iterable[Emotion]:
    if {"무지개", "건너"} <= {morpheme.form for morpheme in found}:  # as one says of a pet that died
        yield Emotion.SADNESS
    for index, morpheme in enumerate(found):
        emotion = _KOREAN.get(morpheme.form) or _KOREAN.get(morpheme.form.removesuffix("하"))
        if emotion is None or morpheme.tag[0] not in "NVXMI":
            continue
        before = index > 0 and found[index - 1].form in _NOT_BEFORE
        after = any(m.form in _NOT_AFTER for m in found[index + 1 : index + 4] if m.tag[0] == "V")
        negated = before != after
        felt = _OPPOSITE.get(emotion) if negated else emotion
        if felt is not None:
            yield felt


def _felt_in_english(text: str) -> Iterable[Emotion]:
    words = _WORD.findall(_PASSED_AWAY.sub("died", text.lower().replace("’", "'")))
    for index, word in enumerate(words):
        emotion = _ENGLISH.get(word)
        if emotion is None:
            continue
        negated = any(_NOT_ENGLISH.match(before) for before in words[max(0, index - 3) : index])
        felt = _OPPOSITE.get(emotion) if negated else emotion
        if felt is not None:
            yield felt


def importance(utterance: Utterance) -> int:
    """From 1 (small talk) to 10 (changes a life): the most important sentence, then emotion and the rest."""
    spoken = utterance.informative
    if not spoken:
        return 1
    weights = sorted((importance_of_sentence(each, utterance.language) for each in spoken), reverse=True)
    felt = sum(len(feelings(sentence, utterance.language)) for sentence in spoken)
    further = sum(1 for each in weights[1:] if each >= _CHANGE)
    return min(_MOST, 2 + weights[0] + min(further, 2) + min(felt, 2))


def importance_of_sentence(sentence: Sentence, language: str) -> int:
    """How much of a life one sentence touches; a question touches less."""
    found = _korean(sentence) if language == "ko" else _english(sentence.text)
    return found // 2 if sentence.asks else found


def _korean(sentence: Sentence) -> int:
    forms = [morpheme.form for morpheme in sentence.morphemes]
    words = {*forms, *(a + b for a, b in pairwise(forms))}
    return _heaviest(words & _KOREAN_TURNING, words & _KOREAN_CHANGES, words & _KOREAN_PLANS)


def _english(text: str) -> int:
    return _heaviest(
        _ENGLISH_TURNING.search(text), _ENGLISH_CHANGES.search(text), _ENGLISH_PLANS.search(text)
    )


def _heaviest(turning: object, change: object, plan: object) -> int:
    return _TURNING if turning else _CHANGE if change else _PLAN if plan else 0
