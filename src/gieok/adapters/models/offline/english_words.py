"""Small English words: persons, adverbs, the openings of chat."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.lexicon import listed

OPENERS = [
    r"oh",
    r"ah",
    r"hey",
    r"hi",
    r"hello",
    r"yo",
    r"well",
    r"so",
    r"and",
    r"but",
    r"yeah",
    r"yes",
    r"yep",
    r"yup",
    r"no",
    r"nope",
    r"ok",
    r"okay",
    r"wow",
    r"ugh",
    r"hmm+",
    r"um+",
    r"uh",
    r"haha+",
    r"lol",
    r"omg",
    r"btw",
    r"anyway",
    r"honestly",
    r"actually",
    r"basically",
    r"guess what",
    r"you know(?: what)?",
    r"by the way",
    r"good morning",
    r"good evening",
    r"good night",
]

ADVERBS = listed("""
    really just also always never usually still often finally even only already actually definitely
    probably sometimes recently currently mostly absolutely totally honestly sincerely secretly kinda
    rarely now today tomorrow lately nowadays yesterday tonight then later soon truly basically
    literally maybe
""")
PAST_TIME = listed("""
    yesterday last ago night week month year morning evening weekend monday sunday
""")

FUNCTION_WORDS = listed("""
    a an the this that these those it its there here he she they we you your his her their our my what
    when where why how who which if because although while since after before as in on at for with from
    to of about some any all many much most every each no not nothing everything something someone
    everyone nobody one two three today tomorrow yesterday tonight last next is are was were do does did
    can could will would should have has had been being going looking feeling thinking maybe perhaps
    just still even sometimes lately recently finally work school life people things weather traffic
    dinner lunch breakfast sorry sure please
""")

FEELINGS = listed("""
    tired exhausted happy sad excited nervous anxious worried stressed bored sick hungry lonely angry
    upset sleepy busy scared proud grateful relieved depressed fine good great okay better worse alone
    ready done late home
""")

_PERSONS = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "you": "the assistant", "your": "the assistant's", "yours": "the assistant's", "yourself": "itself",
}  # fmt: skip
_PERSON = re.compile(rf"\b({'|'.join(_PERSONS)})\b(?!\.)", re.IGNORECASE)
_AFTER_THEY = {"am": "are", "was": "were"}
_THEY_VERB = re.compile(r"\b(they) (am|was)\b")
_CLIPPED = re.compile(r"\b(we|you)'(re|ve|ll|d)\b", re.IGNORECASE)
_CLIPPED_FULL = {"re": "are", "ve": "have", "ll": "will", "d": "would"}
_ASSISTANT_VERB = re.compile(r"\bthe assistant (are|were|have|do|don't|aren't|haven't|weren't)\b")
_SINGULAR = {
    "are": "is", "were": "was", "have": "has", "do": "does",
    "don't": "doesn't", "aren't": "isn't", "haven't": "hasn't", "weren't": "wasn't",
}  # fmt: skip


def third_person_words(said: str) -> str:
    """`said` with I, we and you told from outside. An all-caps US or IT is a name, not a person."""
    opened = _CLIPPED.sub(lambda m: f"{m[1]} {_CLIPPED_FULL[m[2].lower()]}", said)
    told = _PERSON.sub(_person, opened)
    told = _THEY_VERB.sub(lambda m: f"they {_AFTER_THEY[m[2]]}", told)
    return _ASSISTANT_VERB.sub(lambda m: f"the assistant {_SINGULAR[m[1]]}", told)


def _person(match: re.Match[str]) -> str:
    word = match[0]
    if len(word) > 1 and word.isupper():
        return word
    return _PERSONS[word.lower()]
