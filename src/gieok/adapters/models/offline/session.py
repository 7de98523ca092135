"""The summary of a whole conversation: what the user shared, how they felt, and how much it matters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from gieok.adapters.models.offline.analysis import MAX_CHARS, Sentence, Utterance, read
from gieok.adapters.models.offline.emotion import emotion_in
from gieok.adapters.models.offline.importance import importance, weight
from gieok.adapters.models.offline.keywords import keywords
from gieok.adapters.models.offline.salience import salience
from gieok.adapters.models.offline.summary import retell_best, summarize
from gieok.memory.companion.records import Emotion, SessionSummary, Spoken

SUMMARY_CHARS = 500
_TOPICS = 5
_HANGUL_WORD = re.compile(r"[가-힣]+")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")


def summarize_messages(messages: Sequence[Spoken]) -> SessionSummary:
    """One or two sentences about what the user said, in the language of most of their words."""
    said = [message.content for message in messages if message.role == "user"]
    answered = " ".join(message.content for message in messages if message.role == "assistant")[:MAX_CHARS]
    utterance = _joined(said)
    topics = keywords(utterance, answered, _TOPICS)
    told = retell_best(utterance, SUMMARY_CHARS, _worth)
    return SessionSummary(
        summary=told or summarize(utterance, answered, topics, SUMMARY_CHARS),
        topics=topics,
        emotion=emotion_in(utterance) or Emotion.CALM,
        importance=importance(utterance),
    )


def _worth(sentence: Sentence, language: str) -> float:
    """What changes a life is told before what is merely full of words."""
    return salience(sentence, language) + 1.5 * weight(sentence, language)


def _joined(said: Sequence[str]) -> Utterance:
    """Every message as one utterance. What was said in the other language cannot be retold in this one."""
    spoken = _language(said)
    read_all = [read(text) for text in said]
    kept = [one for one in read_all if one.language == spoken] or read_all
    return Utterance(
        text=" ".join(one.text for one in kept),
        language=spoken,
        sentences=tuple(sentence for one in kept for sentence in one.sentences),
        informative=tuple(sentence for one in kept for sentence in one.informative),
    )


def _language(said: Sequence[str]) -> Literal["ko", "en"]:
    text = " ".join(said)
    return "en" if len(_LATIN_WORD.findall(text)) > len(_HANGUL_WORD.findall(text)) else "ko"
