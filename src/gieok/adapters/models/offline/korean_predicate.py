"""The end of a Korean sentence, taken apart: stem, tense, ending. That is where Korean keeps its meaning."""

from __future__ import annotations

from dataclasses import dataclass

from gieok.adapters.models.offline.analysis import Sentence, is_symbol
from gieok.adapters.models.offline.lexicon import listed
from gieok.text import Morpheme

QUESTION_WORDS = listed("""
    뭐 뭘 무엇 언제 어디 누구 왜 어떻 몇 얼마 무슨 어느 어떤 어떡하 어쩌
""")

_STEMS = frozenset({"VV", "VA", "VX", "VCP", "VCN", "XSV", "XSA"})
_ENDINGS = frozenset({"EF", "EC", "ETN"})
_NOUN_TAGS = ("NN", "NP", "NR", "SL", "SN", "SH", "XR", "XSN", "J", "MA")

# Speech takes these as adjectives, the dictionary as verbs made from a noun.
ADJECTIVE_ROOTS = listed("""
    피곤 우울 행복 불안 편안 건강 필요 중요 가능 유명 친절 답답 심심 조용 복잡 간단 특별 완벽 성실 다양
    궁금 곤란 초조 평온 차분 씁쓸 허전 뿌듯 든든 따뜻 편리 불편 안전 위험 심각 확실 솔직 억울 죄송 미안
    부족 충분 익숙 어색 민감 서운 섭섭 막막 짜릿
""")
_ADJECTIVE_STEMS = frozenset({"있", "없", "싶", "같", "맞", "아니"})


@dataclass(frozen=True, slots=True)
class Predicate:
    """`ending` is without politeness (어, 거든, ㄹ까). `surface` runs from the stem to the sentence's end."""

    stem: str
    tag: str
    start: int
    tensed: bool
    ending: str
    surface: str
    adjective: bool
    glued: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence without interjections and marks; `predicate` is None when a noun or an adverb ends it."""

    sentence: Sentence
    first: int
    found: tuple[Morpheme, ...]
    predicate: Predicate | None


def parse(sentence: Sentence) -> Parsed | None:
    """None when nothing is left of the sentence, or when Korean closes no sentence with its last form."""
    first, last = _bounds(sentence.morphemes)
    found = sentence.morphemes[first:last]
    if not found:
        return None
    predicate = _predicate(sentence, found)
    if predicate is None and not found[-1].tag.startswith(_NOUN_TAGS):
        return None
    return Parsed(sentence, first, found, predicate)


def _bounds(found: tuple[Morpheme, ...]) -> tuple[int, int]:
    """Leave out interjections and conjunctions in front, and laughter and marks behind."""
    first, last = 0, len(found)
    while first < last and _is_noise(found[first]):
        first += 1
    while last > first and _is_noise(found[last - 1]):
        last -= 1
    return first, last


def _is_noise(morpheme: Morpheme) -> bool:
    return is_symbol(morpheme) or (morpheme.tag in ("IC", "MAJ") and morpheme.form not in QUESTION_WORDS)


def _predicate(sentence: Sentence, found: tuple[Morpheme, ...]) -> Predicate | None:
    end, ending = _ending(found)
    if not ending:
        return None
    index = end - 1
    while index >= 0 and found[index].tag == "EP":
        index -= 1
    if index < 0 or found[index].tag not in _STEMS or _hides_its_stem(found, index, end):
        return None
    stem = found[index]
    marks = [m.form for m in found[index + 1 : end] if m.tag == "EP"]
    return Predicate(
        stem=stem.form,
        tag=stem.tag,
        start=stem.start,
        tensed=any(mark not in ("시", "으시") for mark in marks),
        ending=ending,
        surface=sentence.text[stem.start : found[-1].end],
        adjective=_is_adjective(found, index),
        glued=bool(index) and found[index - 1].end == stem.start,
    )


def _hides_its_stem(found: tuple[Morpheme, ...], index: int, end: int) -> bool:
    """Whether stem and what stands before it share their syllables (내꺼야), so that nothing can be cut.

    A tensed verb (가져왔어) and a favour (알려줘) are told from the whole surface, and need no cut.
    """
    shares = index > 0 and found[index - 1].start == found[index].start
    whole = found[index].form == "주" or any(m.tag == "EP" for m in found[index + 1 : end])
    return shares and not (whole and found[index - 1].tag[0] in "EV")


def _ending(found: tuple[Morpheme, ...]) -> tuple[int, str]:
    """Where the ending stands and what it is, politeness taken off; (0, "") when the sentence has none.

    Two endings come out of the dictionary as a bound noun: 먹을게 as 먹을 것이, 힘든데요 as 힘든 데 이오.
    """
    last = len(found) - 1
    tags = [m.tag for m in found[-4:]]
    if tags[-3:] == ["ETM", "NNB", "JKS"] and found[-2].start == found[-1].start:
        return last - 2, "을게"
    if tags == ["ETM", "NNB", "VCP", "EC"] and found[-3].form == "데" and found[-1].form == "오":
        return last - 3, "ㄴ데"
    if tags[-2:] == ["ETM", "NNB"] and found[-1].form == "데":
        return last - 1, "ㄴ데"
    if last and found[last].tag == "JX" and found[last].form == "요":
        last -= 1
    if found[last].tag not in _ENDINGS:
        return 0, ""
    form = found[last].form
    if form in ("죠", "지요"):
        return last, "지"
    return last, form.removesuffix("요") or form


def _is_adjective(found: tuple[Morpheme, ...], index: int) -> bool:
    """Whether the stem describes rather than acts; 않다 and 못하다 do as the stem that they deny."""
    stem = found[index]
    before = found[index - 1].form if index else ""
    if stem.form == "어떡하" or before == "어떡":
        return False
    if stem.tag == "VX" and stem.form in ("않", "못하") and index >= 2:
        return _is_adjective(found, index - 2)
    if stem.tag == "VX" and stem.form == "보":
        return before.endswith(("가", "까", "나"))
    made = stem.form.endswith("하") and (stem.form[:-1] or before) in ADJECTIVE_ROOTS
    return made or stem.tag in ("VA", "XSA", "VCN") or stem.form in _ADJECTIVE_STEMS
