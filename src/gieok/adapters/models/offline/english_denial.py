"""An English clause without its denial, which says what it denies."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.english_verbs import past_of

_LEAD = r"^(?:(?:it )?turns out (?:that )?|it is not true that )?"
_NOT_SO = re.compile(
    rf"{_LEAD}(?P<who>i|we)(?: (?P<be>am|are) not| (?P<did>did) not| do not| (?:have )?never| no longer)"
    r" (?P<rest>.+?)(?:,? (?:anymore|any more|any longer|after all|now|actually))*$",
    re.IGNORECASE,
)
# What is denied for a while holds all the same.
_FOR_NOW = re.compile(
    r"\b(?:tonight|yet|this (?:week|weekend|time)|at the moment|for now|these days)\b", re.IGNORECASE
)


def affirmed(clause: str) -> str:
    """`I did not move to Rome` as `I moved to Rome`; empty where the clause denies nothing."""
    match = _NOT_SO.match(clause)
    if match is None or _FOR_NOW.search(clause):
        return ""
    verb, _, rest = match["rest"].partition(" ")
    said = f"{past_of(verb.lower()) if match['did'] else verb} {rest}".strip()
    return " ".join(filter(None, (match["who"], match["be"], said)))
