"""Korean reported speech: 내일 면접이 있어 becomes 내일 면접이 있다고 함.

The end of a Korean sentence says whether it states, asks, orders or intends. These rules remove that end and
put the reported one on the same stem, and turn the first person into the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from gieok.adapters.models.offline.reading import Sentence, is_symbol, listed, slice_of
from gieok.text import Morpheme
from gieok.text.hangul import final_consonant, particle, with_final

QUESTION_WORDS = listed("뭐 뭘 무엇 언제 어디 누구 왜 어떻 몇 얼마 무슨 어느 어떤 어떡하 어쩌")
# Adjectives that the dictionary reads as a noun with a verb suffix.
ADJECTIVE_ROOTS = listed("""
    피곤 우울 행복 불안 편안 건강 필요 중요 가능 유명 친절 답답 심심 조용 복잡 간단 특별 완벽 성실 다양
    궁금 곤란 초조 평온 차분 씁쓸 허전 뿌듯 든든 따뜻 편리 불편 안전 위험 심각 확실 솔직 억울 죄송 미안
    부족 충분 익숙 어색 민감 서운 섭섭 막막 짜릿
""")
_ADJECTIVE_STEMS = frozenset({"있", "없", "싶", "같", "맞", "아니"})
_STEMS = frozenset({"VV", "VA", "VX", "VCP", "VCN", "XSV", "XSA"})
_ENDINGS = frozenset({"EF", "EC", "ETN"})
# A clause that ends so is not a statement yet: 돈이 많으면 …
_UNFINISHED = listed("""
    면 으면 다면 ㄴ다면 는다면 라면 려면 으려면 도록 거나 든지 게 러 으러 면서 으면서 자마자 아야 어야
    다가 ㄹ수록 을수록 느라
""")
_PROMISES = listed("ㄹ게 을게 ㄹ께 을께 ㄹ래 을래")
_INTENTIONS = listed("려고 으려고 려구 으려구")
_ORDERS = listed("어라 아라 으라 라 거라")
_JOINTS = listed("고 는데 ㄴ데 은데 어서 아서 ㅓ서 ㅏ서 니까 으니까 지만 더니 면서 으며 며")
# After these the joint belongs to the verb before it: 가고 싶다, 하고 있다, 먹어 보다.
_AUXILIARY = frozenset({"VX", "EP", "JX", "XSV"})
_MAX_CLAUSES = 12

_FIRST = frozenset({"나", "저", "내", "제", "전", "난"})
_SECOND = frozenset({"너", "네", "니", "당신"})
_GROUP = frozenset({"우리", "저희"})
# 우리 before one of these says whose it is; before anything else it is the subject.
_BELONGING = listed("""
    엄마 아빠 어머니 아버지 부모 부모님 언니 오빠 누나 형 동생 여동생 남동생 할머니 할아버지 아들 딸
    남편 아내 가족 집 회사 학교 팀 반 강아지 고양이 아이 애 선생 선생님 동네 사장 팀장 부장 과장 이모
    삼촌 고모 사촌 친구 학과 부서 애기
