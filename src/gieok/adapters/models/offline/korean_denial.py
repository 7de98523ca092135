"""What a Korean clause denies or calls off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gieok.adapters.models.offline.found import Found, awaited
from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.korean_words import OCCASIONS
from gieok.adapters.models.offline.lexicon import listed
from gieok.memory.canon.records import Fact
from gieok.memory.observations import Category
from gieok.text import terms

_CALLED_OFF = listed("취소되 취소하 취소시키 무산되 엎어지 파토나 파투나")
# 오늘은 공부 안 할 거야: what is denied for a while holds all the same.
_FOR_NOW = re.compile(r"오늘|지금|아직|당분간|이번 ?주|잠깐|어제|아까|그때|요즘")
_SELF = listed("나 저 난 전 내 제")
_OWN = frozenset({Category.EVENT, Category.PERSONAL_INFO})


def affirmed(clause: Clause) -> Clause | None:
    """The clause without its denial: 이사 안 했어 as 이사했어, 알레르기 없어 as 알레르기 있어."""
    if clause.other or _FOR_NOW.search(clause.sentence.text):
        return None
    if clause.verb == "없":
        return replace(clause, verb="있", marks=clause.marks - {Mark.PAST, Mark.NEGATED})
    return replace(clause, marks=clause.marks - {Mark.NEGATED}) if Mark.NEGATED in clause.marks else None


def unsaid(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """나 임신 아니야, 땅콩 알레르기 없어졌어: the known facts of the user that say just that."""
    is_not = clause.verb == "아니" and bool(clause.phrases) and bool(clause.forms & _SELF)
    has_not = clause.verb == "없" and len(clause.phrases) == 1
    if clause.other or not (is_not or has_not):
        return []
    noun = clause.phrases[-1].text
    said = set(terms(noun))
    return [
        Found(fact.category, fact.key, noun)
        for fact in known
        if fact.category in _OWN and set(terms(fact.value)) == said
    ]


def called_off(clause: Clause, known: Sequence[Fact]) -> list[Found]:
    """면접 취소됐어: what lay ahead does so no more."""
    if clause.verb not in _CALLED_OFF or not clause.happened:
        return []
    named = (phrase.text for phrase in clause.phrases if phrase.text.endswith(tuple(OCCASIONS)))
    fact = awaited(next(named, ""), known)
    return [Found(fact.category, fact.key, fact.value, retracts=True)] if fact else []
