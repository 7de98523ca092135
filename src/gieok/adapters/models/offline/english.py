"""English reported speech: I have an interview becomes The user has an interview.

The first "I" is named as the user, and its verb changes to the third person. Every later one is "they", whose
verbs stay as they are.
"""

from __future__ import annotations

import re

from gieok.adapters.models.offline.english_question import reported_question, reported_request
from gieok.adapters.models.offline.english_verbs import BASE_FORMS, is_past, third_person
from gieok.adapters.models.offline.english_words import (
    ADVERBS,
    FEELINGS,
    FUNCTION_WORDS,
    OPENERS,
    PAST_TIME,
    third_person_words,
)
from gieok.adapters.models.offline.lexicon import listed

_OPENER = re.compile(rf"^(?:(?:{'|'.join(OPENERS)})(?:[,.!…]+\s*|\s+))+", re.IGNORECASE)
_EMOTICON = re.compile(r"(?:^|\s)[:;=]['-]?[()DPpO/\\|3]+(?=\s|$)")
_TAIL = re.compile(r"[^\w%+#)°$€£]+$")
_AND_I = re.compile(r"^my (\w+) and I\b", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")
_CONTRACTED = re.compile(r"\b(I)['’](m|ve|ll|d)\b", re.IGNORECASE)
_FULL = {"m": "am", "ve": "have", "ll": "will", "d": "would"}
_HAD_RATHER = re.compile(r"\bI would (better|been)\b")
_NEW_CLAUSE = listed("""
    to i we they he she it you that because if when can will would could should
""")
_MY = re.compile(r"^my\b", re.IGNORECASE)
_LONE_I = re.compile(r"\bi\b")


def report(text: str) -> str | None:
    """One sentence as someone else tells it, or None when nothing is left of it but its opening words."""
    said = _OPENER.sub("", _EMOTICON.sub("", _calm(text.replace("’", "'")))).strip()
    asks = said.rstrip("\"')” ").endswith("?")
    said = _TAIL.sub("", said).lstrip("\"'“(-*# ")
    if not said:
        return None
    said = _CONTRACTED.sub(lambda match: f"I {_FULL[match[2].lower()]}", said)
    said = _HAD_RATHER.sub(r"I had \1", said)
    request = reported_request(said, asks=asks)
    if request is not None:
        return f"The user {request}."
    if asks:
        return f"The user {reported_question(said)}."
    return f"{_statement(said)}."


def _calm(text: str) -> str:
    """A shouted sentence in ordinary letters; one word in capitals is a name."""
    if not text.isupper() or " " not in text.strip():
        return text
    return _LONE_I.sub("I", text.lower())


def _statement(said: str) -> str:
    together = _AND_I.match(said)
    if together:
        return f"The user and their {together[1]}{third_person_words(said[together.end() :])}"
    if _MY.match(said):
        return f"The user's{third_person_words(said[2:])}"
    words = said.split(" ")
    if words[0].lower() == "i":
        return f"The user {_with_third_person(words[1:])}"
    lead = _lead_in(words)
    if lead:
        return f"{' '.join(words[:lead])} the user {_with_third_person(words[lead + 1 :])}"
    return _without_i(said, words)


def _without_i(said: str, words: list[str]) -> str:
    """A sentence about something else, or about the user by leaving out the I."""
    if _is_bare_verb_phrase(words):
        return f"The user {_with_third_person([words[0].lower(), *words[1:]])}"
    if _is_bare_feeling(words):
        return f"The user is {third_person_words(said[0].lower() + said[1:])}"
    return f"The user said {third_person_words(_uncapitalised(said))}"


def _lead_in(words: list[str]) -> int:
    """How many words stand before an early I: Yesterday I …, Last night, I …. 0 when there is none."""
    for index, word in enumerate(words[1:5], start=1):
        if word == "I":
            plain = all(w.strip(",").lower() in PAST_TIME | ADVERBS for w in words[:index])
            return index if plain else 0
    return 0


def _is_bare_verb_phrase(words: list[str]) -> bool:
    """Chat leaves the I out: Went hiking yesterday, Feeling tired."""
    plain = [word.lower() for word in words if word.lower() not in ADVERBS]
    return len(plain) > 1 and is_past(plain[0]) and plain[1] not in ("by", "is", "was", "are", "were")


def _is_bare_feeling(words: list[str]) -> bool:
    """So tired today, Feeling great: a feeling without its I am."""
    first = words[0].lower().strip(",")
    if len(words) > 1 and first in ("really", "very", "too", "pretty", "kinda", "feeling"):
        first = words[1].lower().strip(",")
    return first in FEELINGS


def _with_third_person(words: list[str]) -> str:
    """The words after "the user": the verb and what is joined to it by and/but, then the rest."""
    lowered = {word.strip(".,!").lower() for word in words}
    in_past = bool(lowered & PAST_TIME)
    changed = list(words)
    index = 0
    while index < len(changed) and changed[index].lower().strip(",") in ADVERBS:
        index += 1
    if index >= len(changed):
        return third_person_words(" ".join(words))
    verb = changed[index].lower()
    changed[index] = third_person(verb, in_past=in_past)
    if changed[index] != verb and changed[index].endswith("s"):
        _change_joined(changed, index, in_past=in_past)
    return third_person_words(" ".join(changed))


def _change_joined(words: list[str], start: int, *, in_past: bool) -> None:
    """I cook and clean → cooks and cleans, as long as no new subject comes between."""
    for index in range(start + 1, len(words) - 1):
        if words[index].lower() in _NEW_CLAUSE:
            return
        if words[index].lower() not in ("and", "but", "or"):
            continue
        step = index + 1
        while step < len(words) - 1 and words[step].lower() in ADVERBS:
            step += 1
        if words[step].lower() in BASE_FORMS:
            words[step] = third_person(words[step].lower(), in_past=in_past)


def _uncapitalised(said: str) -> str:
    """The first word in lower case, unless it may be a name."""
    match = _WORD.match(said)
    if (
        match is None
        or match[0].split("'")[0].lower() not in FUNCTION_WORDS
        or (match[0].isupper() and len(match[0]) > 1)
    ):
        return said
    return said[0].lower() + said[1:]