""")
_SUBJECT_PARTICLES = frozenset({"는", "은", "ㄴ", "가", "이", "야", "께서"})
_QUOTED = re.compile("['\"‘“]")
_REASONS = frozenset({"때문", "덕분", "대신", "말고", "없이"})


@dataclass(frozen=True, slots=True)
class _Predicate:
    """`ending` is without politeness (어, 거든); `surface` runs from the stem to the end of the sentence."""

    stem: str
    tag: str
    start: int
    is_tensed: bool
    ending: str
    surface: str
    is_adjective: bool
    is_glued: bool


def report_korean(sentence: Sentence) -> str | None:
    """The statement in the third person: 사용자가 내일 면접이 있다고 함.

    None for a question, or an end that these rules do not know.
    """
    first, last = _bounds(sentence.morphemes)
    found = sentence.morphemes[first:last]
    if not found or sentence.asks or _QUOTED.search(sentence.text):
        return None
    predicate = _predicate(sentence, found)
    if predicate is None:
        end = next((m for m in reversed(found) if m.form != "야"), found[0])
        is_noun = end.tag.startswith(("NN", "NP", "NR", "SL", "SN", "SH", "XR", "XSN", "MA"))
        if not is_noun or any(m.tag == "EF" for m in found):
            return None
        subject, words = _retold(sentence, end.end, first)
        return f"{subject} {words}{particle(words, '이라고/라고')} 함." if words else None
    near_question = any(m.form in QUESTION_WORDS for m in found[-4:]) and not predicate.is_tensed
    if predicate.ending in _UNFINISHED or predicate.ending.endswith(("까", "냐", "니")) or near_question:
        return None
    return _said(found, predicate, sentence, first)


def clause_windows(sentence: Sentence) -> Iterator[Sentence]:
    """Runs of adjacent clauses, longest first, later ones first: Korean puts its point last."""
    found = sentence.morphemes
    cuts = [0]
    for index in range(len(found) - 1):
        here, following = found[index], found[index + 1]
        joins = here.tag == "EC" and here.form in _JOINTS and following.tag not in _AUXILIARY
        if joins and following.start > here.end:
            cuts.append(index + 1)
    cuts = [*cuts[-_MAX_CLAUSES:], len(found)]
    count = len(cuts) - 1
    for size in range(count - 1, 0, -1):
        for start in range(count - size, -1, -1):
            yield slice_of(sentence, cuts[start], cuts[start + size])


def _said(found: tuple[Morpheme, ...], predicate: _Predicate, sentence: Sentence, first: int) -> str:
    subject, words = _retold(sentence, predicate.start, first)
    if _is_plan(found, predicate):
        return f"{subject} {words[: -len(found[-3].form)].rstrip()} 예정이라고 함."
    glue = "" if predicate.is_glued and words else " "
    return f"{subject} {words}{glue}{_that(predicate, words)} 함.".replace("  ", " ")


def _bounds(found: tuple[Morpheme, ...]) -> tuple[int, int]:
    """Leave out interjections and conjunctions in front, and laughter and marks at the end."""
    first, last = 0, len(found)
    while first < last and _is_noise(found[first]):
        first += 1
    while last > first and _is_noise(found[last - 1]):
        last -= 1
    return first, last


def _is_noise(morpheme: Morpheme) -> bool:
    return is_symbol(morpheme) or (morpheme.tag in ("IC", "MAJ") and morpheme.form not in QUESTION_WORDS)


def _predicate(sentence: Sentence, found: tuple[Morpheme, ...]) -> _Predicate | None:
    end, ending = _ending(found)
    if not ending:
        return None
    index = end - 1
    while index >= 0 and found[index].tag == "EP":
        index -= 1
    if index < 0 or found[index].tag not in _STEMS:
        return None
    stem = found[index]
    marks = [m.form for m in found[index + 1 : end] if m.tag == "EP"]
    is_tensed = any(mark not in ("시", "으시") for mark in marks)
    # Stem and what stands before it share their syllables (내꺼야): nothing can be cut.
    if (
        index > 0
        and found[index - 1].start == stem.start
        and not (is_tensed and found[index - 1].tag[0] in "EV")
    ):
        return None
    return _Predicate(
        stem=stem.form,
        tag=stem.tag,
        start=stem.start,
        is_tensed=is_tensed,
        ending=ending,
        surface=sentence.text[stem.start : found[-1].end],
        is_adjective=_is_adjective(found, index),
        is_glued=bool(index) and found[index - 1].end == stem.start,
    )


def _ending(found: tuple[Morpheme, ...]) -> tuple[int, str]:
    """Where the ending is and what it is, without politeness; (0, "") if there is none.

    The dictionary reads two endings as a bound noun: 먹을게 as 먹을 것이, 힘든데요 as 힘든 데 이오.
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
    return last, "지" if form in ("죠", "지요") else form.removesuffix("요") or form


def _is_adjective(found: tuple[Morpheme, ...], index: int) -> bool:
    """Whether the stem describes; 않다 and 못하다 are as the stem that they negate."""
    stem = found[index]
    before = found[index - 1].form if index else ""
    if stem.tag == "VX" and stem.form in ("않", "못하") and index >= 2:
        return _is_adjective(found, index - 2)
    if stem.tag == "VX" and stem.form == "보":
        return before.endswith(("가", "까", "나"))
    made = stem.form.endswith("하") and (stem.form[:-1] or before) in ADJECTIVE_ROOTS
    return made or stem.tag in ("VA", "XSA", "VCN") or stem.form in _ADJECTIVE_STEMS


