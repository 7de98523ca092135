"""The five emotions of the seed, recognised by word stems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gieok.adapters.models.offline.analysis import Sentence, Utterance, read
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
