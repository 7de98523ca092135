"""English stop words and stems (Snowball)."""

from __future__ import annotations

import re
import threading
from importlib import import_module
from typing import Protocol

from gieok.text.english.irregular import BASES

_AUXILIARIES = """
    is are was were do does did has have had could would should must might need wo ca sha ai
"""
# Words that occur in any text, whatever it is about.
_FUNCTION_WORDS = """
    a an the this that these those
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what when where why how
    am is are was were be been being do does did doing done have has had having
    can could will would shall should may might must
    and or but nor if then than so because as while until
    of at by for with about against between into through during to from up down in out on off over under
    there here all any both each few more most some such only own same too very just also
    not no yes s t d m
    dont im ive thats whats lets eg ie etc
"""
_NEGATED = frozenset(word + "n't" for word in _AUXILIARIES.split())
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split()) | _NEGATED | {word.replace("'", "") for word in _NEGATED}

_CLITIC = re.compile(r"'(?:s|m|re|ve|ll|d)?$")
_local = threading.local()


class _Stemmer(Protocol):
    def stemWord(self, word: str, /) -> str: ...  # noqa: N802 (the library's name)


def is_stop_word(word: str) -> bool:
    """Whether a case-folded `word` is a stop word (`it`, `don't`, `we'll`)."""
    return word in _STOP_WORDS or without_clitic(word) in _STOP_WORDS


def without_clitic(word: str) -> str:
    """Remove a clitic: `john's` becomes john, `we'll` becomes we."""
    return _CLITIC.sub("", word)


def stem(word: str) -> str:
    """The Snowball stem of a case-folded English word; most words of other languages stay unchanged.

    An irregular form has the stem of its base: sold that of sell.
    """
    return _stemmer().stemWord(BASES.get(word, word))


def _stemmer() -> _Stemmer:
    """The stemmer of the calling thread, created on first use: stemmers are not thread-safe."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = import_module("Stemmer").Stemmer("english")
    return _local.stemmer
