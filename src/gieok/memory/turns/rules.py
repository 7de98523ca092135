"""Rules of turn memory: which keywords match a query. Pure functions."""

from __future__ import annotations

from functools import lru_cache

from gieok.errors import InputRefused
from gieok.text import normalize, terms, words

MAX_TOP_K = 1_000
MAX_QUERY_CHARS = 20_000
_SYLLABLE_SCRIPTS = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7a3"))


@lru_cache(maxsize=8_192)
def whole_words(text: str) -> frozenset[str]:
    """The terms of whole words: what a keyword and a query must share to match at the first rank.

    A compound counts as one word: 면접관 gives 면접관, and not 면접. A text of only stop words is one term.
    """
    by_word = ((word, terms(word)) for word in words(text))
    found = frozenset(term for word, parts in by_word for term in ((word,) if word in parts else parts))
    whole = normalize(text)
    return found or (frozenset((whole,)) if whole else frozenset())


@lru_cache(maxsize=8_192)
def word_parts(text: str) -> frozenset[str]:
    """The terms under which a partial match is looked up: parts of compounds, pairs of syllables, and the
    first letters of other words. A partial match shares at least one of them."""
    long = [word for word in _content_words(text) if len(word) >= _shortest_part(word)]
    beginnings = (word[: _shortest_part(word)] for word in long if not _has_syllables(word))
    pairs = (word[at : at + 2] for word in long if _has_syllables(word) for at in range(len(word) - 1))
    return frozenset((*(term for term in terms(text) if len(term) > 1), *beginnings, *pairs))


def matches_whole(keyword: str, query: str) -> bool:
    """Whether the keyword shares a whole word with the query."""
    return not whole_words(query).isdisjoint(whole_words(keyword))


def matches_part(keyword: str, query: str) -> bool:
    """Whether the keyword and the query share a part of a word: 대학 and 서울대학교, 영화관 and 영화표, `cat`
    and `category`."""
    shared = set(terms(keyword)).intersection(terms(query))
    return any(len(term) > 1 for term in shared) or any(
        _is_part(of_query, of_keyword)
        for of_query in _content_words(query)
        for of_keyword in _content_words(keyword)
    )


def _content_words(text: str) -> list[str]:
    return [word for word in words(text) if terms(word)]


def _is_part(of_query: str, of_keyword: str) -> bool:
    """Whether one Korean word contains the other, or another word begins with the query's."""
    if _has_syllables(of_query):
        return min(len(of_query), len(of_keyword)) > 1 and (of_query in of_keyword or of_keyword in of_query)
    return len(of_query) >= _shortest_part(of_query) and of_keyword.startswith(of_query)


def _shortest_part(word: str) -> int:
    """The shortest part that may match: two syllables, or three letters."""
    return 2 if _has_syllables(word) else 3


def _has_syllables(word: str) -> bool:
    return any(low <= word[0] <= high for low, high in _SYLLABLE_SCRIPTS)


def check_search(query: str, top_k: int) -> None:
    """Refuse an invalid `top_k` or a query that is too long."""
    if not 1 <= top_k <= MAX_TOP_K:
        raise InputRefused(f"must be between 1 and {MAX_TOP_K}", at="topK")
    if len(query) > MAX_QUERY_CHARS:
        raise InputRefused(
            f"may have at most {MAX_QUERY_CHARS} characters, and this one has {len(query)}", at="query"
        )
