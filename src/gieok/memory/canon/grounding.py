"""Grounding: keep only extracted facts whose words were said in this turn. Pure functions.

A reply also repeats what the prompt contained (recalled memories, the state block), and users paste blocks.
None of that is new, so it must not be extracted again as if the user had said it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gieok.memory.blocks import DIRECTIVES, HEADERS
from gieok.memory.canon.records import ExtractedFact, Fact, Provenance
from gieok.memory.canon.rules import normal_key
from gieok.memory.observations import Category
from gieok.text import normalize, terms
from gieok.text.normalization import clean

_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HEADER = "|".join(re.escape(header) for header in HEADERS)
_FACT = rf"[-*•] ?\((?:{'|'.join(Category)})\)"
_ROLE = r"^(?:system|assistant|user) ?:"
_PASTED = re.compile(f"(?P<header>{_HEADER})|{_FACT}|{_ROLE}", re.IGNORECASE)
_BULLET = re.compile(r"[-*•]|$")
_TAGGED = re.compile(r"[<＜](?P<role>system|assistant|user)[>＞].*?(?:[<＜]/(?P=role)[>＞]|\Z)", re.I | re.S)
# Mails quote with ">"; an emoticon such as >_< is no quote.
_CITED = re.compile(r">(?!.{0,3}<)")
_ENDS = ".!?…\n"
_THEN_QUOTED = re.compile(rf"[{_ENDS}]{{1,8}}[\"'”’」]?\s{{0,8}}(?=이?라(?:고|는)\s)")


@dataclass(frozen=True)
class TurnWords:
    """The terms of one turn, and those of the prompt."""

    by_user: frozenset[str]
    by_reply: frozenset[str]
    """Terms of the reply that are not in the prompt."""
    by_prompt: tuple[frozenset[str], ...]
    """The terms of each text in the prompt."""
    user_text: str
    """The user's message, normalised."""


def own_words(text: str) -> str:
    """Remove what the speaker pasted or quoted.

    Pasted from a prompt: blocks, their lines and directives, text with a role. Quoted: lines that start with
    `>`, and a sentence that the next one quotes (…했어. 라고 쓰여 있더라).
    """
    return "\n".join(_own_lines(_BREAKS.split(_unquoted(_TAGGED.sub("", text))))).strip()


def turn_words(message: str, reply: str, prompt_texts: Iterable[str]) -> TurnWords:
    """The terms of a turn, and of the other texts in its prompt."""
    by_prompt = tuple(frozenset(terms(text)) for text in prompt_texts)
    by_reply = frozenset(terms(reply)).difference(*by_prompt)
    return TurnWords(frozenset(terms(message)), by_reply, by_prompt, normalize(message))


def grounded(
    found: Sequence[ExtractedFact],
    words: TurnWords,
    known: Sequence[Fact],
    *,
    from_reply: Collection[Category],
    min_grounding: float,
) -> list[ExtractedFact]:
    """The facts that this turn states, one per key (the last one counts).

    The provenance is decided here, not by the extractor: the user's words alone, or, in the categories of
    `from_reply`, those of the user and the reply together. A retraction needs a known fact with its key, but
    not its words: `그 목표는 포기했어` need not repeat the goal.
    """
    active = {_identity(fact) for fact in known}
    kept: dict[tuple[Category, str], ExtractedFact] = {}
    for fact in found:
        origin = (
            _retracted_by(fact, active, from_reply)
            if fact.retracts
            else _origin(fact, words, from_reply, min_grounding)
        )
        if origin is not None:
            kept.pop(_identity(fact), None)
            kept[_identity(fact)] = fact.model_copy(update={"provenance": origin})
    return list(kept.values())


def most_important(facts: Sequence[ExtractedFact], limit: int) -> tuple[ExtractedFact, ...]:
    """The `limit` most important facts, in their original order."""
    chosen = sorted(range(len(facts)), key=lambda index: (-facts[index].importance, index))[:limit]
    return tuple(facts[index] for index in sorted(chosen))


def _identity(fact: ExtractedFact | Fact) -> tuple[Category, str]:
    return fact.category, normal_key(fact.key)


def _retracted_by(
    fact: ExtractedFact, active: Collection[tuple[Category, str]], from_reply: Collection[Category]
) -> Provenance | None:
    allowed = fact.provenance == "user" or fact.category in from_reply
    return fact.provenance if allowed and _identity(fact) in active else None


def _origin(
    fact: ExtractedFact, words: TurnWords, from_reply: Collection[Category], min_grounding: float
) -> Provenance | None:
    wanted = _terms_by_word(fact.value)
    if not wanted:  # no terms, such as an emoji: it must occur literally
        return "user" if normalize(fact.value) in words.user_text else None
    if _is_grounded(wanted, words.by_user, words, min_grounding):
        return "user"
    if fact.category in from_reply and _is_grounded(
        wanted, words.by_user | words.by_reply, words, min_grounding
    ):
        return "model"
    return None


def _terms_by_word(value: str) -> list[frozenset[str]]:
    """The terms of each word, limited to those of the whole value: alone, an ending may look like a noun."""
    in_context = frozenset(terms(value))
    return [found for word in value.split() if (found := in_context.intersection(terms(word)))]


def _is_grounded(
    wanted: Sequence[frozenset[str]], said: frozenset[str], words: TurnWords, min_grounding: float
) -> bool:
    """Whether enough words were said. A fact that is only partly said must not be a whole prompt text."""
    share = _share(wanted, said)
    return share >= min_grounding and (
        share == 1 or all(_share(wanted, text) < 1 for text in words.by_prompt)
    )


def _share(wanted: Sequence[frozenset[str]], words: frozenset[str]) -> float:
    """The share of the wanted words that occur. Any term of a word is enough: 영화 for 영화관."""
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
