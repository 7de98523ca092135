"""The summary of a turn: one or two sentences that a later conversation could use, in the third person."""

from __future__ import annotations

from collections.abc import Callable

from gieok.adapters.models.offline.analysis import Sentence, Utterance
from gieok.adapters.models.offline.clauses import condense_english, condense_korean
from gieok.adapters.models.offline.salience import salience
from gieok.adapters.models.offline.smalltalk import SmallTalk
from gieok.text import normalize

# A message of this length or more never stands in a summary as it was written.
VERBATIM_CHARS = 40
_SENTENCES = 2
# A second sentence must tell at least this share of what the first tells.
_WORTH = 0.35

_SMALL_TALK = {
    "ko": {
        SmallTalk.GREETING: "사용자가 인사를 나눔.",
        SmallTalk.FAREWELL: "사용자가 작별 인사를 나눔.",
        SmallTalk.THANKS: "사용자가 고마움을 전함.",
        SmallTalk.APOLOGY: "사용자가 미안함을 전함.",
        SmallTalk.ASSENT: "사용자가 짧게 맞장구를 침.",
        None: "사용자가 짧게 말을 건넴.",
    },
    "en": {
        SmallTalk.GREETING: "The user exchanged greetings.",
        SmallTalk.FAREWELL: "The user said goodbye.",
        SmallTalk.THANKS: "The user expressed thanks.",
        SmallTalk.APOLOGY: "The user apologised.",
        SmallTalk.ASSENT: "The user briefly responded.",
        None: "The user sent a short message.",
    },
}


def summarize(utterance: Utterance, answer: str, topics: tuple[str, ...], limit: int) -> str:
    """At most `limit` characters, never empty, and never the words of `utterance` or `answer` themselves."""
    made = retell_best(utterance, limit, salience)
    for text in (made, _about(utterance, topics), _SMALL_TALK[utterance.language][utterance.small_talk]):
        short = cut(text, limit)
        if short and not _is_copy(short, utterance.text) and not _is_copy(short, answer):
            return short
    return cut("사용자와 대화함." if utterance.language == "ko" else "A short exchange.", limit)


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, cut between words where there is room for one."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1].rsplit(" ", 1)[0] if " " in text[: limit + 1] else text[:limit]
    return head[:limit].rstrip(" ,.") or text[:limit]


def retell_best(utterance: Utterance, limit: int, worth: Callable[[Sentence, str], float]) -> str:
    """The one or two sentences worth most, retold in their order; "" when none of them can be."""
    spoken = utterance.informative
    scored = [(worth(sentence, utterance.language), index) for index, sentence in enumerate(spoken)]
    best = sorted(scored, key=lambda pair: (-pair[0], pair[1]))
    told: dict[int, str] = {}
    room = limit
    for score, index in best:
        if len(told) == _SENTENCES or (told and score < best[0][0] * _WORTH):
            break
        text = _tell(spoken[index], utterance.language, room)
        if text is not None and len(text) <= room and text not in told.values():
            told[index] = text
            room -= len(text) + 1
    parts = [told[index] for index in sorted(told)]
    return " ".join(parts if utterance.language == "en" else _subject_once(parts))


def _tell(sentence: Sentence, language: str, room: int) -> str | None:
    return condense_english(sentence.text, room) if language == "en" else condense_korean(sentence, room)


def _subject_once(parts: list[str]) -> list[str]:
    """Korean names its subject once: the second sentence goes without."""
    return [part if index == 0 else part.removeprefix("사용자가 ") for index, part in enumerate(parts)]


def _about(utterance: Utterance, topics: tuple[str, ...]) -> str:
    """What is left to say of a message whose sentences could not be retold: its topics."""
    if not topics:
        return ""
    named = ", ".join(topics)
    if utterance.language == "ko":
        return f"사용자가 {named}에 대해 이야기함."
    return f"The user talked about {named}."


def _is_copy(summary: str, said: str) -> bool:
    if len(said) > 8 * len(summary):
        return False  # too long to stand in it, and not worth normalising
    told, raw = normalize(summary).rstrip(" .!?"), normalize(said).rstrip(" .!?")
    return told == raw or (len(raw) >= VERBATIM_CHARS and raw in told)
