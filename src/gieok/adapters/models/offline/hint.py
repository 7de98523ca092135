"""A hint of what a stretch of conversation was about: its weightiest sentence, and its topics."""

from __future__ import annotations

from gieok.adapters.models.offline.analysis import MAX_CHARS, read
from gieok.adapters.models.offline.keywords import keywords
from gieok.adapters.models.offline.summary import summarize

_TOPICS = 5
# A sentence of a hint is for recognising, not for reading.
_SENTENCE_CHARS = 120


def hint(said: str, answered: str) -> str:
    """One line in the language of `said`, never empty. Of a long stretch its two ends are read."""
    utterance = read(_ends(said))
    topics = keywords(utterance, _ends(answered), _TOPICS)
    sentence = summarize(utterance, answered, topics, _SENTENCE_CHARS)
    missing = [topic for topic in topics if topic.casefold() not in sentence.casefold()]
    return f"{sentence} ({', '.join(missing)})" if missing else sentence


def _ends(text: str) -> str:
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]}\n{text[-half + 1 :]}"
