"""One Korean clause taken apart: who, what, where, the verb, and whether it holds, held, or is only meant."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gieok.adapters.models.offline.analysis import Sentence, is_symbol, slice_of
from gieok.adapters.models.offline.korean_phrase import Phrase, phrases_of
from gieok.adapters.models.offline.korean_verb import Mark, ends_before, marks_of, verb_at, verb_of
from gieok.adapters.models.offline.korean_words import OTHER_PERSONS, PARTNERS, PEOPLE
from gieok.adapters.models.offline.lexicon import listed
from gieok.text import Morpheme

_JOINTS = listed("""
    고 구 는데 ㄴ데 은데 어서 아서 ㅓ서 ㅏ서 니까 으니까 지만 더니 면서 으면서 으며 며 다가 려고 으려고 라서
""")
_AUXILIARY = frozenset({"VX", "EP", "JX", "XSV"})
# 가려고 준비 중이다, 가려고 하다: these go on with the verb before them.
_GO_ON = frozenset({"하", "있", "싶", "준비"})
_SHARING = listed("고 구 어서 아서 ㅓ서 ㅏ서 며 으며 면서 으면서")
# 모아서 사고 싶다: what is wanted is the second; the first only has its tense.
_LEADING = listed("어서 아서 ㅓ서 ㅏ서 면서 으면서")
_MOODS = frozenset({Mark.WANTED, Mark.PLANNED, Mark.DECIDED})
_NOT_YET = _MOODS | {Mark.PROMISED, Mark.GUESSED}
_UNREAL = frozenset({Mark.NEGATED, Mark.WANTED, Mark.GUESSED, Mark.PLANNED})
# 이사를 하다 is 이사하다, and 수술을 받다 for the one who tells it is 수술하다.
_TAKEN = listed("수술 진단 판정 해고 프러포즈 청혼 분양 사표 사직서")
# 유학을 가다 is 유학가다, however it is spaced.
_GONE_ABROAD = listed("유학 이민 전학")
# Nouns that the dictionary reads as a verb or a pronoun.
_MISREAD = re.compile(
    r"(?:^|(?<=\s))[가-힣]*?(?P<noun>알바|요가|디자이너|이직|살(?=\s+\d|\s+(?:좀\s+)?[빼뺐]))"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`verb` is the stem with its noun (이사하); "이" is the copula, whose noun is the last phrase."""

    sentence: Sentence
    phrases: tuple[Phrase, ...]
    verb: str
    marks: frozenset[Mark]
    forms: frozenset[str]

    def first(self, *roles: str) -> str:
        """The first noun in one of these roles, "" when there is none."""
        return next((phrase.text for phrase in self.phrases if phrase.role in roles), "")

    @property
    def other(self) -> str:
        """The person, not the user, whom the clause is about; "" when it is the user.

        Speech leaves the particle out: 우리 부모님 이혼했어. A partner without one may be the other half of
        what the user does, and is left to the rules.
        """
        named = next((p.text for p in self.phrases if p.is_person and p.role in ("subject", "topic")), "")
        if named or not self.phrases:
            return named
        first = self.phrases[0]
        acts = first.is_person and first.role == "" and first.text in (PEOPLE - PARTNERS) | OTHER_PERSONS
        return first.text if acts else ""

    @property
    def happened(self) -> bool:
        """Whether it is stated as done: past, not denied, not only wanted or guessed."""
        return bool(self.marks & {Mark.PAST, Mark.NOTED}) and not self.marks & _UNREAL

    @property
    def holds(self) -> bool:
        """Whether it is stated as true now."""
        return not self.marks & (_UNREAL | {Mark.PAST, Mark.DECIDED, Mark.PROMISED})


def clauses_of(sentence: Sentence) -> list[Clause]:
    """The clauses of a sentence that have a verb of their own, in their order."""
    sentence = replace(sentence, morphemes=_reread(sentence))
    found = sentence.morphemes
    cuts = [0]
    for index in range(len(found) - 1):
        here, following = found[index], found[index + 1]
        joins = here.tag == "EC" and (here.form in _JOINTS or ends_before(found, index))
        joined = joins and _begins_anew(following)
        listed_up = following.tag == "SC" and here.tag in ("EF", "EC", "JKS") and index + 2 < len(found)
        if joined or listed_up:
            cuts.append(index + 2 if listed_up else index + 1)
    parts = [slice_of(sentence, a, b) for a, b in zip(cuts, [*cuts[1:], len(found)], strict=True)]
    return _sharing_ends([clause for part in parts if (clause := _clause(part)) is not None])


def _sharing_ends(clauses: list[Clause]) -> list[Clause]:
    """그만두고 이사했어: the tense and the mood stand once, at the end, and hold for what 고 joins to it."""
    shared: list[Clause] = []
    for clause in reversed(clauses):
        last = clause.sentence.morphemes[-1].form
        taken: frozenset[Mark] = frozenset()
        if shared and last in _SHARING and Mark.PAST not in clause.marks:
            moods = frozenset[Mark]() if last in _LEADING else _MOODS
            taken = shared[-1].marks & (moods | {Mark.PAST, Mark.GUESSED})
        found = clause.sentence.morphemes
        if shared and ends_before(found, len(found) - 1) and not shared[-1].marks & _NOT_YET:
            taken = frozenset({Mark.PAST})
        shared.append(replace(clause, marks=clause.marks | taken))
    return shared[::-1]


def _reread(sentence: Sentence) -> tuple[Morpheme, ...]:
    """The morphemes, with the nouns that the dictionary missed put in the place of its guess."""
    found = sentence.morphemes
    for match in _MISREAD.finditer(sentence.text):
        start, end = match.span("noun")
        inside = [m for m in found if start <= m.start and m.end <= end]
        if inside and inside[0].start == start and inside[-1].end == end:
            at = found.index(inside[0])
            noun = inside[0]._replace(form=match["noun"], tag="NNG", start=start, end=end)
            found = (*found[:at], noun, *found[at + len(inside) :])
    return found


def _begins_anew(following: Morpheme) -> bool:
    goes_on = following.tag in _AUXILIARY or following.form in _GO_ON
    return not goes_on and not is_symbol(following)


def _clause(part: Sentence) -> Clause | None:
    found = part.morphemes
    at = verb_at(found)
    if at is None:
        return None
    verb, begins = verb_of(found, at)
    verb, phrases = _with_its_noun(verb, phrases_of(part, begins))
    return Clause(
        sentence=part,
        phrases=tuple(phrases),
        verb=verb,
        marks=marks_of(found, at),
        forms=frozenset(morpheme.form for morpheme in found),
    )


def _with_its_noun(verb: str, phrases: list[Phrase]) -> tuple[str, list[Phrase]]:
    """The noun in front of an empty verb belongs to the verb: 이사를 했어, 수술 받았어, 사표 냈어."""
    if not phrases or phrases[-1].role not in ("", "object"):
        return verb, phrases
    *before, last = phrases
    head, _, noun = last.text.rpartition(" ")
    if verb == "가" and noun in _GONE_ABROAD:
        return f"{noun}가", phrases
    if verb == "하" or (verb in ("받", "내", "당하", "되") and noun in _TAKEN):
        return f"{noun}하", [*before, Phrase(head, "", is_person=False)] if head else before
    return verb, phrases
