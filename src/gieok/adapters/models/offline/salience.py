"""How much a sentence tells about the user: facts, events, plans, preferences, feelings."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.analysis import Sentence
from gieok.adapters.models.offline.emotion import feelings
from gieok.text.english.stemming import is_stop_word

_CONTENT = frozenset({"NNG", "NNP", "SL", "SH", "SN", "VV", "VA", "XR", "MAG"})
_FIRST_PERSON = frozenset({"나", "저", "내", "제", "우리", "저희"})
_PLANS = frozenset({"겠", "싶", "예정", "계획", "려고", "으려고", "ㄹ게", "을게", "기로", "약속", "목표"})
_EVENT = re.compile(
    r"\b(?:will|going to|plan|want|hope|have to|need to|tomorrow|next|was|were|had|\w+ed|went|got|love|like"
    r"|prefer|hate|yesterday|last|my|i|i'm|i've|we)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")


def salience(sentence: Sentence, language: str) -> float:
    """Higher the more a later conversation could use of the sentence; a question counts half."""
    score = _korean(sentence) if language == "ko" else _english(sentence)
    if feelings(sentence, language):
        score += 1.5
    # A question without a content word (Where are you from?) still tells more than nothing.
    return max(score, 0.5) * (0.5 if sentence.asks else 1.0)


def _korean(sentence: Sentence) -> float:
    score = 0.0
    for morpheme in sentence.morphemes:
        if morpheme.tag in _CONTENT:
            score += 0.5 if morpheme.tag == "MAG" else 1.0
        elif morpheme.tag == "EP":
            score += 0.5
        if morpheme.form in _PLANS:
            score += 1.0
        elif morpheme.tag == "NP" and morpheme.form in _FIRST_PERSON:
            score += 0.5
    return min(score, 6.0)


def _english(sentence: Sentence) -> float:
    content = sum(not is_stop_word(word.lower()) for word in _WORD.findall(sentence.text))
    return min(content + 0.5 * len(_EVENT.findall(sentence.text)), 6.0)
