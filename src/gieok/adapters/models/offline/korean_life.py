"""What happens to the user, from Korean: tests, occasions, health, the great days."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gieok.adapters.models.offline.found import Found, awaited
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_value import deed, note
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.korean_words import BODY, ILLNESSES, OCCASIONS, TESTS
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.canon.records import Fact
from gieok.memory.observations import Category
from gieok.text.hangul import with_particle

_PASSED = listed("합격하 붙 통과하")
_FAILED = listed("떨어지 불합격하 탈락하 망치 망하")
_ILL = listed("걸리 앓 확진되 도지 진단받")
_HURT = listed("다치 부러지 늘어나 파열되 삐 접질리 골절되 찢어지")
_WELL = listed("낫 나아지")
_TREATED = listed("입원하 퇴원하 수술하 수술받 완치되 회복하 회복되 완쾌하 깁스하")
_AHEAD = re.compile(
    r"내일|모레|글피|다음 ?[주달]|이번 ?[주달]|곧|앞두|앞둔|주말|며칠 [뒤후]|\d+일"
    r"|[월화수목금토일]요일|오후|이따"
)
_OVER = listed("보 끝나 끝내 마치 치르 치 받 다녀오 갔다오 가")
_LEAVES = listed("나오 돌아오 오")
_LOSES = listed("잃어버리 분실하 도둑맞 도난당하 소매치기당하")
_BELONGINGS = listed("지갑 핸드폰 휴대폰 폰 가방 여권 카드 노트북 자전거 열쇠 반지 에어팟 신분증 카메라 시계")
_FIRST_TIME = re.compile(r"(?:생애|태어나서|난생)? ?처음(?:으로)? .*(?:봤|했|갔|탔)")
_GREAT_BUYS = listed("차 집 자동차 아파트 오토바이 중고차 새차 가게")
_LASTING = re.compile(r"계속|자꾸|며칠|요즘|요새|한 달|일주일|아파서")
_GREAT_DAYS = listed("""
    졸업하 입학하 승진하 전역하 입대하 임신하 출산하 데뷔하 등단하 출판하 출간하 수상하 우승하 완주하 귀국하
    유학가 휴학하 복학하 개명하 전학가 편입하
