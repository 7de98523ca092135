"""The thing that an English phrase names, so that it is one key however it is told."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.english_rule import any_word

_ARTICLE = re.compile(rf"^{any_word('an? the my our some another new to learning how_to')} ", re.IGNORECASE)
_TAIL = re.compile(
    r" {}$".format(
        any_word(r"""
            a_lot so_much very_much these_days right_now now anymore any_more at_the_moment again though too
            since_\w+ next_\w+ this_\w+ tomorrow tonight for_\w+_(?:years?|months?) more_than_anything
            as_a_hobby someday one_day after_all recently lately btw in_(?:may|june|july|march|april)
        """)
    ),
    re.IGNORECASE,
)
_DOING = re.compile(
    r"^(?:(?:going|go) (?:to )?|(?:play|do|practic|learn|tak|drink|eat|watch|read|study)(?:ing|e)? |to )"
    r"(?:the |my |a )?",
    re.IGNORECASE,
)
_MY = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)
_DOUBLES = re.compile(r"^[^aeiou]*[aeiou][bdgmnprt]$")


def thing(text: str) -> str:
    """The thing itself: no article before it, no "a lot" behind it."""
    bare = text.strip(" .!,")
    while (cut := _TAIL.sub("", _ARTICLE.sub("", bare))) != bare:
        bare = cut
    return bare


def activity(what: str, verb: str) -> str:
    """What someone does: drink coffee is coffee, run is running, going to the gym is gym."""
    named = thing(_DOING.sub("", thing(what))).lower()
    if named or not verb:
        return named
    base = verb.lower()
    if base.endswith("e"):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if _DOUBLES.match(base) else f"{base}ing"


def told(words: str) -> str:
    """The words as someone else says them of the user, without what is only true on the day."""
    text = words.strip(" .!,")
    while (cut := _TAIL.sub("", text)) != text:
        text = cut
    return _MY.sub("their", text)
