"""The terms of a text: what the index stores, and what a query looks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from gieok.text.hangul import SYLLABLE
from gieok.text.korean.morphemes import Entry, entries
from gieok.text.korean.names import unknown_name
from gieok.text.normalization import clean, fold
from gieok.text.scan import Unit, scan

ANALYZER_VERSION: int = 7
"""Raised whenever `terms` changes its result for any text, or an index stores more of it. An index of another
version is rebuilt in the background."""

_CACHED_LENGTH = 64
_CACHED_ENTRIES = 8
_JOINED_MAX = 32
# Of a run without any break only the beginning is read: it is noise, and must not cost seconds.
_RUN_MAX = 4096
_LONG_RUN = re.compile(rf"[^\s。、]{{{_RUN_MAX + 1},}}")
_CAPITALS = re.compile(r"(?<![A-Za-z])[A-Z]{2,}(?![A-Za-z])")
_LOWER = re.compile(r"[a-z]")

_NOUNS = frozenset({"NNG", "NNP", "NR", "SH", "UNKNOWN"})
_STEMS = frozenset({"VV", "VA", "XR"})
_WORDLESS = ("J", "E", "VX", "VC", "XS", "S")
_JOINING = _NOUNS | {"NNBC", "XPN", "XSN", "XR"}

# Verbs and nouns that occur in any text, whatever it is about.
_KOREAN_STOP_WORDS = """
    하 되 있 없 이 아니 같 그러 이러 저러 어쩌 그렇 이렇 저렇 어떻 어떠하 않 못하 말
    대하 위하 관하 의하 통하 따르 인하 때 얼마 등 중
"""
_STOP_WORDS = frozenset(_KOREAN_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """The terms of `text`, in order, with repetitions; the same for a document, a keyword and a query.

    Korean gives nouns, verb and adjective stems and roots without particles and endings; a compound, or a run
    of nouns in one word, gives the whole and its parts (영화관: 영화관, 영화, 관). English gives stems
    (Snowball) without stop words; a word in capitals in a text that is not (`IT 스타트업`) is an acronym, and
    kept. Numbers, emoji and addresses are terms; Han and kana give pairs of characters; laughter (ㅋㅋ) gives
    none.

    Of a run of more than 4,096 characters without a break only the beginning is read.
    """
    return list(_read(text).terms)


def words(text: str) -> list[str]:
    """The words of `text` in order, as written but normalised: for prefixes and phrases.

    A Korean word has no particles and endings (면접에서: 면접, 떨렸어: 떨리), an English word is not stemmed.
    Stop words are kept. Of a run of more than 4,096 characters only the beginning is read.
    """
    return list(_read(text).words)


class _Reading(NamedTuple):
    """Both results of an analysis: callers often need both, and the analysis is what takes time."""

    terms: tuple[str, ...]
    words: tuple[str, ...]


def _read(text: str) -> _Reading:
    return _read_short(text) if len(text) <= _CACHED_LENGTH else _analyse(text)


@lru_cache(maxsize=4096)
def _read_short(text: str) -> _Reading:
    return _analyse(text)


def _analyse(text: str) -> _Reading:
    cleaned = clean(_LONG_RUN.sub(lambda run: run[0][:_RUN_MAX], text))
    all_terms: list[str] = []
    all_words: list[str] = []
    for run in _runs(_units(fold(cleaned), _acronyms(cleaned))):
        name = _joined(run) if len(run) > 1 else []
        all_terms += name
        for unit in run:
            all_terms += unit.terms
        all_words += name or [unit.word for unit in run if unit.word]
    return _Reading(tuple(all_terms), tuple(all_words))


def _acronyms(cleaned: str) -> frozenset[str]:
    """The words in capitals, folded; none in a text that is all in capitals, unless it is a single word."""
    capitals = _CAPITALS.findall(cleaned)
    if not capitals:
        return frozenset()
    all_capitals = " " in cleaned and not _LOWER.search(cleaned) and not SYLLABLE.search(cleaned)
    return frozenset() if all_capitals else frozenset(word.lower() for word in capitals)


def _units(normal: str, acronyms: frozenset[str]) -> list[Unit]:
    units = list(scan(normal, acronyms))
    if SYLLABLE.search(normal):
        for start, word in _korean_words(entries(normal)):
            read = _read_short_word if len(word) <= _CACHED_ENTRIES else _word_units
            for begin, end, its_terms, its_word, joins in read(word):
                units.append(Unit(start + begin, start + end, its_terms, its_word, joins))
        units.sort(key=attrgetter("start"))
    return units


def _korean_words(found: Iterable[tuple[Entry, int, int]]) -> Iterator[tuple[int, tuple[Entry, ...]]]:
    """Group adjacent entries with Hangul syllables into words, each with its start; jamo separate."""
    word: list[Entry] = []
    word_start = word_end = 0
    for entry, start, end in found:
        if word and start != word_end:
            yield word_start, tuple(word)
            word = []
        if entry.has_syllable:
            if not word:
                word_start = start
            word.append(entry)
            word_end = end
    if word:
        yield word_start, tuple(word)


def _word_units(word: tuple[Entry, ...]) -> tuple[Unit, ...]:
    """The units of a Korean word, with positions relative to its start."""
    units: list[Unit] = []
    end = 0
    for entry in word:
        start, end = end, end + len(entry.surface)
        units.append(_unit(entry, start, end))
    name = unknown_name(word)
    if name is None or any(name in unit.terms for unit in units):
        return tuple(units)
    if all(unit.joins for unit in units):
        return (*units, Unit(end, end, (name,), "", False))
    return (*(unit._replace(word="") for unit in units), Unit(end, end, (name,), name, False))


_read_short_word = lru_cache(maxsize=4096)(_word_units)


def _unit(entry: Entry, start: int, end: int) -> Unit:
    content: list[str] = []
    if entry.tag in _NOUNS or (entry.tag in _STEMS and not entry.parts):
        content.append(entry.surface)
    content += [form for form, tag in entry.parts if tag in _NOUNS or tag in _STEMS]
    kept = tuple(term for term in content if term not in _STOP_WORDS and SYLLABLE.search(term))
    joins = entry.tag in _JOINING and entry.surface != "들"
    form, tag = entry.parts[0] if entry.parts and not joins else (entry.surface, entry.tag)
    word = form if joins or not tag.startswith(_WORDLESS) else ""
    return Unit(start, end, kept, word, joins)


def _runs(units: list[Unit]) -> Iterator[list[Unit]]:
    """Group adjacent units that may form one name."""
    run: list[Unit] = []
    for unit in units:
        if run and not (unit.joins and run[-1].joins and run[-1].end == unit.start):
            yield run
            run = []
        run.append(unit)
    if run:
        yield run


def _joined(run: list[Unit]) -> list[str]:
    """The name that the nouns of `run` form together; none without a Korean word."""
    name = "".join(unit.word for unit in run)
    return [name] if len(name) <= _JOINED_MAX and SYLLABLE.search(name) else []
