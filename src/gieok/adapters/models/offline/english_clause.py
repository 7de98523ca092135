"""An English sentence as plain clauses: contractions opened, colour taken off, a subject in each."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.english_rule import any_word

_SUBJECTS = any_word("i my we it now everyone people friends she he they")
_JOINT = re.compile(
    rf"[,;]? {any_word('and but so because since then though although')} (?={_SUBJECTS} )"
    r"|[,;] (?=(?:and )?(?:i|my|we|by the way|nice to meet)\b)",
    re.IGNORECASE,
)
# I quit my job and moved: behind "and" these go on with the subject that stands in front.
_GOES_ON = any_word("""
    moved quit started broke got adopted bought passed failed joined married met want love hate live work
    opened left lost won finished graduated began stopped retired
""")
_SAME_SUBJECT = re.compile(rf"(?:,? and|,) (?={_GOES_ON}\b)", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"(?:\w+,? ){0,2}(?:i|we)\b", re.IGNORECASE)
_I_PROMISE = re.compile(r"^(i(?:['’]ll| will) .+?),? i promise[.!]*$", re.IGNORECASE)
# Jake and I are one subject, and no place to cut.
_AND_I = re.compile(r"(?:^|(?<=, ))([A-Z]\w+|[Mm]y (?:\w+ )?\w+) and [Ii]\b")
_CONTRACTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bi['’]m\b", "I am"),
        (r"\bi['’]ve\b", "I have"),
        (r"\bi['’]ll\b", "I will"),
        (r"\bwe['’]re\b", "we are"),
        (r"\bwe['’]ve\b", "we have"),
        (r"\b(do|did|does|have|is|are|was|ca|wo)n['’]t\b", r"\1 not"),
        (r"\b(name|birthday|goal|dream|mom|dad|it)['’]s\b", r"\1 is"),
    )
)
_MARKS = " .!,;:~"
_APOSTROPHE = re.compile("['’]")
_COLOUR = re.compile(
    r"\b{}\b,? ?".format(
        any_word("""
            just finally really actually also recently already still totally honestly officially absolutely
            truly always currently definitely basically secretly kinda kind_of even only yesterday today
            last_week last_month last_night this_morning this_week please lol haha+ guess_what oh hey hi
            well so btw by_the_way wow omg yeah yes ok(?:ay)? ugh fully right_now i_guess
        """)
    ),
    re.IGNORECASE,
)

# Said at the end for the tone of it.
_CLOSING = re.compile(
    r"(?:,? {})+$".format(
        any_word("""
            though tho anyways? actually lol lmao haha+ after_all in_fact to_be_honest you_know as_well too
            unfortunately sadly luckily thankfully
        """)
    ),
    re.IGNORECASE,
)


def clauses_of(text: str) -> list[str]:
    """The clauses of a sentence, in their order."""
    opened = _I_PROMISE.sub(r"I promise \1", text)
    for pattern, full in _CONTRACTIONS if _APOSTROPHE.search(opened) else ():
        opened = pattern.sub(full, opened)
    clauses = _JOINT.split(_AND_I.sub(r"\1 & I", opened))
    parts = [part.replace(" & I", " and I") for clause in clauses for part in _with_subjects(clause)]
    return [plain for part in parts if (plain := _plain(part))]


def _with_subjects(clause: str) -> list[str]:
    first, *further = _SAME_SUBJECT.split(clause)
    return [first, *(f"I {part}" for part in further)] if _FIRST_PERSON.match(first) else [clause]


def _plain(part: str) -> str:
    said = " ".join(_COLOUR.sub("", part).split()).strip(_MARKS)
    return _CLOSING.sub("", said).strip(_MARKS)
