"""Who the user is, from Korean: home, work, pets, family."""

from __future__ import annotations

from gieok.adapters.models.offline.found import Found
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_value import note
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.korean_words import ANIMALS, FAMILY, OCCUPATIONS
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.observations import Category
from gieok.text.hangul import with_particle

_LIVES = listed("살 거주하 지내 자취하")
_MOVES = listed("이사하 이사가 이사오 이민하 이주하")
_KEEPS = listed("키우 기르 입양하 데려오 분양받 입양되")
_WORKS = listed("일하 근무하")
_NO_PLACE = listed("이사 집 곳 데 여기 거기 저기 혼자 같이 새집 근처 친구 부모님 회사 학교 동네")
_CHILDREN = listed("아들 딸 쌍둥이 첫째 둘째 막내")
_COMPANIES = ("회사", "은행", "전자", "스타트업", "카카오", "네이버", "공장", "출판사")


def identity(clause: Clause) -> list[Found]:
    """What the clause says about who the user is."""
    if clause.other:
        return _family(clause)
    return (
        _home(clause)
        or _occupation(clause)
        or _workplace(clause)
        or _business(clause)
        or _pet(clause)
        or _family(clause)
    )


def _home(clause: Clause) -> list[Found]:
    place = _place(clause)
    if clause.first("subject"):
        return []
    if _moves(clause) and clause.happened:
        moved = Found(
            Category.EVENT, "move", f"{with_particle(place, '으로/로')} 이사함" if place else "이사함"
        )
        return [Found(Category.PERSONAL_INFO, "home", place), moved] if place else [moved]
    lives = clause.verb in _LIVES and (clause.holds or Mark.BEGUN in clause.marks)
    return [Found(Category.PERSONAL_INFO, "home", place)] if lives and place else []


def _moves(clause: Clause) -> bool:
    """이사하다, and 이사(를) 가다 or 오다."""
    said = any(p.text.endswith("이사") and p.role in ("", "object") for p in clause.phrases)
    return clause.verb in _MOVES or (said and clause.verb in ("가", "오"))


def _place(clause: Clause) -> str:
    """Where: what has 으로 or 에 before what has 에서, which may be where one came from."""
    for phrase in sorted(clause.phrases, key=lambda phrase: phrase.role != "to"):
        text = phrase.text.removesuffix(" 이사")
        if phrase.role in ("to", "at", "") and not phrase.is_person and text not in _NO_PLACE:
            return text
    return ""


def _occupation(clause: Clause) -> list[Found]:
    """나는 간호사야, 직업은 요리사야."""
    unsure = clause.marks & {Mark.PAST, Mark.NEGATED, Mark.GUESSED, Mark.WANTED}
    if clause.verb != "이" or not clause.phrases or unsure:
        return []
    *before, last = clause.phrases
    named = last.text.split(" ")[-1] in OCCUPATIONS
    mine = not before or clause.forms & {"나", "저", "내", "전", "직업"}
    alone = all(p.role in ("topic", "of") and not p.is_person for p in before)
    return [Found(Category.PERSONAL_INFO, "job", last.text)] if named and mine and alone else []


def _workplace(clause: Clause) -> list[Found]:
    """카카오에서 일해, 교사로 일하고 있어, 은행 다녀."""
    attends = clause.verb == "다니"
    if not (attends or clause.verb in _WORKS) or not (clause.holds or Mark.BEGUN in clause.marks):
        return []
    work, role = clause.first("at"), clause.first("to")
    if role.split(" ")[-1] in OCCUPATIONS:
        return [Found(Category.PERSONAL_INFO, "job", f"{work} {role}".strip())]
    place = clause.first("at", "object", "to", "") if attends else work
    if not place or place in ("집", "회사", "카페") or (attends and not place.endswith(_COMPANIES)):
        return []
    return [Found(Category.PERSONAL_INFO, "job", f"{place}에 다님" if attends else f"{place}에서 일함")]


def _business(clause: Clause) -> list[Found]:
    """빵집 운영해요, 경영학 전공하고 있어."""
    what = clause.first("object", "")
    if not what or not clause.holds or clause.first("subject"):
        return []
    if clause.verb in ("운영하", "경영하"):
        return [Found(Category.PERSONAL_INFO, "job", f"{what} 운영함")]
    return [Found(Category.PERSONAL_INFO, "major", what)] if clause.verb == "전공하" else []


def _pet(clause: Clause) -> list[Found]:
    words = (word for phrase in clause.phrases for word in phrase.text.split(" "))
    animal = next((word for word in words if word in ANIMALS), "")
    if not animal:
        return []
    crossed = clause.verb == "건너" and "무지개" in clause.forms
    if (crossed or clause.verb in ("죽", "떠나", "돌아가시")) and clause.happened:
        gone = note(clause)
        return [
            Found(Category.EVENT, animal, gone, extra=3),
            Found(Category.PERSONAL_INFO, f"pet:{animal}", gone, retracts=True),
        ]
    begun = Mark.BEGUN in clause.marks
    came = clause.happened and clause.verb not in ("키우", "기르")
    if clause.verb in _KEEPS and (clause.holds or came or begun):
        return [Found(Category.PERSONAL_INFO, f"pet:{animal}", f"{with_particle(animal, '을/를')} 키움")]
    return []


def _family(clause: Clause) -> list[Found]:
    """여동생이 있어; but not 여동생이 집에 있어."""
    kin = [p.text for p in clause.phrases if p.text in FAMILY and p.role in ("", "subject")]
    raised = clause.verb in ("키우", "기르") and bool(set(kin) & _CHILDREN)
    if not (raised or clause.verb == "있") or not clause.holds or not kin or clause.first("to", "at"):
        return []
    return [Found(Category.PERSONAL_INFO, f"family:{kin[-1]}", f"{with_particle(kin[-1], '이/가')} 있음")]
