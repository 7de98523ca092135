"""Which entries of a keyed lorebook enter a prompt, and the step that chooses them. Pure functions.

The rules are those of character cards V3 and of SillyTavern's World Info, as far as they are deterministic:
probabilities, groups and timers of SillyTavern are kept by the import and not applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Annotated

from pydantic import Field

from gieok.engine import ActStep, Data, Stage, StepContext
from gieok.memory.canon.records import EMPTY_LOREBOOK, KeyedLorebook, LoreEntry, LoreLogic
from gieok.memory.canon.rules import fill_names
from gieok.memory.fields import Language
from gieok.text import count_tokens, normalize, terms, words
from gieok.text.normalization import clean

_PATTERN = re.compile(r"/.+/[a-z]*", re.DOTALL)
_DECORATORS = re.compile(r"\A(?:\s*@@[^\n]*(?:\n|\Z))+")
_HANGUL = re.compile("[가-힣]")
_WORD_SCRIPTS = re.compile(r"[\x20-\u024f가-힣]*")
"""Scripts that write words apart: Latin and Hangul. In others a key matches anywhere."""


class Heard:
    """A text that is searched for keys. It is analysed only if a key could be in it."""

    def __init__(self, text: str) -> None:
        self.clean = clean(text)
        self.normal = normalize(text)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(words(self.normal))

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(terms(self.normal))

    def says(self, key: str, *, case_sensitive: bool, whole_words: bool) -> bool:
        """Whether the key is said. A whole word may have Korean particles and endings: 면접 in 면접이."""
        normal = normalize(key)
        if not normal or (case_sensitive and clean(key) not in self.clean):
            return False
        if normal not in self.normal:
            # Only a verb or an adjective can be there in another form: 떨리다 in 떨렸어.
            return whole_words and normal.endswith("다") and self._has_words(normal)
        if not whole_words or not _WORD_SCRIPTS.fullmatch(normal):
            return True
        if not _HANGUL.search(normal):
            return self._has_latin(normal)
        is_part = len(normal) > 1 and normal in self._terms  # 면접 in 면접관
        return is_part or normal in self._words or self._has_words(normal)

    def _has_latin(self, normal: str) -> bool:
        """Whether the key is there with no Latin letter or digit directly before or after it."""
        before = r"(?<![0-9a-z\u00c0-\u024f])" if normal[0].isalnum() else ""
        after = r"(?![0-9a-z\u00c0-\u024f])" if normal[-1].isalnum() else ""
        return re.search(before + re.escape(normal) + after, self.normal) is not None

    def _has_words(self, normal: str) -> bool:
        wanted = words(normal)
        return bool(wanted) and f"\0{chr(0).join(wanted)}\0" in f"\0{chr(0).join(self._words)}\0"


@dataclass(frozen=True)
class Activated:
    """The entries that enter the prompt, in its order, and how many the budget left out."""

    entries: tuple[LoreEntry, ...]
    left_out: int


def activate(
    book: KeyedLorebook, messages: Sequence[str], *, scan_depth: int, token_budget: int, rounds: int
) -> Activated:
    """Choose the entries for the last messages, of which the newest is last.

    An entry is active if it is constant, or if a key is said in the messages of its scan depth (its own, else
    that of the book, else `scan_depth`) and its secondary keys allow it. In a recursive book the content of
    an active entry can activate others, in at most `rounds` rounds. Over the budget (the smaller one of the
    book and `token_budget`) the entries with the lowest priority, or else the lowest order, are left out;
    constant ones last.
    """
    depth = scan_depth if book.scan_depth is None else book.scan_depth
    deepest = max((depth, *(entry.scan_depth or 0 for entry in book.entries)))
    heard = [Heard(text) for text in messages[max(len(messages) - deepest, 0) :]]
    waiting = [entry for entry in book.entries if entry.enabled and content(entry)]
    found: list[LoreEntry] = []
    contents: list[Heard] = []
    for turn in range(rounds + 1 if book.recursive else 1):
        new: list[LoreEntry] = []
        rest: list[LoreEntry] = []
        for entry in waiting:
            is_new = _is_active(entry, heard, contents, depth) and (entry.found_by_others or not turn)
            (new if is_new else rest).append(entry)
        if not new:
            break
        found, waiting = found + new, rest
        contents += [Heard(content(entry)) for entry in new if entry.finds_others]
    return _within_budget(book, found, token_budget)


_ALLOWS: Mapping[LoreLogic, Callable[[Iterable[bool]], bool]] = {
    "any": any,
    "all": all,
    "not_any": lambda said: not any(said),
    "not_all": lambda said: not all(said),
}
"""Whether the secondary keys allow an entry, by which of them are said."""


def _is_active(entry: LoreEntry, heard: Sequence[Heard], contents: Sequence[Heard], depth: int) -> bool:
    if entry.constant:
        return True
    own = depth if entry.scan_depth is None else entry.scan_depth
    texts = [*heard[max(len(heard) - own, 0) :], *contents]
    if not _any_said(entry, entry.keys, texts):
        return False
    if not entry.selective or not entry.secondary_keys:
        return True
    return _ALLOWS[entry.logic](_any_said(entry, (key,), texts) for key in entry.secondary_keys)


def _any_said(entry: LoreEntry, keys: Iterable[str], texts: Sequence[Heard]) -> bool:
    return any(
        text.says(key, case_sensitive=entry.case_sensitive, whole_words=entry.whole_words)
        for key in keys
        if not is_pattern(entry, key)
        for text in texts
    )


def is_pattern(entry: LoreEntry, key: str) -> bool:
    """Whether a key is a regular expression, which never matches: it could take hours."""
    return entry.regex or _PATTERN.fullmatch(key) is not None


def content(entry: LoreEntry) -> str:
    """The content without the decorators (`@@depth 4`) at its beginning."""
    return _DECORATORS.sub("", entry.content).strip()


def _within_budget(book: KeyedLorebook, found: Sequence[LoreEntry], token_budget: int) -> Activated:
    room = token_budget if book.token_budget is None else min(token_budget, book.token_budget)

    def rank(entry: LoreEntry) -> tuple[bool, int]:
        return not entry.constant, -(entry.order if entry.priority is None else entry.priority)

    kept: list[tuple[int, int, LoreEntry]] = []
    for position, entry in sorted(enumerate(found), key=lambda item: rank(item[1])):
        size = count_tokens(content(entry)) + 1
        if size <= room:
            kept.append((entry.order, position, entry))
            room -= size
    kept.sort(key=itemgetter(0, 1))
    return Activated(tuple(entry for _, _, entry in kept), len(found) - len(kept))


class LoreMetadata(Data):
    scan_depth: Annotated[int, Field(ge=0, le=1_000)]
    """How many of the last messages are searched for keys, the current one included."""
    token_budget: Annotated[int, Field(ge=0, le=1_000_000)]
    rounds: Annotated[int, Field(ge=0, le=100)]
    """How often the content of entries is searched for keys of others, in a recursive lorebook."""


class SaidText(Data, from_attributes=True):
    """The text of a message."""

    content: str


class LoreInputs(Data):
    lorebook: KeyedLorebook = EMPTY_LOREBOOK
    character: str
    """The name for `{{char}}`."""
    language: Language
    user_name: str | None = None
    message: str
    recent_messages: tuple[SaidText, ...] = ()
    client_messages: tuple[SaidText, ...] = ()
    """The window of a client that keeps its own; it replaces the stored messages."""


class ActivatedLore(Data):
    lore: tuple[str, ...]
    """The texts for the prompt, in order."""
    left_out: int


class ActivateLore(ActStep[LoreMetadata, LoreInputs, ActivatedLore]):
    """Choose the entries of the persona's keyed lorebook whose keys are said in the last messages."""

    type = "ActivateLore"
    stages = frozenset({Stage.CONTEXT_SELECT})

    async def run(self, metadata: LoreMetadata, inputs: LoreInputs, context: StepContext) -> ActivatedLore:
        recent = inputs.client_messages or inputs.recent_messages
        active = activate(
            inputs.lorebook,
            [*(said.content for said in recent), inputs.message],
            scan_depth=metadata.scan_depth,
            token_budget=metadata.token_budget,
            rounds=metadata.rounds,
        )
        context.note("entries", len(active.entries))
        context.note("entriesLeftOut", active.left_out)
        return ActivatedLore(lore=tuple(_filled(active.entries, inputs)), left_out=active.left_out)


def _filled(entries: Iterable[LoreEntry], inputs: LoreInputs) -> Iterator[str]:
    for entry in entries:
        yield fill_names(content(entry), inputs.character, inputs.user_name, inputs.language)