""")

# 유학 가기로 했어: an aim still, and the goal rules take it.
_AIMED_AT = listed("졸업하 데뷔하 출판하 출간하 완주하 유학가")


def life(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """What the clause says that happened to the user, or is about to."""
    if clause.other:
        return []
    return (
        _milestone(clause)
        or _test(clause)
        or _earned(clause)
        or _awaited(clause)
        or _held(clause, known)
        or _health(clause)
        or _lost(clause)
        or _first_time(clause)
        or _great_day(clause)
    )


def _earned(clause: Clause) -> list[Found]:
    """한국사 1급 땄어, 목표 체중 찍었어."""
    what = clause.first("object", "", "topic")
    reached = clause.verb in ("찍", "달성하", "돌파하", "채우") and "목표" in clause.forms
    if not what or not clause.happened or not (reached or clause.verb in ("따", "취득하")):
        return []
    bare = " ".join(word for word in what.split(" ") if not any(char.isdigit() for char in word))
    return [Found(Category.EVENT, bare or what, note(clause), extra=1)]


def _lost(clause: Clause) -> list[Found]:
    what = clause.first("object", "", "subject").split(" ")[-1]
    lost = clause.verb in _LOSES and what in _BELONGINGS and clause.happened
    return [Found(Category.EVENT, what, note(clause))] if lost else []


def _first_time(clause: Clause) -> list[Found]:
    """처음으로 번지점프 해봤어."""
    if not clause.happened or not _FIRST_TIME.search(clause.sentence.text) or clause.first("subject"):
        return []
    return [Found(Category.EVENT, clause.first("object", "") or deed(clause), note(clause))]


def _test(clause: Clause) -> list[Found]:
    if not clause.happened or clause.verb not in _PASSED | _FAILED:
        return []
    what = next((p.text for p in clause.phrases if _is_test(p.text)), "")
    if not what and clause.verb in ("합격하", "불합격하"):
        what = clause.first("to", "", "topic", "subject") or "시험"
    if not what:
        return []
    result = "합격함" if clause.verb in _PASSED else "망침" if clause.verb in ("망치", "망하") else "떨어짐"
    marker = "을/를" if result == "망침" else "에/에"
    return [Found(Category.EVENT, what, f"{with_particle(what, marker)} {result}", extra=1)]


def _is_test(text: str) -> bool:
    return text.endswith(("시험", "면접", "고시", "자격증")) or any(word in TESTS for word in text.split(" "))


def _awaited(clause: Clause) -> list[Found]:
    what = _occasion(clause)
    unsure = clause.marks & {Mark.PAST, Mark.NEGATED, Mark.GUESSED, Mark.WANTED}
    comes = clause.verb in ("있", "보", "앞두", "하", "가", "이") and _AHEAD.search(clause.sentence.text)
    if not what or unsure or not comes:
        return []
    return [Found(Category.EVENT, what, f"{with_particle(what, '을/를')} 앞두고 있음")]


def _held(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """면접 봤어, 면접에서 나왔어, 발표했어. What is no test is told only where it was waited for."""
    done = clause.verb.removesuffix("하")
    is_done = clause.verb.endswith("하") and done.endswith(tuple(OCCASIONS))
    what = _occasion(clause) or (done if is_done else "")
    left = clause.verb in _LEAVES and what == clause.first("at") and not clause.first("subject")
    if not what or not clause.happened or not (is_done or left or clause.verb in _OVER):
        return []
    told = _is_test(what) or awaited(what, known)
    value = f"{with_particle(what, '을/를')} 마침" if left else note(clause)
    return [Found(Category.EVENT, what, value)] if told else []


def _occasion(clause: Clause) -> str:
    return next((phrase.text for phrase in clause.phrases if phrase.text.endswith(tuple(OCCASIONS))), "")


def _milestone(clause: Clause) -> list[Found]:
    """Moving soon, a journey that was made, something great that was bought, an award, an accident."""
    thing = clause.first("", "object", "subject").split(" ")[-1]
    moves = clause.verb == "이사하" and clause.holds and not clause.first("subject")
    if moves and _AHEAD.search(clause.sentence.text):
        return [Found(Category.EVENT, "move", "이사를 앞두고 있음")]
    bought = clause.verb in ("사", "계약하", "장만하") and thing in _GREAT_BUYS
    travelled = clause.verb in ("다녀오", "갔다오") and thing in ("여행", "유학", "출장", "신혼여행")
    honoured = clause.verb == "받" and thing in ("상", "대상", "금상", "은상", "동상", "장학금")
    crashed = clause.verb in ("나", "당하") and thing.endswith("사고")
    if clause.happened and (bought or travelled or honoured or crashed):
        return [Found(Category.EVENT, thing, note(clause))]
    return []


def _health(clause: Clause) -> list[Found]:
    words = [(phrase.text, phrase.text.split(" ")[-1]) for phrase in clause.phrases]
    ill = next((text for text, last in words if last in ILLNESSES), "")
    part = next((text for text, last in words if last in BODY), "")
    if not _concerns_health(clause, ill, part):
        return []
    value = note(clause)
    if ill and clause.verb == "걸리":
        value = f"{ill}에 걸림"
    elif part and clause.verb == "다치":
        value = f"{with_particle(part, '을/를')} 다침"
    return [Found(Category.EVENT, "health", value, extra=1)]


def _concerns_health(clause: Clause, ill: str, part: str) -> bool:
    if clause.verb == "아프":
        return bool(part) and clause.holds and bool(_LASTING.search(clause.sentence.text))
    if clause.verb in _ILL:
        return bool(ill) and (clause.happened or clause.holds)
    ahead = clause.verb in _TREATED and clause.holds and bool(_AHEAD.search(clause.sentence.text))
    if ahead or not clause.happened:
        return ahead
    healed = clause.verb in _WELL and bool(ill or part)
    return healed or clause.verb in _TREATED or (clause.verb in _HURT and bool(part))


def _great_day(clause: Clause) -> list[Found]:
    if clause.verb not in _GREAT_DAYS or not clause.happened or clause.first("subject"):
        return []
    if clause.verb in _AIMED_AT and Mark.DECIDED in clause.marks:
        return []
    noun = clause.verb.removesuffix("하").removesuffix("가")
    return [Found(Category.EVENT, noun, note(clause), extra=2)]
