"""The verb of a Korean clause: what it means, and what its end makes of it."""

from __future__ import annotations

import re
from enum import StrEnum

from gieok.text import Morpheme

# 끝나다, 이사가다: a noun and one of these, written together, are one verb.
_GLUED = frozenset({"나", "가", "오", "받", "내", "당하", "되"})


class Mark(StrEnum):
    """What the end of a clause says about its verb."""

    PAST = "past"
    NEGATED = "negated"
    WANTED = "wanted"
    PLANNED = "planned"
    DECIDED = "decided"
    PROMISED = "promised"
    GOING_ON = "going on"
    BEGUN = "begun"
    GUESSED = "guessed"
    NOTED = "noted"
    """…함, …됨: done or true now, as its verb has it."""


# What stands behind the stem, morpheme by morpheme.
_MEANINGS = {
    mark: re.compile(rf"(?:^| )(?:{pattern})(?= |$)")
    for mark, pattern in (
        (Mark.WANTED, "싶|고프"),
        (Mark.DECIDED, "기 로 하"),
        (Mark.PLANNED, "(?:ㄹ|을) (?:거|꺼|것 이|예정|계획|생각|준비)|으?려고요?"),
        (Mark.PROMISED, "ㄹ[게께]|을[게께]|(?:ㄹ|을) 것 이"),
        (Mark.GOING_ON, "고 (?:있|계시)|는 중"),
        (Mark.BEGUN, "기 시작|게 되"),
        (
            Mark.GUESSED,
            "겠|(?:ㄹ|을|는|ㄴ|은) [것거] 같|지 모르|(?:ㄹ|을)지 도|ㄹ까|을까|(?:ㄹ|을) (?:뻔|수)|던"
            "|(?:나|은가|ㄴ가) 보",
        ),
    )
}


def _goes_on(tail: tuple[Morpheme, ...]) -> bool:
    """Whether a word follows the noun of the verb, which then is no end: 이사함을, 달림 …"""
    return any(m.tag[0] in "NJV" for m in tail)


def ends_before(found: tuple[Morpheme, ...], index: int) -> bool:
    """Whether 고 나서 ends here: what it closes is over before the next begins."""
    return [m.form for m in found[max(0, index - 2) : index + 1]] in (
        ["고", "나", "서"],
        ["고", "나", "아서"],
    )


def verb_at(found: tuple[Morpheme, ...]) -> int | None:
    """The last verb with a meaning: not 있 of 하고 있다, 하 of 하기로 하다, 시작하 of 하기 시작하다."""
    for index in range(len(found) - 1, -1, -1):
        morpheme = found[index]
        if morpheme.tag not in ("VV", "VA", "XSV", "XSA", "VCP", "VCN"):
            continue
        before = [m.form for m in found[max(0, index - 3) : index]]
        if _only_carries(morpheme, before):
            continue
        return index
    return None


def _only_carries(verb: Morpheme, before: list[str]) -> bool:
    last = before[-1] if before else ""
    if verb.form == "하":
        decided = last == "로" and before[-2:-1] == ["기"]
        begins = last == "시작" and before[-2:-1] == ["기"]
        return decided or begins or last in ("려고", "으려고", "지", "기")
    if verb.form == "되":
        return last == "게" or (last == "시작" and before[-2:-1] == ["기"]) or "지" in before
    if verb.tag == "VCP":
        return last in ("거", "것", "꺼", "예정", "계획", "중") and len(before) > 1
    return verb.form == "같" and last in ("것", "거")


def verb_of(found: tuple[Morpheme, ...], at: int) -> tuple[str, int]:
    """The stem with what it is made of, and where that begins."""
    morpheme = found[at]
    if morpheme.tag in ("XSV", "XSA") and at:
        begins = at - 1
        while begins and _is_front(found[begins - 1], found[begins]):
            begins -= 1
        return "".join(m.form for m in found[begins:at]) + morpheme.form, begins
    if morpheme.form == "돌아가" and found[at + 1 : at + 2] and found[at + 1].form == "시":
        return "돌아가시", at
    if morpheme.form == "하" and at >= 2 and found[at - 1].form in ("아", "어") and found[at - 2].tag == "VA":
        return f"{found[at - 2].form}{found[at - 1].form}하", at - 2
    if at and morpheme.form in _GLUED and found[at - 1].tag == "NNG" and found[at - 1].end == morpheme.start:
        return f"{found[at - 1].form}{morpheme.form}", at - 1
    return morpheme.form, at


def _is_front(before: Morpheme, noun: Morpheme) -> bool:
    return before.tag in ("XPN", "NNG") and before.end == noun.start


def marks_of(found: tuple[Morpheme, ...], at: int) -> frozenset[Mark]:
    """What is said of the verb that stands at `at`."""
    tail = found[at + 1 :]
    forms = [morpheme.form for morpheme in tail]
    marks = {mark for mark, meaning in _MEANINGS.items() if meaning.search(" ".join(forms))}
    if any(m.tag == "EP" and m.form.endswith(("았", "었", "였", "ㅆ")) for m in tail):
        marks.add(Mark.PAST)
    if any(m.form in ("ㅁ", "음") and m.tag in ("ETN", "EC", "EF") for m in tail[:2]) and not _goes_on(tail):
        marks.add(Mark.NOTED)
    before = {m.form for m in found[max(0, at - 2) : at] if m.tag == "MAG"}
    if found[at].tag == "VCN" or before & {"안", "못"} or {"않", "못하", "말", "없"} & set(forms):
        marks.add(Mark.NEGATED)
    return frozenset(marks)
