"""Korean words of similar meaning, by the morpheme vectors in the package kiwipiepy_model.

The package has only data. Two of its files are read, and Kiwi itself is not needed: `sj.morph` has the
morphemes with their tags, and `cong.mdl` a language model, in which each morpheme has a vector of 4-bit
numbers. A word and another one that is used alike have a high cosine: 면접 and 자기소개서, 생일 and 생신.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from struct import Struct, error
from threading import Lock
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from gieok.errors import SettingsInvalid

_COMMON = 40_000
"""Morphemes are in the order of their frequency. The vectors of rarer ones say little."""
_NEAREST = 50
_LEAST_COSINE = 0.4
_CACHED_TERMS = 4_096
_CONTENT_TAGS = frozenset({1, 2, 4, 5, 6, 18, 132, 133})
"""Kiwi's numbers for common and proper nouns, verbs, adjectives, adverbs, roots, and irregular verbs and
adjectives."""
_HANGUL = re.compile("[가-힣]+")

_MODEL_HEADER = Struct("<QQHHBBBBQQQQQ")
_COUNT = Struct("<I")
_MORPHEME = Struct("<IB11x")
_MORPHEME_END = 12
_CONTEXT_EXTRA = 6
"""Bytes after the vector of a context, of which the model has more than of morphemes, before them."""
_BITS, _GROUP = 4, 8

Vectors = NDArray[np.float32]


class _Vocabulary(NamedTuple):
    words: list[str]
    places: Mapping[str, int]
    vectors: Vectors
    """One for each word, of length 1."""


class KiwiWords:
    """Korean words of similar meaning. The files are read on first use: about half a second and 50 MB."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._nearest = lru_cache(_CACHED_TERMS)(self._find_nearest)

    def near(self, terms: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        """Up to 50 words near each of these terms, with their cosine. Terms that are not known are left out.

        SettingsInvalid if the files are not as expected. Thread-safe.
        """
        with self._lock:  # the first one reads the files, and the others wait for it
            found = {term: self._nearest(term) for term in terms if _HANGUL.fullmatch(term)}
        return {term: words for term, words in found.items() if words}

    def _find_nearest(self, term: str) -> Mapping[str, float]:
        words, places, vectors = self._vocabulary
        if term not in places:
            return {}
        cosines = vectors @ vectors[places[term]]
        cosines[places[term]] = 0
        best = np.argpartition(cosines, -_NEAREST)[-_NEAREST:]
        return {words[place]: float(cosines[place]) for place in best if cosines[place] >= _LEAST_COSINE}

    @cached_property
    def _vocabulary(self) -> _Vocabulary:
        try:
            vectors = _read_vectors(self._folder / "cong.mdl")
            morphemes = _read_morphemes((self._folder / "sj.morph").read_bytes())
            numbers: dict[str, int] = {}
            for number, (word, tag) in zip(range(_COMMON), morphemes, strict=False):
                if tag in _CONTENT_TAGS and _HANGUL.fullmatch(word):
                    numbers.setdefault(word, number)  # of several senses the most frequent one
        except (OSError, ValueError, error) as problem:
            raise SettingsInvalid(
                f"the files of kiwipiepy_model are not as expected: pip install 'gieok[korean]' ({problem})"
            ) from problem
        places = {word: place for place, word in enumerate(numbers)}
        return _Vocabulary(list(numbers), places, vectors[list(numbers.values())])


def _read_vectors(file: Path) -> Vectors:
    """The vectors of the first morphemes. ValueError for another format."""
    with file.open("rb") as opened:
        morphemes, contexts, dimension, _, _, _, bits, group, _, _, _, _, start = _MODEL_HEADER.unpack(
            opened.read(_MODEL_HEADER.size)
        )
    if (bits, group) != (_BITS, _GROUP) or morphemes < _COMMON:
        raise ValueError("another format of cong.mdl")
    size = dimension // 2 + 2 + dimension // group
    raw = np.fromfile(file, np.uint8, _COMMON * size, offset=start + contexts * (size + _CONTEXT_EXTRA))
    packed, _, scales = np.split(raw.reshape(_COMMON, size), (dimension // 2, dimension // 2 + 2), axis=1)
    vectors = np.empty((_COMMON, dimension), np.float32)
    vectors[:, 0::2], vectors[:, 1::2] = packed & 15, packed >> 4
    # Each group of numbers has its own zero and scale. The scale of the whole vector does not matter here.
    grouped = vectors.reshape(_COMMON, -1, group)
    grouped -= (6 + (scales >> 6))[:, :, np.newaxis]
    grouped *= (9 + (scales & 63))[:, :, np.newaxis]
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


def _read_morphemes(data: bytes) -> Iterator[tuple[str, int]]:
    """The form and the tag of each morpheme. ValueError or struct.error for another format."""
    if data[:4] != b"KIWI":
        raise ValueError("another format of sj.morph")
    position = 4

    def count() -> int:
        nonlocal position
        position += _COUNT.size
        return int(_COUNT.unpack_from(data, position - _COUNT.size)[0])

    def skip_list(size: int) -> tuple[int, int]:
        """Skip a list of values of this size. Returns where they start and end."""
        nonlocal position
        length = size * count()
        position += length
        return position - length, position

    forms: list[tuple[int, int]] = []
    for _ in range(count()):
        forms.append(skip_list(2))
        skip_list(4)  # the morphemes of this form
    for _ in range(count()):
        form, tag = _MORPHEME.unpack_from(data, position)
        position += _MORPHEME.size
        skip_list(4)  # its parts
        skip_list(2)  # their places
        position += _MORPHEME_END
        start, end = forms[int(form)]
        yield normalize("NFC", data[start:end].decode("utf-16-le")), tag
