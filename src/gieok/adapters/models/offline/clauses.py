"""A sentence in the room that there is: the clauses that matter, cut where the language joins them."""

from __future__ import annotations

import re

from gieok.adapters.models.offline import english, korean
from gieok.adapters.models.offline.analysis import Sentence, slice_of
from gieok.adapters.models.offline.lexicon import listed

_JOINTS = listed("고 는데 ㄴ데 은데 어서 아서 ㅓ서 ㅏ서 니까 으니까 지만 더니 면서 으며 며")
# Behind these the joint belongs to the verb before it: 가고 싶다, 하고 있다, 먹어 보다.
_AUXILIARY = frozenset({"VX", "EP", "JX", "XSV"})
_ENGLISH_JOINT = re.compile(
    r",? (?=(?:and|but|because|so|which|while|although|when|since|though) )|(?<=[,;]) "
)

# Longer sentences are condensed even where there is room for them: a memory is read again in every prompt.
LONG_KOREAN = 60
LONG_ENGLISH = 120
_MAX_CLAUSES = 12


def condense_korean(sentence: Sentence, room: int) -> str | None:
    """The sentence retold in at most `room` characters: whole, or its most telling clauses."""
    limit = min(room, LONG_KOREAN)
    whole = _tell(sentence)
    if whole is not None and len(whole) <= limit:
        return whole
    for clauses in _windows(sentence):
        told = _tell(clauses)
        if told is not None and len(told) <= limit:
            return told
    return _last_words(whole, limit) if whole is not None else None


def condense_english(text: str, room: int) -> str | None:
    """The same for English, which puts its point first: clauses are left out from the end."""
    limit = min(room, LONG_ENGLISH)
    told = english.report(text)
    if told is None or len(told) <= limit:
        return told
    kept = ""
    for joint in _ENGLISH_JOINT.finditer(told):
        if joint.start() >= limit:
            break
        kept = told[: joint.start()].rstrip(",; ")
    words = kept or told[:limit].rsplit(" ", 1)[0]
    return f"{words[: limit - 1].rstrip(',; ')}."


def _tell(sentence: Sentence) -> str | None:
    told = korean.report(sentence)
    if told is None:
        return None
    asks = told.words.endswith("물음")
    toward = "상대에게 " if told.addressed and asks else ""
    if told.subject == "사용자의" and (asks or told.words.endswith("달라고 함")):
        return f"사용자가 {toward}자신의 {told.words}."
    return f"{told.subject} {toward}{told.words}."


def _windows(sentence: Sentence) -> list[Sentence]:
    """Runs of neighbouring clauses, longest first, later ones before earlier: Korean puts its point last."""
    found = sentence.morphemes
    cuts = [0]
    for index in range(len(found) - 1):
        here, following = found[index], found[index + 1]
        joins = here.tag == "EC" and here.form in _JOINTS and following.tag not in _AUXILIARY
        if joins and following.start > here.end:
            cuts.append(index + 1)
    cuts = [*cuts[-_MAX_CLAUSES:], len(found)]
    count = len(cuts) - 1
    return [
        slice_of(sentence, cuts[start], cuts[start + size])
        for size in range(count - 1, 0, -1)
        for start in range(count - size, -1, -1)
    ]


def _last_words(told: str, limit: int) -> str:
    """The subject and as many words of the end as fit: the predicate is there."""
    subject, _, rest = told.partition(" ")
    words = rest.split(" ")
    while len(words) > 1 and len(subject) + 1 + len(" ".join(words)) > limit:
        words.pop(0)
    return f"{subject} {' '.join(words)}"
