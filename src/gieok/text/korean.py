"""Korean morphemes, by the mecab-ko dictionary."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import NamedTuple, Protocol

from gieok.text.normal import compose_jamo, normalize

# The tagger's time grows with the square of what it is given at once, and an unbroken run of syllables costs
# it about 10 µs each. So a text is given in short pieces, and an endless word is read at its head only.
_PIECE = 256
_WORD_MAX = 1024
_WORD = re.compile(r"\S+")


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
    """A dictionary entry as found in a text, with the morphemes that it is made of, if more than one."""

    surface: str
    tag: str
    start: int
    end: int
    parts: tuple[tuple[str, str], ...]


def morphemes(text: str) -> list[Morpheme]:
    """The morphemes of `text`, inflected and compound entries opened (떨렸어: 떨리/VV 었/EP 어/EC).

    Spans refer to `normalize(text)`. Of an unbroken run of more than 1,024 characters only the head is read.
    """
    found: list[Morpheme] = []
    for entry in entries(normalize(text)):
        found.extend(_opened(entry))
    return found


def entries(normal: str) -> Iterator[Entry]:
    """The dictionary entries of a normalised text, in order."""
    tag = _tagger()
    for offset, piece in _pieces(normal):
        for (start, end), node in tag(piece):
            pos, parts = _read(node.feature)
            yield Entry(node.surface, pos, offset + start, offset + end, parts)


class _Node(Protocol):
    surface: str
    feature: str


_Lattice = Iterable[tuple[tuple[int, int], _Node]]


@cache
def _tagger() -> Callable[[str], _Lattice]:
    """One tagger for all threads: parsing leaves it unchanged and keeps its state in a lattice of its own.

    The dictionary is opened by the first who needs it. The library's own `parse` is passed by, because the
    records that it makes of each node take two thirds of its time.
    """
    mecab = import_module("mecab")
    create_lattice: Callable[[str], _Lattice] = import_module("mecab.utils").create_lattice
    tagger = mecab.MeCab()._tagger

    def tag(piece: str) -> _Lattice:
        lattice = create_lattice(piece)
        if not tagger.parse(lattice):
            raise mecab.MeCabError(
                "mecab-ko could not read a text; its dictionary may be damaged: install it again"
            )
        return lattice

    return tag


@lru_cache(maxsize=8192)
def _read(feature: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Tag and parts of a feature: `VV+EP,*,T,떨렸,Inflect,VV,EP,떨리/VV/*+었/EP/*`."""
    tag, _, _, _, kind, _, _, expression = feature.split(",", 7)
    if kind == "*":
        return tag, ()
    fields = (part.split("/") for part in expression.split("+"))
    return tag, tuple((compose_jamo(part[0]), part[1]) for part in fields if len(part) > 1)


def _opened(entry: Entry) -> Iterator[Morpheme]:
    if not entry.parts:
        yield Morpheme(entry.surface, entry.tag, entry.start, entry.end)
        return
    exact = "".join(form for form, _ in entry.parts) == entry.surface
    start, end = entry.start, entry.end
    for form, tag in entry.parts:
        if exact:
            end = start + len(form)
        yield Morpheme(form, tag, start, end)
        if exact:
            start = end


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Whole words of `text` in pieces that the tagger reads fast, with their offsets; long words are cut."""
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
