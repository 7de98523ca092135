"""Korean morphemes, by the mecab-ko dictionary."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import NamedTuple

from gieok.text.normal import compose_jamo, normalize

# The tagger's time grows with the square of what it is given at once, and an unbroken run of syllables costs
# it about 10 µs each. So a text is given in short pieces, and an endless word is read at its head only.
_PIECE = 256
_WORD_MAX = 1024
_WORD = re.compile(r"\S+")
SYLLABLE = re.compile(r"[\uac00-\ud7a3]")
_local = threading.local()


class Morpheme(NamedTuple):
    """A morpheme: `form` as the dictionary writes it, its mecab-ko `tag`, and where it stands.

    `start` and `end` count characters of `normalize(text)`. Morphemes that share their syllables
    (떨렸 = 떨리 + 었) share their span.
    """

    form: str
    tag: str
    start: int
    end: int


class Entry(NamedTuple):
    """A dictionary entry, with the morphemes that it is made of, if more than one."""

    surface: str
    tag: str
    parts: tuple[tuple[str, str], ...]
    in_hangul: bool
    """Whether a syllable of Hangul is in it; bare jamo (ㅋㅋ) are none."""


Found = tuple[Entry, int, int]
"""An entry, and where it begins and ends in a text. A plain tuple: every word makes several."""


def morphemes(text: str) -> list[Morpheme]:
    """The morphemes of `text`, inflected and compound entries opened (떨렸어: 떨리/VV 었/EP 어/EC).

    Spans refer to `normalize(text)`. Of an unbroken run of more than 1,024 characters only the head is read.
    """
    found: list[Morpheme] = []
    for entry, start, end in entries(normalize(text)):
        found.extend(_opened(entry, start, end))
    return found


def entries(normal: str) -> Iterator[Found]:
    """The dictionary entries of a normalised text, in order."""
    tag = _tagger()
    for offset, piece in _pieces(normal):
        end = 0
        for line in tag(piece):
            entry = _read(line)
            start = piece.index(entry.surface, end)
            end = start + len(entry.surface)
            yield entry, offset + start, offset + end


@cache
def _tagger() -> Callable[[str], list[str]]:
    """What mecab-ko reads in a piece of text: a line for each entry, its surface, a tab and its feature.

    One tagger for all threads: parsing leaves it unchanged and keeps its state in a lattice, of which each
    thread has one. The dictionary is opened by the first who needs it. The library's own `parse` is passed
    by, because the records that it makes of each node take more time than the reading itself.
    """
    mecab = import_module("mecab")
    create_lattice = import_module("mecab.utils").create_lattice
    tagger = mecab.MeCab()._tagger

    def tag(piece: str) -> list[str]:
        try:
            lattice = _local.lattice
            lattice.set_sentence(piece)
        except AttributeError:
            lattice = _local.lattice = create_lattice(piece)
        if not tagger.parse(lattice):
            raise mecab.MeCabError(
                "mecab-ko could not read a text; its dictionary may be damaged: install it again"
            )
        written: str = lattice.to_string()
        return written.split("\n")[:-2]  # the last two are EOS and nothing

    return tag


@lru_cache(maxsize=8192)
def _read(line: str) -> Entry:
    """The entry of a line: `떨렸`, a tab, `VV+EP,*,T,떨렸,Inflect,VV,EP,떨리/VV/*+었/EP/*`."""
    surface, feature = line.split("\t")
    tag, _, _, _, kind, _, _, expression = feature.split(",", 7)
    in_hangul = SYLLABLE.search(surface) is not None
    if kind == "*":
        return Entry(surface, tag, (), in_hangul)
    fields = (part.split("/") for part in expression.split("+"))
    parts = tuple((compose_jamo(part[0]), part[1]) for part in fields if len(part) > 1)
    return Entry(surface, tag, parts, in_hangul)


def _opened(entry: Entry, start: int, end: int) -> Iterator[Morpheme]:
    if not entry.parts:
        yield Morpheme(entry.surface, entry.tag, start, end)
        return
    exact = "".join(form for form, _ in entry.parts) == entry.surface
    for form, tag in entry.parts:
        if exact:
            end = start + len(form)
        yield Morpheme(form, tag, start, end)
        if exact:
            start = end


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Whole words of `text` in pieces that the tagger reads fast, with their offsets; long words are cut."""
    if len(text) <= _PIECE:
        yield 0, text
        return
    start = end = 0
    for word in _WORD.finditer(text):
        if word.end() - start > _PIECE:
            if end > start:
                yield start, text[start:end]
            start = word.start()
        end = word.end()
        if end - start > _PIECE:
            head = min(end, start + _WORD_MAX)
            for cut in range(start, head, _PIECE):
                yield cut, text[cut : min(cut + _PIECE, head)]
            start = end
    if end > start:
        yield start, text[start:end]
