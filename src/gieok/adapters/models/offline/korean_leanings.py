"""What the user likes, does again and again and thinks, from Korean."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.found import Found
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_value import deed, note
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.observations import Category
from gieok.text.hangul import with_particle

_LIKES = {"좋아하": "좋아함", "사랑하": "좋아함", "즐기": "즐김", "즐겨하": "즐김"}
_DISLIKES = {"싫어하": "싫어함", "싫": "싫어함", "질색하": "싫어함", "혐오하": "싫어함"}
_NO_TASTE = listed("나 너 것 거 그거 이거 저거 게 날씨 기분 오늘 느낌 그것 이것 그런거")
_HABITUAL = listed("매일 매주 매달 마다 꾸준히 항상 늘 맨날 날마다 자주 매번")
_HABIT_VERBS = listed("""
    다니 배우 하 운동하 공부하 뛰 달리 걷 읽 쓰 마시 먹 일어나 자 산책하 요가하 명상하 수영하 연습하 그리 치
    타 가 만들 요리하 등산하 기록하 키우 피우 찍 부르 추 헬스하 러닝하 필사하 챙기 보 듣
""")
_TAKEN_UP = listed("다니 배우 타 치 키우 뛰 달리 읽 쓰 마시 피우 운동하")
_SINCE = re.compile(r"[주달년월일제]부터|시작")
_NOT_TAKEN_UP = listed(
    "일 수업 회의 공연 경기 영화 드라마 방송 대화 이야기 학기 장마 사업 출근 게임 작업 병원"
)
_STOPS = listed("그만두 관두 접 끊 때려치우 중단하 포기하 쉬")
_QUOTES = listed("다고 라고 ㄴ다고 는다고 이라고")
_OFTEN = re.compile(r"(?:일주일|한 ?달|하루)에 \S{1,3} ?번|주 ?\d ?[회번]|[가-힣]마다(?:\s|$)")
_LATELY = re.compile(r"요즘|요새|최근")
_NO_MORE = re.compile(r"이제|더 ?이상|더는|요즘|요새|다시는")
_LOOKS_ON = re.compile(r"[다라]고 (?:봐|봅니다|본다|보거든)")
_PITS = listed("물 사랑 함정 위험 고민 잠 생각 슬픔 우울 혼란 구덩이 바다 수렁 위기")
_THINKS = listed("생각하 믿 느끼 보")


def leanings(clause: Clause) -> list[Found]:
    """What the clause says about the user's tastes, habits and opinions."""
    if clause.other:
        return []
    return (
        _opinion(clause)
        or _absorbed(clause)
        or _stopped(clause)
        or _taste(clause)
        or _taken_up(clause)
        or _habit(clause)
    )


def _taste(clause: Clause) -> list[Found]:
    thing = _liked(clause)
    unsure = clause.marks & {Mark.PAST, Mark.WANTED, Mark.GUESSED, Mark.PLANNED, Mark.BEGUN}
    if unsure or not thing or thing in _NO_TASTE:
        return []
    best = clause.verb == "좋" and clause.forms & {"제일", "가장", "더", "훨씬", "최고", "보다"}
    value = "좋아함" if best else _LIKES.get(clause.verb) or _DISLIKES.get(clause.verb)
    if value is None:
        return []
    if Mark.NEGATED in clause.marks:
        value = f"{clause.verb}지 않음"
    return [Found(Category.PREFERENCE, f"likes:{thing}", f"{with_particle(thing, '을/를')} {value}")]


def _liked(clause: Clause) -> str:
    """What is liked; of 요리하는 거 it is 요리."""
    roles = ("object", "", "subject", "topic")
    things = [phrase.text for phrase in clause.phrases if phrase.role in roles and not phrase.is_person]
    return _described(clause, things[-1]) if things else ""


def _described(clause: Clause, thing: str) -> str:
    """매운 음식, 비 오는 날: whoever dislikes these may like food, and days."""
    text = clause.sentence.text
    at = text.rfind(thing)
    before = [m for m in clause.sentence.morphemes if m.end <= at]
    if at < 0 or not before or before[-1].tag != "ETM":
        return thing
    begins = text.rfind(" ", 0, before[-1].start) + 1
    subject = [m for m in before if m.end < begins][-1:]
    bare = subject and subject[0].tag in ("NNG", "NNP") and subject[0].end == begins - 1
    return text[subject[0].start if bare else begins : at] + thing


