"""Korean keywords: nouns as they are written together, names, and the feeling in its dictionary form."""

from __future__ import annotations

from collections.abc import Iterator

from gieok.adapters.models.offline.analysis import Sentence, Utterance
from gieok.adapters.models.offline.emotion import shows_emotion
from gieok.adapters.models.offline.korean_predicate import ADJECTIVE_ROOTS
from gieok.adapters.models.offline.lexicon import listed
from gieok.text import Morpheme

_PARTS = frozenset({"NNG", "NNP", "SL", "SH", "SN", "XSN", "XPN", "XR"})
# 세 잔씩, 친구들: these are no part of the word.
_LOOSE_SUFFIXES = frozenset({"씩", "들", "쯤", "째"})
_STOP = listed("""
    것 거 수 때 데 중 번 말 점 쪽 등 안 뒤 앞 위 전 후 일 정도 생각 지금 요즘 진짜 정말 사실 오늘 내일
    어제 모레 그때 이번 다음 지난 사람 이야기 얘기 느낌 경우 자체 조금 기분 마음 주 달 년 날 시간 이유
    무엇 언제 어디 누구 뭐 안녕 응 네 예 누가 하나 다음주 다음달 이번주 지난주 지난달 작년 올해 내년
    다음날 아침 점심 저녁 밤 새벽 오전 오후 매일 주말 평일 평소 최근 나중 처음 마지막 개 명 마리 하루
    종일 끝 잔 추천 부탁 감사 죄송 미안 인사
""")
_EMPTY_STEMS = listed("""
    하 되 있 없 가 오 보 같 그렇 이렇 저렇 어떻 알 모르 좋 싫 주 받 나 들 싶 않 말 아니 이 두 놓 많 크
    작 맞 고맙 그러 이러 어쩌 기억나 도와주 알려주 괜찮
""")
_CORE = frozenset({"JKS", "JKO", "JX", "JKC", "VCP"})


def korean_candidates(utterance: Utterance) -> Iterator[tuple[str, float]]:
    """Words with their weight, in the order in which they stand."""
    spare: list[tuple[str, float]] = []
    nouns = 0
    for sentence in utterance.informative:
        for word in _nouns(sentence):
            nouns += 1
            yield word
        spare.extend(_stems(sentence))
    yield from (word for word in spare if not nouns or word[1] >= 0.5)


def _nouns(sentence: Sentence) -> Iterator[tuple[str, float]]:
    found = sentence.morphemes
    index = 0
    while index < len(found):
        end = _run(found, index)
        if end == index:
            index += 1
            continue
        end = _phrase(found, index, end)
        weight = _weight(found, index, end)
        if weight:
            yield sentence.text[found[index].start : found[end - 1].end], weight
        index = end


def _run(found: tuple[Morpheme, ...], start: int) -> int:
    """The end of the nouns that are written together from `start` on."""
    end = start
    while end < len(found) and found[end].tag in _PARTS and found[end].form not in _LOOSE_SUFFIXES:
        if end > start and found[end].start > found[end - 1].end:
            break
        end += 1
    return end


def _phrase(found: tuple[Morpheme, ...], start: int, end: int) -> int:
    """IT 스타트업 is one thing: a foreign word takes the noun behind it along."""
    foreign = end - start == 1 and found[start].tag == "SL" and end < len(found)
    if foreign and found[end].tag in ("NNG", "NNP") and found[end].start == found[start].end + 1:
        return _run(found, end)
    return end


def _weight(found: tuple[Morpheme, ...], start: int, end: int) -> float:
    tags = {m.tag for m in found[start:end]}
    after = found[end] if end < len(found) else None
    form = "".join(m.form for m in found[start:end])
    if form in _STOP or tags <= {"SN"} or tags <= {"XSN", "XPN", "XR"}:
        return 0.0
    if after is not None and after.tag in ("XSA", "XSV") and (after.tag == "XSA" or form in ADJECTIVE_ROOTS):
        return 0.0
    if after is not None and after.tag == "NNBC" and "SN" in tags:
        return 0.0
    weight = 1.0 + (0.3 if tags & {"NNP", "SL"} else 0.0) + 0.05 * min(len(form), 4)
    return weight + (0.4 if after is not None and after.tag in _CORE else 0.0)


def _stems(sentence: Sentence) -> Iterator[tuple[str, float]]:
    found = sentence.morphemes
    for index, morpheme in enumerate(found):
        stem = morpheme.form
        if morpheme.tag in ("VV", "VA") and stem not in _EMPTY_STEMS:
            yield f"{stem}다", 0.6 if shows_emotion(stem) else 0.3
        elif morpheme.tag in ("XSV", "XSA") and index and _is_felt(found, index):
            yield f"{found[index - 1].form}{stem}다", 0.6


def _is_felt(found: tuple[Morpheme, ...], index: int) -> bool:
    """피곤하다, 우울하다: an emotion whose noun is no keyword by itself."""
    root = found[index - 1].form
    return shows_emotion(root) and (found[index].tag == "XSA" or root in ADJECTIVE_ROOTS)