def _is_plan(found: tuple[Morpheme, ...], predicate: _Predicate) -> bool:
    """갈 거야: the speaker's plan, if it is an action and nobody else is its subject."""
    if predicate.tag != "VCP" or predicate.is_tensed or len(found) < 5:
        return False
    verb, mark, noun = found[-5], found[-4], found[-3]
    if noun.form not in ("거", "것", "꺼") or mark.form not in ("ㄹ", "을") or verb.tag not in ("VV", "XSV"):
        return False
    others = any(mark.tag == "JKS" and before.tag != "NP" for before, mark in pairwise(found[:-5]))
    return not others and verb.form not in ("있", "되")


def _that(predicate: _Predicate, words: str) -> str:  # noqa: PLR0911  one return per ending
    """…다고, …(이)라고, …더라고, …겠다고, …자고."""
    stem, ending = predicate.stem, predicate.ending
    if ending.startswith("더라"):
        return f"{_past(predicate) if predicate.is_tensed else stem}더라고"
    if predicate.is_tensed:
        return f"{_past(predicate)}다고"
    if predicate.tag == "VCP":
        return particle(words, "이라고/라고")
    if predicate.tag == "VCN" or (stem == "말" and predicate.tag == "VX"):
        return f"{stem}라고"
    if predicate.is_adjective:
        return f"{stem}다고"
    if ending in _PROMISES:
        return f"{stem}겠다고"
    if ending in _INTENTIONS:
        return f"{predicate.surface.rstrip('요')} 한다고"
    closed = final_consonant(stem) not in ("", "ㄹ")
    if ending == "자":
        return f"{stem}자고"
    if ending in _ORDERS:
        return f"{stem}{'으' if closed else ''}라고"
    return f"{stem}는다고" if closed else f"{with_final(stem, 'ㄴ')}다고"


def _past(predicate: _Predicate) -> str:
    """The surface up to its last tense syllable, which ends in ㅆ (았 었 겠 했)."""
    surface = predicate.surface
    for index in range(len(surface) - 1, -1, -1):
        if final_consonant(surface[index]) == "ㅆ":
            return surface[: index + 1]
    return predicate.stem


def _retold(sentence: Sentence, end: int, first: int) -> tuple[str, str]:
    """The subject (사용자가, 사용자의, 사용자도) and the words before character `end` in the third person."""
    words: list[list[Morpheme]] = []
    for morpheme in sentence.morphemes[first:]:
        if morpheme.start >= end:
            break
        if words and morpheme.start <= words[-1][-1].end:
            words[-1].append(morpheme)
        else:
            words.append([morpheme])
    subject, said = "사용자가", list[str]()
    for index, parts in enumerate(words):
        following = words[index + 1][0].form if index + 1 < len(words) else ""
        surface = sentence.text[parts[0].start : min(parts[-1].end, end)].strip()
        front = _front(parts, following) if not any(said) else ""
        if front:
            subject = front
        else:
            said.append(_third_person(parts, surface, stays=following in _REASONS))
    return subject, " ".join(filter(None, said))


def _front(parts: list[Morpheme], following: str) -> str:
    """How a sentence that opens with this word names the user: 내 … is 사용자의, 나도 … is 사용자도."""
    person = parts[0].form if parts[0].tag == "NP" else ""
    if person in _FIRST and parts[-1].tag == "JKG":
        return "사용자의"
    if person in _FIRST and len(parts) == 2 and parts[1].form in ("도", "만"):
        return f"사용자{parts[1].form}"
    return "사용자의" if person in _GROUP and len(parts) == 1 and following in _BELONGING else ""


def _third_person(parts: list[Morpheme], surface: str, *, stays: bool) -> str:  # noqa: PLR0911  one per case
    """A pronoun as 자신 or 상대 with a fitting particle; a subject is left out. Other words stay."""
    person = parts[0].form if parts[0].tag == "NP" or surface in ("전", "저") else ""
    is_subject = len(parts) == 1 or (len(parts) == 2 and parts[1].form in _SUBJECT_PARTICLES)
    if person in _GROUP:
        return "" if is_subject else surface
    if person not in _FIRST | _SECOND:
        return surface
    noun = "자신" if person in _FIRST else "상대"
    if stays:
        return noun
    if is_subject:
        return "" if noun == "자신" or len(parts) == 1 else "상대가"
    tag, form = parts[1].tag, parts[1].form
    if tag == "JKG":
        return f"{noun}의"
    pair = {"JKO": "을/를"}.get(tag) or ("과/와" if form in ("랑", "이랑", "하고", "와", "과") else "")
    if pair:
        return f"{noun}{particle(noun, pair)}"
    return f"{noun}{'에게' if form in ('한테', '에게', '께', '한테서', '에게서') else form}"