def _stopped(clause: Clause) -> list[Found]:
    """담배 끊었어 is a state of its own; 요가 그만뒀어 and 이제 커피 안 마셔 only end one."""
    thing = clause.first("object", "", "topic") or (deed(clause) if clause.verb.endswith("하") else "")
    if not thing or thing in ("목표", "꿈", "계획"):
        return []
    if clause.verb == "끊" and (clause.happened or clause.holds):
        return [Found(Category.HABIT, thing, f"{with_particle(thing, '을/를')} 끊음", extra=1)]
    stopped = clause.verb in _STOPS and (clause.happened or Mark.DECIDED in clause.marks)
    ended = stopped or _does_no_more(clause)
    return [Found(Category.HABIT, thing, note(clause), retracts=True)] if ended else []


def _does_no_more(clause: Clause) -> bool:
    by_choice = Mark.NEGATED in clause.marks and "못" not in clause.forms
    now = not clause.marks & {Mark.PAST, Mark.WANTED, Mark.GUESSED}
    return by_choice and now and _is_activity(clause) and bool(_NO_MORE.search(clause.sentence.text))


def _taken_up(clause: Clause) -> list[Found]:
    """운동 시작했어."""
    key = clause.first("object", "", "topic")
    begun = clause.verb == "시작하" and clause.happened and not clause.first("subject")
    return [Found(Category.HABIT, key, note(clause))] if begun and key and key not in _NOT_TAKEN_UP else []


def _habit(clause: Clause) -> list[Found]:
    unreal = clause.marks & {Mark.NEGATED, Mark.WANTED, Mark.GUESSED, Mark.PLANNED}
    if unreal or not _is_activity(clause) or not _is_repeated(clause):
        return []
    roles = ("object", "", "to", "topic")
    nouns = [phrase.text for phrase in clause.phrases if phrase.role in roles and not phrase.is_person]
    key = nouns[-1] if nouns else deed(clause)
    return [] if key in _NOT_TAKEN_UP else [Found(Category.HABIT, key, note(clause))]


def _is_repeated(clause: Clause) -> bool:
    if Mark.PAST in clause.marks:
        return Mark.BEGUN in clause.marks
    text, going_on = clause.sentence.text, Mark.GOING_ON in clause.marks
    often = bool(clause.forms & _HABITUAL or _OFTEN.search(text))
    lately = bool(_LATELY.search(text)) and (going_on or clause.verb in _TAKEN_UP)
    again = "다시" in clause.forms and clause.holds and bool(clause.phrases) and clause.verb in _TAKEN_UP
    attends = clause.verb == "다니" and clause.holds and _SINCE.search(text) is not None
    return often or lately or again or attends or (going_on and clause.verb in ("배우", "다니"))


def _is_activity(clause: Clause) -> bool:
    made = clause.verb.endswith("하") and not clause.verb.endswith(("아하", "어하"))
    return made or clause.verb in _HABIT_VERBS


def _opinion(clause: Clause) -> list[Found]:
    thinks = clause.verb in _THINKS or _LOOKS_ON.search(clause.sentence.text)
    if thinks and clause.holds and clause.forms & _QUOTES:
        about = clause.first("subject", "topic", "")
    elif clause.verb in ("반대하", "찬성하") and clause.holds:
        about = clause.first("to", "topic", "object")
    else:
        about = clause.first("object", "topic", "") if _disbelieves(clause) else ""
    return [Found(Category.OPINION, about, note(clause))] if about else []


def _disbelieves(clause: Clause) -> bool:
    """귀신 안 믿어."""
    now = not clause.marks & {Mark.PAST, Mark.WANTED, Mark.GUESSED, Mark.PLANNED}
    return (
        clause.verb == "믿"
        and Mark.NEGATED in clause.marks
        and now
        and not any(p.is_person for p in clause.phrases)
    )


def _absorbed(clause: Clause) -> list[Found]:
    """재즈에 푹 빠졌어, 클라이밍에 빠져 있어."""
    what = clause.first("to")
    absorbed = clause.verb == "빠지" and (clause.happened or clause.holds) and what
    return [Found(Category.HABIT, what, note(clause))] if absorbed and what not in _PITS else []
