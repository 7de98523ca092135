"""Between people, from Korean: the partner, quarrels and peace, promises, news of those close."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gieok.adapters.models.offline.found import Found, bond
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_value import deed, nominal, note
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.korean_words import FAMILY, FRIENDS, PARTNERS, PEOPLE
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.canon.records import Fact
from gieok.memory.observations import Category
from gieok.text.hangul import with_particle

_DATING = listed("사귀 연애하 교제하")
_LEAVING = listed("헤어지 이별하")
_PARTING = _LEAVING | listed("차이 갈라서 깨지 파혼하 이혼하")
_WEDDING = listed("결혼하 약혼하 재혼하 혼인신고하 프러포즈하 청혼하")
_AHEAD = re.compile(r"다음 ?[주달]|이번 ?[주달]|내년|내일|주말|올해|봄에|여름에|가을에|겨울에|\d월")
_ENDED = listed("끝나 끝내")
_QUARREL = listed("싸우 다투 말다툼하 틀어지 절교하 손절하")
_PEACE = listed("화해하 풀 풀리 화해되")
_NEWS = listed("""
    퇴직하 정년퇴직하 은퇴하 퇴사하 졸업하 진단하 진단받 판정받 판정하 승진하 이직하 개업하 유학가
    재혼하 편찮 확진되 입원하 퇴원하 수술하 수술받 아프 다치 결혼하 이혼하 태어나 돌아가시 죽 낳 임신하 쓰러지
    취직하 취업하 합격하 입대하 전역하 이민가
