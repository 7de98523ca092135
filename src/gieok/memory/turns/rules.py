"""Rules of turn memory: which keywords match a query, and what is not a summary. Pure functions."""

from __future__ import annotations

from functools import lru_cache

from gieok.errors import InputRefused
from gieok.text import normalize, terms, words

MAX_TOP_K = 1_000
MAX_QUERY_CHARS = 20_000
_SYLLABLE_SCRIPTS = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7a3"))


@lru_cache(maxsize=8_192)
def match_terms(text: str) -> frozenset[str]:
    """The terms by which keywords match queries. A text of only stop words is one term."""
    found = frozenset(terms(text))
    whole = normalize(text)
    return found or (frozenset((whole,)) if whole else frozenset())


@lru_cache(maxsize=8_192)
def long_words(keyword: str) -> frozenset[str]:
    """The words of a keyword that are longer than a stem, so that a prefix can match them."""
    return frozenset(word for word in words(keyword) if len(word) > stem_length(word))


def query_stems(query: str) -> frozenset[str]:
    """The words of a query that may match as a prefix: long enough, and no stop words."""
    return frozenset(word for word in words(query) if len(word) >= stem_length(word) and terms(word))


def stem_length(word: str) -> int:
    """The shortest prefix that may match: two syllables, or three letters."""
    return 2 if any(low <= word[0] <= high for low, high in _SYLLABLE_SCRIPTS) else 3


def matches_whole(keyword: str, query_terms: frozenset[str]) -> bool:
    """Whether the keyword shares a whole word with the query."""
    return not query_terms.isdisjoint(match_terms(keyword))


def matches_part(keyword: str, stems: frozenset[str]) -> bool:
    """Whether a word of the query is a proper prefix of a word of the keyword: `cat` of `category`."""
    return any(
        word.startswith(stem) for word in long_words(keyword) for stem in stems if len(word) > len(stem)
    )


def check_search(query: str, top_k: int) -> None:
    """Refuse an invalid `top_k` or a query that is too long."""
    if not 1 <= top_k <= MAX_TOP_K:
        raise InputRefused(f"must be between 1 and {MAX_TOP_K}", at="topK")
    if len(query) > MAX_QUERY_CHARS:
        raise InputRefused(
            f"may have at most {MAX_QUERY_CHARS} characters, and this one has {len(query)}", at="query"
        )


def is_copy(summary: str, original: str) -> bool:
    """Whether the summary is the original itself, or contains all of a longer original."""
    condensed, source = normalize(summary), normalize(original)
    return bool(source) and (condensed == source or (len(source) >= 40 and source in condensed))
