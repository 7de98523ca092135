"""Read a message once: its sentences, their morphemes in Korean, and the small talk in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gieok.text import Morpheme, language, morphemes, normalize, sentences
from gieok.text.normalization import clean
from gieok.text.small_talk import SmallTalk, small_talk_in

# What a person could have typed. The rest of a longer paste adds cost, and nothing to two sentences.
MAX_CHARS = 4000
MAX_SENTENCES = 40

Spoken = Literal["ko", "en"]


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written with spaces between them."""
    return frozenset(words.split())


def either(phrases: str) -> str:
    """A regular expression for any of the phrases, one per line or separated by ` / `."""
    parts = (phrase.strip() for line in phrases.splitlines() for phrase in line.split(" / "))
    return "|".join(part for part in parts if part)


# After one of these a Korean sentence is over even without a full stop.
_CLOSING = ("니다", "거든요", "잖아요", "네요", "는데요", "어요", "아요", "예요", "이에요")
_ADDRESS = re.compile(r"\b\w{2,10}://\S+")
_SYMBOLS = frozenset({"SF", "SY", "SE", "SC", "SSO", "SSC", "UNKNOWN"})

# A question without a mark: 이름 뭐였지, 여친 있어 없어, 얼마 주고 구했더라; what's my dog called.
_RECOLLECTING = re.compile(r"(?:였|었|았|했|왔|갔|랬)(?:지|죠|지요|더라|더라고|나|나요|던가)[요\sㅋㅎ~.!]*$")
_SOUGHT = re.compile(r"뭐|뭘|무엇|언제|어디|누구|누가|왜|어떻|몇|며칠|얼마|무슨|어느|어떤")
_ASKING_KOREAN = re.compile(
    r"(?:뭐|언제|어디|누구|얼마|며칠)(?:야|예요|게|임|지|더라|냐)[ㅋㅎ~.!\s]*$|있(?:어|음) 없(?:어|음)"
    r"|(?:까|니|냐)[ㅋㅎ~.!\s]*$"
)
_ASKING_ENGLISH = re.compile(
    r"(?:(?:and|so|but|hey|wait|um|ok),? )?(?:"
    r"(?:what|when|where|who|how|why)(?:['’]?s|['’]re|['’]d) \w"
    r"|(?:what|which|when|where|who|how|why)(?: (?!(?:i|you|we|he|she|they|it|an?)\b)\w+)?"
    r" (?:is|was|were|are|am|did|do|does|have) (?:i|you|we|my|your|the|it|he|she|they|our|his|her)\b"
    r"|what happened (?:to|with)\b"
    r"|(?:do|did|can|could) you (?:still )?(?:remember|know|recall)\b|did i (?:ever )?tell you\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `morphemes` is empty in English; their spans refer to `text`."""

    text: str
    morphemes: tuple[Morpheme, ...] = ()
    small_talk: SmallTalk | None = None

    @property
    def asks(self) -> bool:
        """Whether it is a question, with or without a question mark."""
        if "?" in self.text[-4:] or "？" in self.text[-4:]:
            return True
        if not self.morphemes:
            return bool(_ASKING_ENGLISH.match(self.text))
        recollects = _RECOLLECTING.search(self.text) and _SOUGHT.search(self.text)
        # 뭐 그랬지, 떨어졌지 뭐: here 뭐 is a filler.
        filler = re.search(r"(?:^| )뭐 (?:그|어)|뭐[\sㅋㅎ.!~]*$", self.text)
        return bool((recollects and not filler) or _ASKING_KOREAN.search(self.text))


@dataclass(frozen=True, slots=True)
class Utterance:
    """An analysed message. `informative` are the sentences that are more than small talk."""

    text: str
    language: Spoken
    sentences: tuple[Sentence, ...]
    informative: tuple[Sentence, ...]

    @property
    def small_talk(self) -> SmallTalk | None:
        """The most significant small talk in it: a greeting before a back-channel."""
        kinds = {sentence.small_talk for sentence in self.sentences}
        return next((kind for kind in SmallTalk if kind in kinds), None)

    @property
    def asks(self) -> bool:
        """Whether a sentence that is more than small talk is a question."""
        return any(sentence.asks for sentence in self.informative)


def read(text: str) -> Utterance:
    """Analyse `text`. Only its first 4,000 characters and 40 sentences are read."""
    head = _ADDRESS.sub(" ", text[:MAX_CHARS])
    spoken = language(head)
    parts = [part for each in sentences(head)[:MAX_SENTENCES] if (part := clean(each))]
    if spoken == "en":
        found = [Sentence(part) for part in parts]
    else:
        found = [piece for part in parts for piece in _split(_analysed(part))]
    marked = tuple(
        Sentence(one.text, one.morphemes, small_talk_in(one.text, spoken)) for one in found[:MAX_SENTENCES]
    )
    return Utterance(" ".join(parts), spoken, marked, tuple(one for one in marked if one.small_talk is None))


def is_symbol(morpheme: Morpheme) -> bool:
    """Whether it is a mark, an emoji or laughter, which no dictionary has."""
    return morpheme.tag in _SYMBOLS


def slice_of(sentence: Sentence, first: int, last: int) -> Sentence:
    """The morphemes from `first` up to `last`, as a sentence of its own."""
    found = sentence.morphemes
    start = found[first].start
    end = found[last].start if last < len(found) else len(sentence.text)
    moved = tuple(m._replace(start=m.start - start, end=m.end - start) for m in found[first:last])
    return Sentence(sentence.text[start:end].strip(), moved)


def _analysed(part: str) -> Sentence:
    """Spans count characters of the case-folded text, which almost always is as long as the original."""
    text = part if len(part.casefold()) == len(part) else normalize(part)
    return Sentence(text, _repaired(morphemes(text)))


def _repaired(found: list[Morpheme]) -> tuple[Morpheme, ...]:
    """Two errors of the dictionary: the 나 of 화가 나 is no pronoun, the 야 of 1234야 is no noun."""
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


def _split(sentence: Sentence) -> list[Sentence]:
    """Cut where a Korean ending closes a sentence without a full stop: 시험 봤어 너무 어려웠어."""
    cuts = [0]
    found = sentence.morphemes
    for index in range(1, len(found) - 1):
        here, following = found[index], found[index + 1]
        if following.start > here.end and not is_symbol(following) and _closes(found[index - 1], here):
            cuts.append(index + 1)
    pieces = [slice_of(sentence, a, b) for a, b in zip(cuts, [*cuts[1:], len(found)], strict=True) if a < b]
    # What follows the last verb without a verb of its own (보고 싶다 우리 강아지) belongs to it.
    if len(pieces) > 1 and not any(m.tag[0] == "V" or m.tag == "XSV" for m in pieces[-1].morphemes):
        return [*pieces[:-2], slice_of(sentence, cuts[-2], len(found))]
    return pieces if len(pieces) > 1 else [sentence]


def _closes(before: Morpheme, here: Morpheme) -> bool:
    if here.tag == "EF":
        return True
    past = before.tag == "EP" and here.form in ("어", "아", "지", "네", "거든")
    return here.tag == "EC" and (here.form.endswith(_CLOSING) or past)
