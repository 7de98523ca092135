"""The facts that Korean sentences state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from gieok.adapters.models.offline.analysis import Sentence, Utterance
from gieok.adapters.models.offline.found import Found, come_to_pass
from gieok.adapters.models.offline.korean_clause import Clause, clauses_of
from gieok.adapters.models.offline.korean_denial import affirmed, called_off, unsaid
from gieok.adapters.models.offline.korean_goals import goals, reached
from gieok.adapters.models.offline.korean_identity import identity
from gieok.adapters.models.offline.korean_introduction import introduced
from gieok.adapters.models.offline.korean_leanings import leanings
from gieok.adapters.models.offline.korean_life import life
from gieok.adapters.models.offline.korean_predicate import QUESTION_WORDS
from gieok.adapters.models.offline.korean_relations import appointment, promises, relations
from gieok.adapters.models.offline.korean_work import work
from gieok.adapters.models.offline.lexicon import listed
from gieok.adapters.models.offline.taken_back import taken_back
from gieok.memory.canon.records import Fact

_NOT_MEANT = re.compile(
    r"농담(?:이|$|\.)|뻥이|장난이|장난으로|거짓말이야|만우절|역할극|상황극|롤플|소설 (?:첫|속|한)|가사"
)
_SWORN = re.compile(r"약속(?:할게|해|한다|하자|!|\.|$)|맹세")
# What someone else is told to have said, what might be, and what is asked, is not stated by the user.
_HEARSAY = listed("""
    대 ㄴ대 는대 래 이래 대요 래요 ㄴ대요 는대요 다던데 라던데 다더라 라더라 ㄴ다더라 는다더라 다더라고 다며
    라며 ㄴ다며 더라 더라고 더라구 던데
""")
_CONDITION = listed("면 으면 다면 ㄴ다면 는다면 라면 이라면 더라면 었더라면 려면 으려면 어도 아도 더라도")
_ASKING = ("까", "까요", "냐", "니", "나요", "가요", "을래", "ㄹ래")
# …ㄹ 텐데, …할걸, …ㄴ 적 없어, …한 건 아니야: wished for, or denied.
_DENIED = re.compile(
    r"텐데|(?:할|을|될) ?걸(?:\W|$)"
    r"|[가-힣] 적(?:이|은|도)? 없|[가-힣] (?:거|게|건|것은|것이) 아니"
    r"|뻔했|척 ?했|꿈을? 꿨|꿈에서"
)
_SAID = listed("다고 라고 ㄴ다고 는다고 자고 냐고 이라고")
_SAYING = listed("하 말하 듣 그러 얘기하 이야기하 묻 물어보")


def korean_facts(utterance: Utterance, known: Sequence[Fact]) -> list[Found]:
    """What the user states about themselves and those close to them."""
    if _NOT_MEANT.search(utterance.text):
        return []
    sworn = bool(_SWORN.search(utterance.text))
    found: list[Found] = []
    for sentence in utterance.informative:
        found += [] if sentence.asks else introduced(sentence.text)
        if is_stated(sentence):
            for clause in clauses_of(sentence):
                found += _facts(clause, known, sworn=sworn)
    return come_to_pass(found, known)


def is_stated(sentence: Sentence) -> bool:
    """Whether the user vouches for the sentence: no question, no condition, no hearsay."""
    if sentence.asks or _DENIED.search(sentence.text):
        return False
    # 봤어야 했는데: it should have been, and was not.
    if any(a.tag == "EP" and b.form in ("어야", "아야") for a, b in pairwise(sentence.morphemes)):
        return False
    forms = [m.form for m in sentence.morphemes]
    if any(m.tag == "EC" and m.form in _CONDITION for m in sentence.morphemes):
        return False
    if any(m.form in QUESTION_WORDS and m.tag in ("NP", "MAG", "MM", "VA") for m in sentence.morphemes):
        return False
    ends = [m.form for m in sentence.morphemes if m.tag in ("EF", "EC")]
    if ends and (ends[-1] in _HEARSAY or ends[-1].endswith(_ASKING)):
        return False
    return not any(a in _SAID and b in _SAYING for a, b in pairwise(forms))


def _facts(clause: Clause, known: Sequence[Fact], *, sworn: bool) -> list[Found]:
    """What the clause states and ends. What it denies is what it would state if it did not."""
    ended = [*called_off(clause, known), *taken_back(unsaid(clause, known), known)]
    if known and (claim := affirmed(clause)):
        ended += taken_back(_stated(claim, known, sworn=sworn), known)
    return [*ended, *_stated(clause, known, sworn=sworn)]


def _stated(clause: Clause, known: Sequence[Fact], *, sworn: bool) -> list[Found]:
    done = reached(clause, known)
    stated = (
        promises(clause, sworn=sworn)
        or relations(clause, known)
        or identity(clause)
        or work(clause)
        or life(clause, known)
        or goals(clause, known)
        or leanings(clause)
        or appointment(clause)
    )
    told = {fact.value for fact in done}
    return [*done, *(fact for fact in stated if fact.value not in told)]
