"""The user's work, from Korean: found, changed, left."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.found import Found
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_value import note
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.observations import Category

_JOINED = listed("취직하 취업하 입사하 이직하")
_FOUNDED = listed("창업하 개업하 차리 오픈하")
_FOUND_WORK = listed("구하 옮기 잡 찾")
_LEFT = listed("퇴사하 때려치우 사직하 잘리 해고되 해고당하 짤리 은퇴하 휴직하 사표하 사직서하")
# 그만두다 is said of anything, so that the workplace must be named.
_STOPPED = listed("그만두 관두")
_OF_WORK = _JOINED | _FOUNDED | _FOUND_WORK | _LEFT | _STOPPED
_AHEAD = re.compile(r"(?:다음 ?[주달]|내년|[월화수목금]요일|\d+[월일])(?:부터|에)")
_WORKPLACES = ("회사", "직장", "일자리", "알바", "아르바이트", "인턴", "가게", "병원")


def work(clause: Clause) -> list[Found]:
    """What became of the user's work."""
    decided = Mark.DECIDED in clause.marks
    if not clause.other and _begins_soon(clause):
        return [Found(Category.EVENT, "job", note(clause))]
    if clause.other or clause.verb not in _OF_WORK or not (clause.happened or decided):
        return []
    news = Found(Category.EVENT, "job", note(clause))
    if clause.verb in _JOINED:
        place = clause.first("to", "at", "")
        named = place and not place.endswith(("회사", "직장")) and not decided
        return [news, Found(Category.PERSONAL_INFO, "job", f"{place}에 다님")] if named else [news]
    what = clause.first("object", "", "at", "topic")
    at_work = what.endswith(_WORKPLACES) or what == "일"
    if clause.verb in _FOUNDED or (clause.verb in _FOUND_WORK and what.endswith(_WORKPLACES)):
        return [news]
    if not (clause.verb in _STOPPED and at_work) and not (clause.verb in _LEFT and (at_work or not what)):
        return []
    gone = Found(Category.PERSONAL_INFO, "job", note(clause), retracts=True)
    beside_the_job = what.endswith(("알바", "아르바이트"))
    return [news] if decided or beside_the_job else [news, gone]


def _begins_soon(clause: Clause) -> bool:
    """다음 달부터 새 회사로 출근해."""
    return clause.verb in ("출근하", "입사하") and clause.holds and bool(_AHEAD.search(clause.sentence.text))
