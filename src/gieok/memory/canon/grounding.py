"""What was really said in a turn, and which extracted facts stand on it: pure functions.

A model that extracts facts also sees what the prompt put into the reply: recalled memories, the state block,
a block that the user pasted. None of that is news. A fact counts only where its words were said in the turn.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gieok.memory.blocks import DIRECTIVES, HEADERS
from gieok.memory.canon.records import Category, ExtractedFact, Fact, Provenance
from gieok.memory.canon.rules import normal_key
from gieok.text import normalize, terms
from gieok.text.normalization import clean

_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HEADER = "|".join(re.escape(header) for header in HEADERS)
_FACT = rf"[-*•] ?\((?:{'|'.join(Category)})\)"
_ROLE = r"^(?:system|assistant|user) ?:"
_PASTED = re.compile(f"(?P<header>{_HEADER})|{_FACT}|{_ROLE}", re.IGNORECASE)
_BULLET = re.compile(r"[-*•]|$")
_TAGGED = re.compile(r"[<＜](?P<role>system|assistant|user)[>＞].*?(?:[<＜]/(?P=role)[>＞]|\Z)", re.I | re.S)
# A mail quotes with >, a face such as >_< does not.
_CITED = re.compile(r">(?!.{0,3}<)")
_ENDS = ".!?…\n"
_THEN_QUOTED = re.compile(rf"[{_ENDS}]{{1,8}}[\"'”’」]?\s{{0,8}}(?=이?라(?:고|는)\s)")


@dataclass(frozen=True)
class Said:
    """The words of one turn, and beside them those of the prompt."""

    by_user: frozenset[str]
    by_reply: frozenset[str]
    """What the reply added: not the words that it was told."""
    told: tuple[frozenset[str], ...]
    """The words of each text that the prompt held."""
    user_text: str
    """What the user said, in the form in which texts are compared."""


def own_words(text: str) -> str:
    """`text` without what is not the speaker's own.

    Pasted from a prompt: blocks, their lines and directives, whatever has a role. Quoted: lines that begin
    with `>`, and a sentence that the next one quotes (…했어. 라고 쓰여 있더라).
    """
    return "\n".join(_own_lines(_BREAKS.split(_unquoted(_TAGGED.sub("", text))))).strip()


def said_in(message: str, reply: str, told: Iterable[str]) -> Said:
    """The words of a turn; `told` are the texts that the prompt held beside it."""
    texts = tuple(frozenset(terms(text)) for text in told)
    new = frozenset(terms(reply)).difference(*texts)
    return Said(frozenset(terms(message)), new, texts, normalize(message))


def grounded(
    found: Sequence[ExtractedFact],
    said: Said,
    known: Sequence[Fact],
    *,
    from_reply: Collection[Category],
    min_grounding: float,
) -> list[ExtractedFact]:
    """The facts that this turn states, one for each key (the last one found counts).

    Where a fact comes from is decided here, not by the extractor: the user's words alone, or, in the
    categories of `from_reply`, theirs and the reply's together. A retraction counts where it names a known
    fact, by the reply only in those categories too: `그 목표는 포기했어` need not repeat the goal.
    """
    active = {_identity(fact) for fact in known}
    kept: dict[tuple[Category, str], ExtractedFact] = {}
    for fact in found:
        origin = (
            _retracted_by(fact, active, from_reply)
            if fact.retracts
            else _origin(fact, said, from_reply, min_grounding)
        )
        if origin is not None:
            kept.pop(_identity(fact), None)
            kept[_identity(fact)] = fact.model_copy(update={"provenance": origin})
    return list(kept.values())


def most_important(facts: Sequence[ExtractedFact], limit: int) -> tuple[ExtractedFact, ...]:
    """At most `limit` facts: the most important ones, as they were found."""
    chosen = sorted(range(len(facts)), key=lambda place: (-facts[place].importance, place))[:limit]
    return tuple(facts[place] for place in sorted(chosen))


def _identity(fact: ExtractedFact | Fact) -> tuple[Category, str]:
    return fact.category, normal_key(fact.key)


def _retracted_by(
    fact: ExtractedFact, active: Collection[tuple[Category, str]], from_reply: Collection[Category]
) -> Provenance | None:
    allowed = fact.provenance == "user" or fact.category in from_reply
    return fact.provenance if allowed and _identity(fact) in active else None


def _origin(
    fact: ExtractedFact, said: Said, from_reply: Collection[Category], min_grounding: float
) -> Provenance | None:
    wanted = _words(fact.value)
    if not wanted:  # no word at all, such as a sign: it must stand there as it is
        return "user" if normalize(fact.value) in said.user_text else None
    if _stands_on(said.by_user, wanted, said, min_grounding):
        return "user"
    if fact.category in from_reply and _stands_on(said.by_user | said.by_reply, wanted, said, min_grounding):
        return "model"
    return None


def _words(value: str) -> list[frozenset[str]]:
    """The terms of each word. Words are read in their context: alone, an ending may pass for a noun."""
    in_context = frozenset(terms(value))
    return [found for word in value.split() if (found := in_context.intersection(terms(word)))]


def _stands_on(
    words: frozenset[str], wanted: Sequence[frozenset[str]], said: Said, min_grounding: float
) -> bool:
    """Enough of it was said, and what was not said is not simply one of the texts of the prompt."""
    share = _share(wanted, words)
    return share >= min_grounding and (share == 1 or all(_share(wanted, text) < 1 for text in said.told))


def _share(wanted: Sequence[frozenset[str]], words: frozenset[str]) -> float:
    """How many of the wanted words are there. A word is there with any of its terms: 영화관 with 영화."""
    return sum(not words.isdisjoint(word) for word in wanted) / len(wanted)


def _unquoted(text: str) -> str:
    kept: list[str] = []
    at = 0
    for quoted in _THEN_QUOTED.finditer(text):
        begins = max(text.rfind(end, at, quoted.start()) for end in _ENDS) + 1
        kept.append(text[at : max(at, begins)])
        at = quoted.end()
    return "".join((*kept, text[at:]))


def _own_lines(lines: Iterable[str]) -> Iterator[str]:
    in_block = False
    for line in lines:
        seen = clean(line)
        pasted = _PASTED.search(seen)
        if _CITED.match(seen):
            continue
        if pasted:
            in_block = in_block or pasted["header"] is not None
            yield seen[: pasted.start()]
        elif seen not in DIRECTIVES and not (in_block and _BULLET.match(seen)):
            in_block = False
            yield line
