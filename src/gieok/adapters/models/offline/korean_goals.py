"""What the user aims at, from Korean: goals that are set, reached and given up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gieok.adapters.models.offline.found import Found, named_in, newest
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_value import deed, note
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.canon.records import Fact
from gieok.memory.observations import Category
from gieok.text import morphemes

# Wanting to sleep or to eat chicken is no goal; wanting these is.
_GOAL_VERBS = listed("""
    되 따 배우 합격하 취업하 취직하 이직하 창업하 유학가 졸업하 모으 빼 쓰 출판하 출간하 시작하 완주하
    취득하 이사하 사 넘 넘기 끊 붙 이루 도전하 나가 준비하 마스터하 끝내 여행하 열 만들 결혼하 성공하 정복하
    늘리 고치 기르 키우 독립하 참가하 줄이 공부하 유학하 이민가 데뷔하
""")
_DISTANT = listed("올해 내년 언젠가 나중 목표 꼭 언젠간 평생 졸업 올 상반기 하반기 연말 버킷리스트 준비")
_AIMS = listed("목표 꿈 버킷리스트 소원 장래희망 다짐")
_REACHED = listed("""
    완주하 성공하 합격하 달성하 이루 해내 끝내 마치 취득하 통과하 출간하 출판하 완성하 졸업하
""")
_SCORED = listed("나오 넘 넘기 찍 받")
_GIVES_UP = listed("포기하 접 그만두 내려놓")
_EVERYDAY = ("저녁", "밥", "점심", "아침", "파티", "발표", "회의", "음식", "선물", "식사")
_NUMBER = re.compile(r"\d+")
_LAUGHING = re.compile(r"[ㅋㅎ]{2,}")


def goals(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """The goal that the clause sets, or gives up."""
    if clause.other:
        return []
    return _given_up(clause, known) or _declared(clause) or _intended(clause)


def reached(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """The goals that what happened has reached: no goals any more, and things that happened."""
    if clause.other or not clause.happened or clause.marks & {Mark.DECIDED, Mark.BEGUN}:
        return []
    goal = named_in(clause.sentence.text, known, Category.GOAL)
    if goal is None or not _reaches(clause, goal):
        return []
    text = note(clause)
    return [
        Found(Category.EVENT, goal.key, text, extra=2),
        Found(Category.GOAL, goal.key, text, retracts=True),
    ]


def _reaches(clause: Clause, goal: Fact) -> bool:
    """Whether what happened is what was aimed at: a result by itself, the same verb, or the score."""
    if clause.verb in _SCORED:
        aimed, got = _numbers(goal.value), _numbers(clause.sentence.text)
        return bool(got) and max(got) >= max(aimed, default=0)
    meant = {m.form for m in morphemes(goal.value) if m.tag[0] == "V" or m.tag == "NNG"}
    return clause.verb in _REACHED or clause.verb.removesuffix("하") in meant


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]


def _declared(clause: Clause) -> list[Found]:
    """마라톤 완주가 목표야, 내 꿈은 작가가 되는 거야."""
    if len(clause.phrases) < 2 or not clause.holds:
        return []
    first, second, *_ = clause.phrases
    is_aim = clause.verb == "이" and clause.phrases[-1].text in _AIMS
    of_aim = first.text in _AIMS and first.role in ("topic", "subject")
    if not is_aim and not of_aim:
        return []
    aim = first if is_aim else second
    return [Found(Category.GOAL, _unmeasured(aim.text) or deed(clause), note(clause))]


def _intended(clause: Clause) -> list[Found]:
    """…고 싶어, …려고, …기로 했어, …ㄹ 거야, where that is more than a whim."""
    meant = clause.marks & {Mark.WANTED, Mark.PLANNED, Mark.DECIDED} or _prepares(clause)
    over = Mark.PAST in clause.marks and Mark.DECIDED not in clause.marks
    if not meant or over or clause.marks & {Mark.NEGATED, Mark.GUESSED}:
        return []
    in_jest = Mark.WANTED in clause.marks and _LAUGHING.search(clause.sentence.text)
    counts = clause.verb in _GOAL_VERBS or (clause.forms & _DISTANT and clause.phrases)
    return [Found(Category.GOAL, _goal_key(clause), note(clause))] if counts and not in_jest else []


def _prepares(clause: Clause) -> bool:
    """변리사 준비하고 있어; but not 저녁 준비하고 있어."""
    what = clause.first("object", "")
    everyday = not what or what.endswith(_EVERYDAY)
    return clause.verb == "준비하" and Mark.GOING_ON in clause.marks and not everyday


def _is_aim(text: str) -> bool:
    """What one prepares for over months: an exam, a profession, going abroad."""
    return text.endswith(("시험", "고시", "준비", "유학", "이민", "자격증", "입시", "편입", "임용", "로스쿨"))


def _goal_key(clause: Clause) -> str:
    nouns = [
        _unmeasured(p.text)
        for p in clause.phrases
        if not p.is_person and p.role not in ("other", "with", "of")
    ]
    return next((noun for noun in reversed(nouns) if noun), deed(clause))


def _unmeasured(text: str) -> str:
    """토익 900점 is about 토익, whatever the number is the next time."""
    return " ".join(word for word in text.split(" ") if not any(char.isdigit() for char in word))


def _given_up(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    ended = clause.happened or bool(clause.marks & {Mark.DECIDED, Mark.PLANNED})
    if clause.verb not in _GIVES_UP or not ended:
        return []
    goal = named_in(clause.sentence.text, known, Category.GOAL)
    unnamed = clause.forms & {"목표", "꿈", "계획"}
    if goal is None and unnamed:
        goal = newest(known, Category.GOAL)
    aimed = clause.verb == "포기하" or _is_aim(_goal_key(clause))
    named = clause.first("of") or (_goal_key(clause) if aimed and not unnamed else "")
    key = goal.key if goal else named
    return [Found(Category.GOAL, key, note(clause), retracts=True)] if key else []
