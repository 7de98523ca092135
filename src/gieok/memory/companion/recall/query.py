"""Index terms of memories, and the terms, periods and speakers of a query.

Besides words, rows have marks: for the names of their speaker, for a question, and for a reply of the
assistant. A mark is a term that no text contains, so that one index serves both and reveals no more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gieok.memory.companion.records import Memory
from gieok.memory.companion.rules import check_query
from gieok.text import (
    Period,
    hangul_names,
    is_question,
    joined_terms,
    one_edit_away,
    other_script_terms,
    split_words,
    terms,
    time_mentions,
    words,
)

if TYPE_CHECKING:
    from gieok.memory.companion.store import PersonaIndex
    from gieok.ranking import Match

_MARK = "\x1f"
QUESTION_MARK = f"{_MARK}question"
"""The mark of memories that ask rather than tell."""
_QUESTION_CHARS = 160
"""A longer text that ends with a question also tells something: people explain first, and ask at the end."""
REPLY_MARK = f"{_MARK}reply"
"""The mark of messages of the assistant, where the speakers have no names."""
_WORDLESS = "\x1e"
"""The term of a text without any other, such as 아직 or "yes". It counts as a word: rows without words are
not searched, and such a reply is found by the question that it answers."""
ALTERNATIVE_WEIGHT = 0.5
"""Weight of a term that is not in the query, but an alternative spelling of one that is."""
NEAR_WEIGHT = 0.3
"""Weight of a term that is not in the query, but near in meaning to one that is, times their cosine."""
_MAX_WORDS = 256
# Phrases of asking in general. They are ignored in a query that has other terms.
_ASKING_PHRASE = re.compile("(?:무슨|어떤|어느) ?(?:일|것|거|때|곳)")
_ASKING_TERMS = frozenset(
    {"happen", "say", "tell", "talk", "mention", "rememb", "말하", "얘기", "이야기", "기억나", "기억"}
)
# The question asks how something was, so that a newer statement is no better an answer.
_ASKS_PAST = re.compile(
    r"\b(?:did|was|were|had|used to|first|originally|before|back then|ever)\b|원래|처음|예전|옛날|전에|그때",
    re.IGNORECASE,
)
# The question asks what the assistant said.
_ASKS_REPLY = re.compile(
    r"\b(?:did|have|had|would|could|were) you\b|\byou (?:said|told|promised|recommend|suggest|mention|gave)"
    r"|네가|너가|니가|당신이|약속",
    re.IGNORECASE,
)
_ALTERNATIVES_FOR = 4
_MAX_SPELLINGS = 192


class NearWords(Protocol):
    """Words that are near in meaning, by a model on this machine."""

    def near(self, terms: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        """Terms that are near each of these terms, with their cosine. Unknown terms are left out.

        It may read files on first use. Thread-safe.
        """
        ...


class NearWordsServices(Protocol):
    """Services of the steps that search by meaning without vectors."""

    @property
    def near_words(self) -> NearWords | None: ...


class Query(NamedTuple):
    """A parsed query."""

    text: str
    words: Mapping[str, str]
    """Its terms, each with the word that it came from, for display."""
    joined: Mapping[str, str]
    """Terms of adjacent words written as one word."""
    spelled: Mapping[str, str]
    """Spellings of its words in the other script, Hangul or Latin letters."""
    periods: tuple[Period, ...]
    dated: frozenset[str]
    """The terms that only name the periods."""
    is_about_now: bool
    """Whether the latest statement is the answer: no time is named, and no word of the past."""
    is_about_reply: bool
    """Whether it asks what the assistant said."""
    near: Mapping[str, Mapping[str, float]]
    """Terms that are near in meaning to its terms, with their cosine."""


class NearTerm(NamedTuple):
    """A term that is near in meaning to a term of the query."""

    cosine: float
    of: str
    """The term of the query."""


class QueryTerms(NamedTuple):
    """The terms of a query that an index contains."""

    words: Mapping[str, str]
    """Each with the word of the query that it came from."""
    matches: Mapping[str, Match]
    """The memories that contain each term."""
    alternatives: frozenset[str]
    """The terms that are not in the query, but alternative spellings of one that is."""
    near: Mapping[str, NearTerm]
    """The terms that are not in the query, but near in meaning to one that is."""

    def weight(self, term: str) -> float:
        """The weight of a term. A term of the query has 1."""
        if term in self.near:
            return NEAR_WEIGHT * self.near[term].cosine
        return ALTERNATIVE_WEIGHT if term in self.alternatives else 1.0

    def frequency(self, term: str) -> int:
        """How many rows contain a term. A near one counts as no rarer than the term that it is near."""
        match = self.matches.get(term)
        rows = 0 if match is None else len(match.rows)
        return max(rows, self.frequency(self.near[term].of)) if term in self.near else rows


def parse_query(text: str, now: datetime) -> Query:
    """Parse a query. InputRefused if it is too long. Words after the first 256 are displayed as terms."""
    check_query(text)
    times, rest, timeless = time_mentions(text, now)
    said = _ASKING_PHRASE.sub(" ", rest)
    read = words(said)[:_MAX_WORDS]
    came_from: dict[str, str] = {}
    for word in read:
        for term in terms(word):
            came_from.setdefault(term, word)
    asked = {term: came_from.get(term, term) for term in terms(said)}
    telling = {term: word for term, word in asked.items() if term not in _ASKING_TERMS}
    together = {
        term: f"{one} {two}"
        for one, two in pairwise(read)
        for term in joined_terms(one, two)
        if term not in asked
    }
    meant = telling or ({} if times else asked)
    spelled = dict(islice(_spellings(meant, read), _MAX_SPELLINGS))
    dated = frozenset(meant) - frozenset(terms(timeless)) if times else frozenset[str]()
    is_about_now = not times and _ASKS_PAST.search(text) is None
    is_about_reply = _ASKS_REPLY.search(text) is not None
    return Query(text, meant, together, spelled, times, dated, is_about_now, is_about_reply, near={})


def look_up_terms(index: PersonaIndex, query: Query) -> QueryTerms:
    """Look up which terms the index contains. A missing term is replaced by its most frequent alternative:
    one edit away, or split into words. Terms that are near in meaning are added."""
    other = {**query.joined, **query.spelled}
    spellings = {term: word for term, word in other.items() if term not in query.words}
    matches = index.find([*query.words, *spellings])
    alternatives = {term: word for term, word in spellings.items() if term in matches}
    missing = [term for term in query.words if term not in matches][:_ALTERNATIVES_FOR]
    edits = {term: one_edit_away(term) for term in missing}
    splits = {term: [parts for parts in split_words(query.words[term]) if len(parts) > 1] for term in missing}
    matches |= index.find([edited for each in edits.values() for edited in each])
    matches |= index.find([part for each in splits.values() for parts in each for part in parts])
    for term in missing:
        indexed = [(edited,) for edited in edits[term] if edited in matches]
        indexed += [
            parts for parts in splits[term] if len(parts) > 1 and all(part in matches for part in parts)
        ]
        best = max(indexed, key=lambda option: min(len(matches[part].rows) for part in option), default=())
        alternatives |= {part: query.words[term] for part in best if part not in query.words}
    words = {term: word for term, word in query.words.items() if term in matches} | alternatives
    near = _near_terms(query, known=words)
    matches |= index.find(list(near))
    near = {term: found for term, found in near.items() if term in matches}
    words |= {term: query.words[found.of] for term, found in near.items()}
    return QueryTerms(words, {term: matches[term] for term in words}, frozenset(alternatives), near)


def _near_terms(query: Query, known: Collection[str]) -> dict[str, NearTerm]:
    """The terms near in meaning to those of the query, each by the one that it is nearest to."""
    best: dict[str, NearTerm] = {}
    for of, near in query.near.items():
        for term, cosine in near.items():
            if term not in query.words and term not in known:
                best[term] = max(best.get(term, NearTerm(0.0, of)), NearTerm(cosine, of))
    return best


def find_speakers(index: PersonaIndex, names: Iterable[str]) -> Mapping[str, Match]:
    """The memories of each speaker whose name contains one of these terms."""
    marks = {_speaker_mark(name): name for name in names}
    return {marks[mark]: match for mark, match in index.find(list(marks)).items()}


def without_names(text: str, names: Collection[str]) -> str:
    """The query without the names of speakers, for the embedder. The text of a memory seldom contains its own
    speaker's name, so a name would favour memories in which others mention it."""
    analyzed = ((word, terms(word)) for word in text.split())
    return " ".join(word for word, found in analyzed if not found or not all(term in names for term in found))


