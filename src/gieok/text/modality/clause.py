"""A clause and its modality, and what Korean and English share: quotation, code, songs, actions of a role."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from gieok.text.normalization import normalize


class Modality(StrEnum):
    """How a clause is meant. A clause without any of these is asserted by the speaker, of themselves."""

    NEGATED = "negated"
    """Denied, called off, corrected, or intended without being done."""
    HYPOTHETICAL = "hypothetical"
    """Unreal or unsure: would, what if, might, -ㄹ 텐데."""
    CONDITIONAL = "conditional"
    """Said under a condition. It may still state a habit: 커피 마시면 잠을 못 자."""
    WISH = "wish"
    """Wished for: I wish I had a dog, -면 좋겠다."""
    QUESTION = "question"
    HEARSAY = "hearsay"
    """Reported from somebody else: she says that …, -대, -래."""
    OPINION_OF_OTHERS = "opinion of others"
    """What somebody else thinks, predicts or advises."""
    QUOTED = "quoted"
    """Not the speaker's words: in quotation marks, code, a song."""
    JOKE = "joke"
    """Not meant literally, or taken back in the same message."""
    FICTION = "fiction"
    """Of a story, a dream, a role that is played."""
    SARCASM = "sarcasm"
    PAST = "past"
    """Held formerly, and no longer: used to, 예전에는 …었는데."""
    OTHER_PERSON = "other person"
    """Its subject is a third person, named in `Clause.subject`."""


UNASSERTED = frozenset(Modality) - {
    Modality.NEGATED,
    Modality.HEARSAY,
    Modality.PAST,
    Modality.OTHER_PERSON,
}


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a message. `message[start:end] == text`."""

    text: str
    start: int
    end: int
    modality: frozenset[Modality] = frozenset()
    subject: str = ""
    """The third person who is its subject, in lower case: `lucia`, `sister`, `민준`. Empty for the speaker
    and for things. A pronoun stands for the person who was named before it, where there is one."""
    speaker: str = ""
    """The third person whose words are reported; empty if nobody is named."""

    @property
    def asserted(self) -> bool:
        """Whether the speaker claims it, or claims its negation. Hearsay and the past are claimed as such."""
        return not self.modality & UNASSERTED


@dataclass
class Part:
    """A clause while its message is read."""

    text: str
    start: int
    end: int
    leads: bool = True
    """Whether a mark, and not only a space, stands before it."""
    closes: bool = True
    """Whether a sentence ends with it."""
    asked: bool = False
    """Whether a question mark follows."""
    modality: set[Modality] = field(default_factory=set[Modality])
    subject: str = ""
    speaker: str = ""


Span = tuple[int, int]

_QUOTATION = re.compile(
    r"\"([^\"\n]{2,400})\"|“([^”\n]{2,400})”|「([^」\n]{2,400})」"
    r"|(?:(?<=[\s:(])|^)['‘]([^'’\n]{1,400}(?:['’]\w[^'’\n]*)*)['’](?![a-z])",
    re.IGNORECASE | re.MULTILINE,
)
# A word or a title in quotation marks may be what somebody likes: My favourite film is "The Third Man".
_TITLE = re.compile(
    r"\S+|(?:[A-Z0-9]\S*|of|the|and|a|in|to|for|on)(?:\s(?:[A-Z0-9]\S*|of|the|and|a|in|to|for|on))*"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_SUNG = re.compile(r"[♪♫🎵🎶]+[^\n♪♫🎵🎶]*[♪♫🎵🎶]*")
_CITED = re.compile(r"^>(?!.{0,3}<)[^\n]*", re.MULTILINE)
_ACTION = re.compile(r"^\s*(?:\*(?P<action>[^*\n]{3,120})\*|\((?P<aside>[가-힣 ]{2,20}(?:며|면서|고|다))\))")
# Gestures that people add to what they really say.
_GESTURE = re.compile(
    r"\b(?:sigh|hug|yawn|laugh|giggl|smil|nod|shrug|cr(?:y|ies)|sob|wav(?:e|es|ing)\b|blush|facepalm|groan"
    r"|grin|wink|sniff|cough|gasp|blink|pout|eye ?roll|rolls)|한숨|끄덕|웃|울|하품|포옹|손 ?흔|훌쩍|절레"
)


def level(text: str) -> str:
    """`text` in normal form (case, width, quotes), character by character, so that its length stays the same.

    A character whose normal form is longer is kept, one that has none becomes a space.
    """
    return "".join(map(_level, text))


@lru_cache(maxsize=8192)
def _level(char: str) -> str:
    if char.isspace():
        return "\n" if char in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" else " "
    if char in _PLAIN:
        return _PLAIN[char]
    if "\u3131" <= char <= "\u318e":
        return char
    folded = normalize(char)
    if len(folded) == 1:
        return folded
    return char if folded and unicodedata.category(char) != "Cs" else " "


_PLAIN = {"’": "'", "‘": "'", "“": '"', "”": '"', "…": ".", "´": "'", "`": "`", "～": "~", "？": "?"}


def quoted_spans(text: str) -> list[Span]:
    """Where `text` has words that are not its author's: quoted sentences, code, cited lines, songs."""
    spans = [match.span() for pattern in (_CODE, _SUNG, _CITED) for match in pattern.finditer(text)]
    for match in _QUOTATION.finditer(text):
        inside = next(part for part in match.groups() if part is not None).strip()
        if not _TITLE.fullmatch(inside):
            spans.append(match.span())
    return sorted(spans)


def plays_a_role(text: str) -> bool:
    """Whether a message begins with an action that is more than a gesture: *draws a sword*."""
    match = _ACTION.match(level(text))
    return match is not None and not _GESTURE.search(match["action"] or match["aside"])


def listed(words: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(words.split())


def cues(table: str) -> re.Pattern[str]:
    """A pattern for any of the cues of a table, which stand one to a line or between ` / `.

    `{ㄴ}`, `{ㄹ}`, `{ㅁ}` and `{ㅆ}` are any syllable with that final consonant.
    """
    found = [cue.strip() for line in table.splitlines() for cue in line.split(" / ") if cue.strip()]
    pattern = "|".join(found)
    for consonant, number in _FINALS:
        pattern = pattern.replace(f"{{{consonant}}}", _ending_in(number))
    return re.compile(pattern)


_FINALS = (("ㄴ", 4), ("ㄹ", 8), ("ㅁ", 16), ("ㅆ", 20))


def _ending_in(number: int) -> str:
    return "[" + "".join(chr(code + number) for code in range(0xAC00, 0xD7A4, 28)) + "]"
