"""A message read once: its sentences and, in Korean, their morphemes. Every other rule works on this."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gieok.adapters.models.offline.lexicon import listed
from gieok.adapters.models.offline.smalltalk import SmallTalk, small_talk_in
from gieok.text import Morpheme, language, morphemes, normalize, sentences
from gieok.text.normalization import clean

# What a person could have typed. The rest of a longer paste adds cost, and nothing to two sentences.
MAX_CHARS = 4000
MAX_SENTENCES = 40

# After one of these a Korean sentence is over even when the writer put no full stop.
_CLOSING = ("니다", "거든요", "잖아요", "네요", "는데요", "었어요", "어요", "아요", "예요", "이에요")
# A web address is no language, and nothing in it is a word that someone said.
_ADDRESS = re.compile(r"\b\w{2,10}://\S+")
# 뭐였지, 언제더라: whoever tries to recollect asks, with or without a mark.
_RECOLLECTING = listed("지 죠 지요 더라 더라고 나 나요 던가 던가요")
_SOUGHT = listed("뭐 뭘 무엇 언제 어디 누구 누가 왜 어떻 어떻게 몇 얼마 얼마나 무슨 어느 어떤")
_ASKING = re.compile(
    r"(?:(?:and|so|but|hey|wait|um),? )?(?:"
    r"(?:what|when|where|who|how|why)(?:['’]?s|['’]re|['’]d) \w"
    r"|(?:what|which|when|where|who|how|why)(?: (?!(?:i|you|we|he|she|they|it|an?)\b)\w+)?"
    r" (?:is|was|were|are|am|did|do|does|have) (?:i|you|we|my|your|the|it|he|she|they|our|his|her)\b"
    r"|what happened (?:to|with)\b"
    r"|(?:do|did|can|could) you (?:still )?(?:remember|know|recall)\b|did i (?:ever )?tell you\b)",
    re.IGNORECASE,
)
_SYMBOLS = frozenset({"SF", "SY", "SE", "SC", "SSO", "SSC", "UNKNOWN"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `morphemes` is empty in English; spans refer to `text`."""

    text: str
    morphemes: tuple[Morpheme, ...] = ()
    small_talk: SmallTalk | None = None

    @property
    def asks(self) -> bool:
        marked = "?" in self.text[-4:] or "？" in self.text[-4:]
        return marked or (_recollects(self.morphemes) if self.morphemes else bool(_ASKING.match(self.text)))


@dataclass(frozen=True, slots=True)
class Utterance:
    """What someone said, analysed. `text` is cleaned of invisible characters, its case kept.

    `informative` are the sentences that are more than small talk.
    """

    text: str
    language: Literal["ko", "en"]
    sentences: tuple[Sentence, ...]
    informative: tuple[Sentence, ...]

    @property
    def small_talk(self) -> SmallTalk | None:
        """The weightiest small talk in it: a greeting before a back-channel."""
        kinds = {sentence.small_talk for sentence in self.sentences}
        return next((kind for kind in SmallTalk if kind in kinds), None)


def read(text: str) -> Utterance:
    """Analyse `text`. Only its first 4,000 characters and 40 sentences are read."""
    head = _ADDRESS.sub(" ", text[:MAX_CHARS])
    spoken = language(head)
    parts = [clean(part) for part in sentences(head)[:MAX_SENTENCES]]
    whole = " ".join(parts)
    if spoken == "en":
        found = [Sentence(part) for part in parts if part]
    else:
        found = [piece for part in parts for piece in _split(_analysed(part))]
    marked = tuple(
        Sentence(one.text, one.morphemes, small_talk_in(one.text, spoken)) for one in found[:MAX_SENTENCES]
    )
    return Utterance(whole, spoken, marked, tuple(one for one in marked if one.small_talk is None))


def _analysed(part: str) -> Sentence:
    """Spans count the characters of the case-folded text, which almost always is as long as the cased one."""
    text = part if len(part.casefold()) == len(part) else normalize(part)
    return Sentence(text, _repaired(morphemes(text)))


def _repaired(found: list[Morpheme]) -> tuple[Morpheme, ...]:
    """Two slips of the dictionary: the 나 of 화가 나 is no pronoun, the 야 of 1234야 is no noun."""
    repaired: list[Morpheme] = []
    for index, morpheme in enumerate(found):
        before = found[index - 1].tag if index else ""
        following = found[index + 1] if index + 1 < len(found) else None
        closes = following is None or is_symbol(following)
        if morpheme[:2] == ("나", "NP") and before == "JKS" and (closes or found[index + 1].form == "서"):
            repaired += [morpheme._replace(tag="VV"), morpheme._replace(form="아", tag="EC")]
        elif morpheme[:2] == ("야", "NNG") and before == "SN" and closes:
            repaired.append(morpheme._replace(tag="JX"))
        else:
            repaired.append(morpheme)
    return tuple(repaired)


def _recollects(found: tuple[Morpheme, ...]) -> bool:
    """우리 강아지 이름 뭐였지; but not 뭐 그랬지, where 뭐 only fills in."""
    said = [m for m in found if not is_symbol(m) and m.tag != "IC"]
    if len(said) < 3 or said[-1].form not in _RECOLLECTING:
        return False
    past = said[-2].tag == "EP" and said[-2].form.endswith(("았", "었", "였", "ㅆ"))
    return past and any(m.form in _SOUGHT for m in said)


def is_symbol(morpheme: Morpheme) -> bool:
    """Whether it is a mark, an emoji or laughter, which no dictionary has."""
    return morpheme.tag in _SYMBOLS


def _split(sentence: Sentence) -> list[Sentence]:
    """Cut where a Korean ending closes a sentence without a full stop: 시험 봤어 너무 어려웠어."""
    cuts = [0]
    found = sentence.morphemes
    for index in range(1, len(found) - 1):
        here, following = found[index], found[index + 1]
        spaced = following.start > here.end
        if spaced and not is_symbol(following) and _closes(found[index - 1], here):
            cuts.append(index + 1)
    if len(cuts) == 1:
        return [sentence]
    pieces = [slice_of(sentence, a, b) for a, b in zip(cuts, [*cuts[1:], len(found)], strict=True)]
    if any(m.tag[0] == "V" or m.tag == "XSV" for m in pieces[-1].morphemes):
        return pieces
    return [*pieces[:-2], _turned(pieces[-2], pieces[-1])]


def _turned(first: Sentence, last: Sentence) -> Sentence:
    """보고 싶다 우리 강아지: what was added behind the verb goes before it, where Korean has it otherwise."""
    end = max((m.end for m in last.morphemes if not is_symbol(m)), default=0)
    moved = tuple(m._replace(start=m.start + end + 1, end=m.end + end + 1) for m in first.morphemes)
    kept = tuple(m for m in last.morphemes if m.end <= end)
    return Sentence(f"{last.text[:end]} {first.text}", (*kept, *moved))


def _closes(before: Morpheme, here: Morpheme) -> bool:
    if here.tag == "EF":
        return True
    if here.tag != "EC":
        return False
    return here.form.endswith(_CLOSING) or (
        before.tag == "EP" and here.form in ("어", "아", "지", "네", "거든")
    )


def slice_of(sentence: Sentence, first: int, last: int) -> Sentence:
    """The morphemes from `first` up to `last`, as a sentence of its own."""
    found = sentence.morphemes
    start = found[first].start
    end = found[last].start if last < len(found) else len(sentence.text)
    moved = tuple(m._replace(start=m.start - start, end=m.end - start) for m in found[first:last])
    return Sentence(sentence.text[start:end].strip(), moved)
