"""What a message takes back of what is known: a jest that is owned up to, a denial."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gieok.adapters.models.offline.found import Found
from gieok.memory.canon.records import Fact
from gieok.memory.observations import Category
from gieok.text import normalize, terms

# The whole message, so that a joke which the user tells of takes nothing back. Each character can be read in
# one way only: people laugh by the line, and two ways for each ㅋ would take longer than anybody waits.
_JEST = re.compile(
    r"(?:아니야?|아냐|아|에이|사실은?|야|헐|근데|방금|그거|그건|그|위에|다|말|한 건|[ㅋㅎ\s.,!~…^])*+"
    r"(?:농담|뻥|장난|거짓말|구라)"
    r"(?:이야|이었어요?|이에요|이지롱?|임|이다|입니다|였어요?|야|친 거야|이었습니다)?"
    r"[\sㅋㅎㅠ!.~^…]*"
    r"|(?:(?:nope|no|nah|haha+|lol|ok(?:ay)?|hey|wait|actually|sorry|oh),?[.!\s]*+)*+"
    r"(?:(?:i['’]?m|i am|i was|that was|it was|it['’]s) )?(?:just |only |totally )?"
    r"(?:kidding|joking|jk|messing with you|pulling your leg|an? joke|lying)"
    r"(?: (?:lol|haha+|around|you))*+[\s.!,:;)]*+(?:lol|haha+)?[\s.!]*",
    re.IGNORECASE,
)


def owns_up(text: str) -> bool:
    """Whether the message says only that the last one was a jest: 아니 농담이야 ㅋㅋ, just kidding!"""
    return _JEST.fullmatch(text.strip()) is not None


def taken_back(denied: Iterable[Found], known: Sequence[Fact]) -> list[Found]:
    """The known facts that these would state, to be retracted; whoever denies may say less than was stated.

    A goal is given up by its key alone, whatever words it was set in.
    What was stated in the same breath falls with it where it says no more: 강릉 with 강릉으로 이사함.
    """
    held = [
        fact
        for claim in denied
        for fact in known
        if not claim.retracts
        and (fact.category, normalize(fact.key)) == (claim.category, normalize(claim.key))
        and (fact.category is Category.GOAL or _says_no_more(claim.value, fact.value))
    ]
    together = [
        fact
        for fact in known
        if any(fact.valid_from == one.valid_from and _says_no_more(fact.value, one.value) for one in held)
    ]
    fallen = {(fact.category, fact.key): fact for fact in (*held, *together)}
    return [Found(fact.category, fact.key, fact.value, retracts=True) for fact in fallen.values()]


def _says_no_more(claim: str, value: str) -> bool:
    """Whether every word of the claim is in the value."""
    return set(terms(claim)) <= set(terms(value)) and bool(terms(claim))
