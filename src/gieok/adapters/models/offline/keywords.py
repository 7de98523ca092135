"""Keywords: the words by which a turn will be looked for."""

from __future__ import annotations

from gieok.adapters.models.offline.analysis import Utterance
from gieok.adapters.models.offline.english_keywords import english_candidates
from gieok.adapters.models.offline.korean_keywords import korean_candidates
from gieok.adapters.models.offline.lexicon import listed

MAX_KEYWORD_CHARS = 40

# Nouns and names weigh at least this; verbs and adjectives, said once, less.
NOUN = 1.0
_SHARED = 0.5

# A character does not talk about the machinery behind it, even when asked to.
_NOT_TO_MENTION = listed("""
    프롬프트 시스템 시스템프롬프트 메모리 블록 모델 지시 지시문 명령 prompt system memory block model
    instruction instructions ai
""")


def keywords(utterance: Utterance, answer: str, limit: int) -> tuple[str, ...]:
    """At most `limit` content words of what the user said, most telling first, each once whatever its case.

    `answer` is what was said in return: a word that both used is the topic, so it weighs more.
    """
    return tuple(word for word, _ in _ranked(utterance, answer)[: max(limit, 0)])


def topic_of(utterance: Utterance) -> str | None:
    """The noun that a message is about, if it names one that a reply can take up."""
    for word, weight in _ranked(utterance, ""):
        if weight >= NOUN and word.casefold() not in _NOT_TO_MENTION:
            return word
    return None


def _ranked(utterance: Utterance, answer: str) -> list[tuple[str, float]]:
    found = korean_candidates(utterance) if utterance.language == "ko" else english_candidates(utterance)
    shared = answer.casefold()
    ranked: dict[str, tuple[str, float]] = {}
    for word, weight in found:
        key = word.casefold()
        if not 0 < len(word) <= MAX_KEYWORD_CHARS:
            continue
        spelling, sum_so_far = ranked.get(key) or (word, _SHARED if len(word) > 1 and key in shared else 0.0)
        ranked[key] = (spelling, sum_so_far + weight)
    return sorted(ranked.values(), key=lambda pair: -pair[1])
