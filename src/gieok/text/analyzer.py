"""The terms of a text: what is indexed, and what a query asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from gieok.text.korean import SYLLABLE, Entry, Found, entries
from gieok.text.names import hidden_name
from gieok.text.normal import clean, fold
from gieok.text.scan import Unit, scan

ANALYZER_VERSION: int = 3
"""Raised whenever `terms` changes its answer for any text, or an index keeps more of it: one made by another
version is made again."""

_CACHED_LENGTH = 64
_CACHED_ENTRIES = 8
_JOINED_MAX = 32
# Of a run without any break only the head is read: it is noise, and noise must not cost seconds.
_RUN_MAX = 4096
_ENDLESS = re.compile(rf"[^\s。、]{{{_RUN_MAX + 1},}}")
_CAPITALS = re.compile(r"(?<![A-Za-z])[A-Z]{2,}(?![A-Za-z])")
_LOWER = re.compile(r"[a-z]")

_NOUNS = frozenset({"NNG", "NNP", "NR", "SH", "UNKNOWN"})
_STEMS = frozenset({"VV", "VA", "XR"})
_SILENT = ("J", "E", "VX", "VC", "XS", "S")
_JOINING = _NOUNS | {"NNBC", "XPN", "XSN", "XR"}

# Verbs and nouns that a question holds whatever it asks about.
_EMPTY_WORDS = """
    하 되 있 없 이 아니 같 그러 이러 저러 어쩌 그렇 이렇 저렇 어떻 어떠하 않 못하 말
    대하 위하 관하 의하 통하 따르 인하 때 얼마 등 중
"""
_STOP_WORDS = frozenset(_EMPTY_WORDS.split())


def terms(text: str) -> list[str]:
    """The terms of `text`, in order, repeats kept; the same for a document, a keyword and a query.

    Korean gives nouns, verb and adjective stems and roots without particles and endings; a compound or a run
    of nouns in one word gives the whole and its parts (영화관: 영화관, 영화, 관). English gives stems
    (Snowball) without stop words; a word in capitals in a text that is not (`IT 스타트업`) is an acronym and
    kept. Numbers, emoji and addresses are terms; Han and kana give pairs of characters; laughter (ㅋㅋ) gives
    none.

    Of a run of more than 4,096 characters without a break only the head is read.
    """
    return list(_read(text).terms)


def words(text: str) -> list[str]:
    """The words of `text` in order, as written but normalised: for prefixes and phrases.

    A Korean word stands without its particles and endings (면접에서: 면접, 떨렸어: 떨리), an English one
    unstemmed. Stop words are kept. Of a run of more than 4,096 characters only the head is read.
    """
    return list(_read(text).words)


class Reading(NamedTuple):
    """What a text holds. Whoever wants its terms often wants its words too, and reading it is what costs."""

    terms: tuple[str, ...]
    words: tuple[str, ...]


def _read(text: str) -> Reading:
    return _remembered(text) if len(text) <= _CACHED_LENGTH else _analyse(text)


@lru_cache(maxsize=4096)
def _remembered(text: str) -> Reading:
    return _analyse(text)


def _analyse(text: str) -> Reading:
    cleaned = clean(_readable(text))
    found_terms: list[str] = []
    found_words: list[str] = []
    for run in _runs(_units(fold(cleaned), _acronyms(cleaned))):
        name = _joined(run) if len(run) > 1 else []
        found_terms += name
        for unit in run:
            found_terms += unit.terms
        found_words += name or [unit.word for unit in run if unit.word]
    return Reading(tuple(found_terms), tuple(found_words))


def _readable(text: str) -> str:
    return _ENDLESS.sub(lambda run: run[0][:_RUN_MAX], text)


def _units(normal: str, kept: frozenset[str]) -> list[Unit]:
    units = list(scan(normal, kept))
    if SYLLABLE.search(normal):
        for start, word in _words(entries(normal)):
            read = _remembered_units if len(word) <= _CACHED_ENTRIES else _word_units
            for begins, ends, its_terms, its_word, joins in read(word):
                units.append(Unit(start + begins, start + ends, its_terms, its_word, joins))
        units.sort(key=attrgetter("start"))
    return units


def _joined(run: list[Unit]) -> list[str]:
    """The name that the nouns of `run` make together; none for a run that no Korean word is part of."""
    name = "".join(unit.word for unit in run)
    return [name] if len(name) <= _JOINED_MAX and SYLLABLE.search(name) else []


def _acronyms(cleaned: str) -> frozenset[str]:
    """The words in capitals, folded; none in a text that is all in capitals, unless it is only one word."""
    capitals = _CAPITALS.findall(cleaned)
    if not capitals:
        return frozenset()
    shouted = " " in cleaned and not _LOWER.search(cleaned) and not SYLLABLE.search(cleaned)
    return frozenset() if shouted else frozenset(word.lower() for word in capitals)


def _words(found: Iterable[Found]) -> Iterator[tuple[int, tuple[Entry, ...]]]:
    """The entries in Hangul, those without a gap between them together, and where each group begins.

    Bare jamo (ㅋㅋ) are a gap.
    """
    word: list[Entry] = []
    begins = ends = 0
    for entry, start, end in found:
        if word and start != ends:
            yield begins, tuple(word)
            word = []
        if entry.in_hangul:
            if not word:
                begins = start
            word.append(entry)
            ends = end
    if word:
        yield begins, tuple(word)


def _word_units(word: tuple[Entry, ...]) -> tuple[Unit, ...]:
    """The units of a word, counted from where it begins."""
    units: list[Unit] = []
    end = 0
    for entry in word:
        start, end = end, end + len(entry.surface)
        units.append(_unit(entry, start, end))
    name = hidden_name(word)
    if name is None or any(name in unit.terms for unit in units):
        return tuple(units)
    if all(unit.joins for unit in units):
        return (*units, Unit(end, end, (name,), "", False))
    return (*(unit._replace(word="") for unit in units), Unit(end, end, (name,), name, False))


_remembered_units = lru_cache(maxsize=4096)(_word_units)


def _unit(entry: Entry, start: int, end: int) -> Unit:
    content: list[str] = []
    if entry.tag in _NOUNS or (entry.tag in _STEMS and not entry.parts):
        content.append(entry.surface)
    content += [form for form, tag in entry.parts if tag in _NOUNS or tag in _STEMS]
    kept = tuple(term for term in content if term not in _STOP_WORDS and SYLLABLE.search(term))
    joins = entry.tag in _JOINING and entry.surface != "들"
    form, tag = entry.parts[0] if entry.parts and not joins else (entry.surface, entry.tag)
    word = form if joins or not tag.startswith(_SILENT) else ""
    return Unit(start, end, kept, word, joins)


def _runs(units: list[Unit]) -> Iterator[list[Unit]]:
    """The units in groups: neighbours without a gap that may make one name stay together."""
    run: list[Unit] = []
    for unit in units:
        if run and not (unit.joins and run[-1].joins and run[-1].end == unit.start):
            yield run
            run = []
        run.append(unit)
    if run:
        yield run
