"""Words that need no dictionary: Latin and other letters, numbers, addresses, emoji, Han and kana."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from gieok.text.english.stemming import is_stop_word, stem, without_clitic

# Longer words are keys, hashes and noise: their first characters are enough to tell them apart.
_WORD_MAX = 64

_HANGUL = "\uac00-\ud7a3\u3131-\u318e"
# Scripts without spaces between words: their terms are pairs of characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them; `\w` does not include them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_EMOJI = (
    "\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_LETTER = rf"[^\W_{_HANGUL}{_UNSPACED}]"


@cache
def _scanner() -> re.Pattern[str]:
    """The pattern of all kinds of words, compiled on first use because the character classes are large.

    The lookahead skips spaces and Hangul at once, before each kind of word is tried.
    """
    return re.compile(
        rf"""
        (?=[^\s{_HANGUL}])(?:
        (?P<address> (?:https?://|www\.)[^\s{_HANGUL}]*[^\s{_HANGUL}.,!?:;'")\]]
                   | (?<![a-z0-9._%+-])[a-z0-9._%+-]{{1,64}}@[a-z0-9-]{{1,64}}(?:\.[a-z0-9-]{{1,64}})+ )
      | (?P<initials> (?<![a-z0-9])(?:[a-z]\.){{2,8}}[a-z]?(?![a-z0-9]) )
      | (?P<symbolic> (?<![a-z0-9])(?:c\+\+|[cf]\#)(?![a-z0-9]) )
      | (?P<number>   \d+(?:,\d{{3}})*(?:\.\d+)?(?!{_LETTER}) )
      | (?P<word>     {_LETTER}(?:{_LETTER}|[{_MARKS}]|[-_.'’&](?={_LETTER}))* )
      | (?P<unspaced> [{_UNSPACED}][{_UNSPACED}{_MARKS}]* )
      | (?P<flag>     [\U0001f1e6-\U0001f1ff]{{1,2}} )
      | (?P<emoji>    [{_EMOJI}] )
        )
        """,
        re.VERBOSE,
    )


_RUN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_][^\d\s_.&@/:?#=%+~,;!()-]*")
_HOST = re.compile(r"(?:https?://)?(?:www\.)?([^\s/?#:]+)")
_ADDRESS_PARTS = 16
_ADDRESS_NOISE = frozenset({"http", "https", "www", "com"})
_STOP_INITIALS = frozenset({"eg", "ie", "am", "pm"})


class Unit(NamedTuple):
    """A piece of a text: `terms` for the index (none for a stop word), and the `word` as written.

    Particles and endings have an empty word. `joins` says that it may form a name with an adjacent unit
    (아이폰15); an emoji or an address may not.
    """

    start: int
    end: int
    terms: tuple[str, ...]
    word: str
    joins: bool


def scan(normal: str, acronyms: frozenset[str] = frozenset()) -> Iterator[Unit]:
    """The words of a normalised text other than Hangul, in order. Acronyms are terms even if stop words."""
    for match in _scanner().finditer(normal):
        kind = match.lastgroup or ""
        text = match[0]
        if kind == "number":
            text = text.replace(",", "")
        if kind != "unspaced":
            text = text[:_WORD_MAX].replace("’", "'")
        yield Unit(match.start(), match.end(), tuple(_TERMS[kind](text, acronyms)), text, kind not in _ALONE)


def _address(text: str, acronyms: frozenset[str]) -> list[str]:
    """`https://docs.gieok.dev/recall` gives its host and its words; `me@gieok.dev` itself and its words."""
    whole = text if "@" in text and "/" not in text else "".join(_HOST.findall(text)[:1])
    parts = [term for run in _RUN.findall(text)[:_ADDRESS_PARTS] for term in _plain(run, acronyms)]
    return [whole, *(part for part in parts if part not in _ADDRESS_NOISE)]


@lru_cache(maxsize=8192)
def _word(text: str, acronyms: frozenset[str]) -> tuple[str, ...]:
    """`gpt-4` and `gpt4` both give gpt4, gpt, 4; `long-term` gives longterm, long, term."""
    if is_stop_word(text) and text not in acronyms:
        return ()
    runs = _RUN.findall(without_clitic(text))
    if len(runs) < 2:
        return tuple(stem(run) for run in runs)
    joined = stem("".join(runs))
    return (joined, *(term for run in runs for term in _plain(run, acronyms)))


def _plain(word: str, acronyms: frozenset[str]) -> list[str]:
    return [] if not word or (is_stop_word(word) and word not in acronyms) else [stem(word)]


def _initials(text: str, acronyms: frozenset[str]) -> list[str]:
    """`u.s.` is never the word `us`."""
    letters = text.replace(".", "")
    return [] if letters in _STOP_INITIALS else [letters]


def _pairs(text: str, acronyms: frozenset[str]) -> list[str]:
    return [text[i : i + 2] for i in range(max(1, len(text) - 1))]


def _itself(text: str, acronyms: frozenset[str]) -> list[str]:
    return [text]


_TERMS: dict[str, Callable[[str, frozenset[str]], Sequence[str]]] = {
    "address": _address,
    "initials": _initials,
    "symbolic": _itself,
    "number": _itself,
    "word": _word,
    "unspaced": _pairs,
    "flag": _itself,
    "emoji": _itself,
}
_ALONE = frozenset({"address", "flag", "emoji"})