""")


def relations(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """What the clause says about the user and other people."""
    return _befriended(clause) or _partner(clause, known) or _quarrel(clause) or _news(clause)


def _befriended(clause: Clause) -> list[Found]:
    """소희라는 친구 사귀었어. A friend is no partner, and without a name nothing to remember."""
    *before, last = [phrase.text for phrase in clause.phrases] or [""]
    if last not in FRIENDS or clause.verb not in ("사귀", "생기", "만나", "알") or not clause.happened:
        return []
    name = before[-1] if before and clause.forms & {"라는", "이라는"} else ""
    value = f"{with_particle(name, '이라는/라는')} {with_particle(last, '을/를')} 사귐"
    return [Found(Category.RELATIONSHIP, f"person:{name}", value)] if name else []


def _partner(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    who = _with(clause)
    someone = clause.other or clause.first("subject")
    if someone and someone != who and someone not in PARTNERS:
        return []
    if _first_day(clause, who):
        return [Found(Category.RELATIONSHIP, "partner", f"{with_particle(who, '과/와')} 1일", extra=1)]
    them = f"{with_particle(who, '과/와')} " if who else ""
    value = _together(clause, who) or _parted(clause, who) or _wed(clause)
    if value:
        ours = not who and "우리" in clause.forms and clause.verb in _DATING | _LEAVING
        key = bond(known) if ours else "partner"
        return [Found(Category.RELATIONSHIP, key, f"{them}{value}", extra=1)]
    met = next((phrase.text for phrase in clause.phrases if phrase.text in PARTNERS), "")
    if met and clause.verb == "생기" and clause.happened:
        return [Found(Category.RELATIONSHIP, "partner", f"{with_particle(met, '이/가')} 생김", extra=1)]
    return []


def _first_day(clause: Clause, who: str) -> bool:
    """현우랑 오늘부터 1일이야."""
    days = {phrase.text for phrase in clause.phrases} & {"1일", "일일"}
    return bool(who and days) and clause.verb == "이" and clause.holds


def _is_settled(clause: Clause) -> bool:
    """Done, or decided: …했어, …하기로 했어."""
    return clause.happened or (Mark.DECIDED in clause.marks and Mark.NEGATED not in clause.marks)


def _together(clause: Clause, who: str) -> str:
    again = "다시" in clause.forms
    if "자" in clause.forms:  # 사귀자 is said to the one who is meant: see `korean_between`
        return ""
    if clause.verb in _DATING and (clause.holds or _is_settled(clause)):
        return "다시 사귀는 중" if again else "사귀는 중"
    reunited = clause.verb == "재결합하" or (again and clause.verb in ("만나", "합치", "시작하"))
    settled = _is_settled(clause) or (who in PARTNERS and clause.holds)
    return "다시 만남" if reunited and who and settled else ""


def _parted(clause: Clause, who: str) -> str:
    """Parting from friends at the station is no parting."""
    parts = clause.verb in _PARTING or (who and clause.verb in _ENDED)
    if not parts or who in FRIENDS or not _is_settled(clause):
        return ""
    if clause.verb == "차이":
        return "차여서 헤어짐"
    return "헤어짐" if clause.verb in _LEAVING | _ENDED else nominal(clause.verb)


def _wed(clause: Clause) -> str:
    if clause.other or clause.verb not in _WEDDING:
        return ""
    if _is_settled(clause):
        return f"{clause.verb}기로 함" if Mark.DECIDED in clause.marks else nominal(clause.verb)
    soon = clause.verb == "결혼하" and clause.holds and _AHEAD.search(clause.sentence.text)
    return "결혼을 앞두고 있음" if soon else ""


def _with(clause: Clause) -> str:
    """Who takes part. 친구 without a particle does what is told; 지훈이 without one is met, left, married."""
    for phrase in clause.phrases:
        bare = phrase.role == "" and phrase.text not in PEOPLE - PARTNERS
        if phrase.role == "with" or (phrase.is_person and (bare or phrase.role == "to")):
            return phrase.text
    return ""


def _quarrel(clause: Clause) -> list[Found]:
    who = _with(clause)
    if not who or not clause.happened or clause.other:
        return []
    if clause.verb in _QUARREL:
        value = "절교함" if clause.verb in ("절교하", "손절하") else "다툼"
        return [Found(Category.RELATIONSHIP, f"person:{who}", f"{with_particle(who, '과/와')} {value}")]
    if clause.verb in _PEACE:
        return [Found(Category.RELATIONSHIP, f"person:{who}", f"{with_particle(who, '과/와')} 화해함")]
    return []


def _news(clause: Clause) -> list[Found]:
    who = clause.other
    # 친구 남편 is the friend's husband.
    theirs = any(phrase.is_person and phrase.text != who for phrase in clause.phrases[:1])
    close = not theirs and (who in FAMILY or who in PARTNERS or who in ("친구", "베프", "절친"))
    told = clause.happened or (clause.verb == "아프" and clause.holds)
    if not close or not told or clause.verb not in _NEWS:
        return []
    return [Found(Category.RELATIONSHIP, f"person:{who}", note(clause), extra=-1)]


def appointment(clause: Clause) -> list[Found]:
    """수빈이랑 전시회 보러 가기로 했어."""
    things = [phrase.text for phrase in clause.phrases if not phrase.is_person and phrase.role != "with"]
    meets = Mark.DECIDED in clause.marks and Mark.NEGATED not in clause.marks and _with(clause)
    if not meets or not things or clause.other:
        return []
    return [Found(Category.RELATIONSHIP, f"promise:{things[-1]}", note(clause))]


def promises(clause: Clause, *, sworn: bool) -> list[Found]:
    """약속할게, …기로 약속했어, and any …ㄹ게 of a message that swears (`sworn`)."""
    text = note(clause)
    bare = clause.verb == "약속하" and not clause.phrases and "기" not in clause.forms
    meant = Mark.PROMISED in clause.marks and sworn
    agreed = clause.verb == "약속하" and (clause.happened or clause.holds)
    if bare or not (meant or agreed) or not text:
        return []
    key = clause.phrases[-1].text if clause.phrases else deed(clause)
    return [Found(Category.RELATIONSHIP, f"promise:{key}", text)]