def _spellings(asked: Mapping[str, str], read: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Spellings in the other script, each with its word.

    A Korean word is transliterated without its particles, a Latin one as written, not as its stem.
    """
    for term, word in asked.items():
        yield from ((spelling, word) for spelling in other_script_terms(word if term.isascii() else term))
    for one, two in pairwise(read):
        yield from ((name, f"{one} {two}") for name in hangul_names(one, two))


def memory_terms(memory: Memory) -> list[str]:
    """The index terms of a memory: of its text, topics, tags and speaker, and its marks."""
    return spoken_terms(memory.summary, memory.speaker) + label_terms((*memory.topics, *memory.tags))


def spoken_terms(text: str, speaker: str | None, *, is_reply: bool = False) -> list[str]:
    """The index terms of what somebody said: of the text and the speaker's name, and its marks.

    `is_reply` is for a message of the assistant. Where speakers have names, their names tell them apart.
    """
    names = terms(speaker) if speaker else []
    marks = [_speaker_mark(name) for name in dict.fromkeys(names)]
    if is_question(text) and len(text) <= _QUESTION_CHARS:
        marks.append(QUESTION_MARK)
    if is_reply and not names:
        marks.append(REPLY_MARK)
    return [*(terms(text) or [_WORDLESS]), *names, *marks]


def label_terms(labels: Iterable[str]) -> list[str]:
    """The index terms of words that describe a row."""
    return [term for label in labels for term in terms(label)]


def word_count(found: Iterable[str]) -> int:
    """How many of these terms are words. Marks do not count as length."""
    return sum(not term.startswith(_MARK) for term in found)


def _speaker_mark(term: str) -> str:
    return f"{_MARK}speaker{_MARK}{term}"
