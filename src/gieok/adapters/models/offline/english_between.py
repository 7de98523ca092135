"""Between the user and the persona, from English: what they have become, and what was promised."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.analysis import Utterance
from gieok.adapters.models.offline.english_clause import clauses_of
from gieok.adapters.models.offline.found import Found
from gieok.memory.observations import Category

_STANDS = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), value)
    for pattern, value in (
        # Each in words that were said: a value that no one said does not stand.
        (r"let'?s break up", "decided to break up"),
        (r"(?:let'?s get|we(?:'re| are)) back together(?! with)", "back together"),
        (r"we(?:'re| are) (?:done|over)", "parted"),
        (
            r"i(?:'m| am) (?:really |so |very )?(?:upset|mad|angry|disappointed) (?:with|at|in) you"
            r"|you hurt me",
            "the user feels hurt",
        ),
        (
            r"i forgive you|we(?:'re| are) (?:good|okay|fine) (?:now|again)"
            r"|i(?:'m| am) not (?:mad|angry|upset) (?:at|with) you anymore",
            "made up with each other",
        ),
        (
            r"(?:let'?s (?:start )?|we(?:'re| are) (?:officially |now )?)"
            r"(?:date|dating)(?=[.!]*$| now| again)",
            "dating each other",
        ),
        (
            r"we(?:'re| are) (?:officially |now )?(?:a couple|together)"
            r"|i(?:'ll| will) be your (?:girl|boy)friend",
            "became a couple",
        ),
        (r"we(?:'re| are) (?:now |officially )?(?:best )?friends", "became friends"),
    )
)
_PROMISE = re.compile(r"^i promise(?: you)?(?: that)?,? (?:i will |to )(?P<what>.+)$", re.IGNORECASE)


def english_between_us(utterance: Utterance) -> list[Found]:
    """How the two stand by now, if a sentence says so. A question settles nothing."""
    found: list[Found] = []
    for sentence in utterance.sentences:
        text = sentence.text.replace("’", "'")
        value = (
            "" if sentence.asks else next((value for pattern, value in _STANDS if pattern.search(text)), "")
        )
        found += [Found(Category.RELATIONSHIP, "us", value, extra=1)] if value else []
    return found


def english_agreed(utterance: Utterance) -> list[Found]:
    """What the one who answers promises."""
    matches = (
        _PROMISE.match(clause)
        for sentence in utterance.informative
        if not sentence.asks
        for clause in clauses_of(sentence.text)
    )
    what = [match["what"] for match in matches if match]
    return [
        Found(Category.RELATIONSHIP, f"promise:{each.lower()}", f"promised to {_of_the_user(each)}")
        for each in what
    ]


def _of_the_user(words: str) -> str:
    """In the mouth of the one who answers, "you" is the user."""
    return re.sub(r"\byou\b", "the user", re.sub(r"\byour\b", "the user's", words))
