"""What a query asks for: its words and what else they may have meant, who it is about, and when it was."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, pairwise
from typing import NamedTuple

from gieok.memory.companion.rules import check_query
from gieok.memory.companion.store import MemoryIndex
from gieok.memory.companion.terms import speaker_mark
from gieok.text import (
    Period,
    hangul_names,
    joined_terms,
    one_edit_away,
    other_script_terms,
    split_words,
    terms,
    time_mentions,
    words,
)

GUESSED = 0.5
"""A word that was not asked for, but may have been meant, counts so much."""
_WORDS_SHOWN = 256
# How people ask whatever they ask about: terms of a text, but not of a question that has others.
_ASKING = re.compile("(?:무슨|어떤|어느) ?(?:일|것|거|때|곳)")
_ASKED_ALWAYS = frozenset(
    {"happen", "say", "tell", "talk", "mention", "rememb", "말하", "얘기", "이야기", "기억나", "기억"}
)
_GUESSED_WORDS = 4
_SPELLINGS = 192


class Query(NamedTuple):
    """A question as it was asked."""

    text: str
    words: Mapping[str, str]
    """Its terms, each with the word that it came from, for people to read."""
    joined: Mapping[str, str]
    """What neighbouring words make where they are written as one."""
    spelled: Mapping[str, str]
    """What its words may be in the other script, Hangul or Latin letters."""
    periods: tuple[Period, ...]


class Understood(NamedTuple):
    """What an index knows of a query."""

    words: Mapping[str, str]
    rarity: Mapping[str, int]
    """How many memories have each word or mark."""
    guessed: frozenset[str]
    """The words that were not asked for, but stand for one that was."""


def read_query(text: str, now: datetime) -> Query:
    """InputRefused for one that cannot be meant. Of a very long query the later words are shown as terms."""
    check_query(text)
    times, rest = time_mentions(text, now)
    said = _ASKING.sub(" ", rest)
    read = words(said)[:_WORDS_SHOWN]
    came_from: dict[str, str] = {}
    for word in read:
        for term in terms(word):
            came_from.setdefault(term, word)
    asked = {term: came_from.get(term, term) for term in terms(said)}
    telling = {term: word for term, word in asked.items() if term not in _ASKED_ALWAYS}
    together = {
        term: f"{one} {two}"
        for one, two in pairwise(read)
        for term in joined_terms(one, two)
        if term not in asked
    }
    meant = telling or ({} if times else asked)
    spelled = dict(islice(_spelled(meant, read), _SPELLINGS))
    return Query(text, meant, together, spelled, times)


def understand(index: MemoryIndex, query: Query, marks: Collection[str]) -> Understood:
    """Ask the index which words it knows, and in the place of one that it does not, which may be meant."""
    otherwise = {**query.joined, **query.spelled}
    rarity = dict(index.rarity({*query.words, *otherwise, *marks}))
    guessed = {term: word for term, word in otherwise.items() if term in rarity and term not in query.words}
    unknown = [term for term in query.words if term not in rarity][:_GUESSED_WORDS]
    ways = {term: list(_ways(term, query.words[term])) for term in unknown}
    near = {part for readings in ways.values() for way in readings for part in way} - rarity.keys()
    rarity.update(index.rarity(near) if near else {})
    for term, readings in ways.items():
        known = [way for way in readings if all(part in rarity for part in way)]
        likeliest = max(known, key=lambda way: min(rarity[part] for part in way), default=())
        guessed |= {part: query.words[term] for part in likeliest if part not in query.words}
    asked = {term: word for term, word in query.words.items() if term in rarity}
    return Understood(asked | guessed, rarity, frozenset(guessed))


def named_speakers(index: MemoryIndex, query: Query) -> frozenset[str]:
    """The terms of the query that are somebody's name who speaks in the memories."""
    marks = {speaker_mark(term): term for term in query.words}
    return frozenset(marks[mark] for mark in index.rarity(marks.keys()))


def without_names(text: str, names: Collection[str]) -> str:
    """What is asked about somebody, without who it is: a memory's text seldom names its own speaker, and a
    name in the query would lead to the memories in which somebody else calls it."""
    said = ((word, terms(word)) for word in text.split())
    return " ".join(word for word, found in said if not found or not all(term in names for term in found))


def _spelled(asked: Mapping[str, str], read: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each spelling in the other script, with the word it is of.

    A Korean word is spelled without its particles, one in Latin letters as it was written, not as its stem.
    """
    for term, word in asked.items():
        yield from ((spelling, word) for spelling in other_script_terms(word if term.isascii() else term))
    for one, two in pairwise(read):
        yield from ((name, f"{one} {two}") for name in hangul_names(one, two))


def _ways(term: str, word: str) -> Iterator[tuple[str, ...]]:
    """The terms that may be meant by a word that the index does not know."""
    yield from ((slip,) for slip in one_edit_away(term))
    yield from (parts for parts in split_words(word) if len(parts) > 1)
