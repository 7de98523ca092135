"""Summaries of turns and sessions, and hints: one or two short sentences in the third person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gieok.adapters.models.offline.emotion import emotion_in, feelings, importance, importance_of_sentence
from gieok.adapters.models.offline.english_speech import note_english, report_english
from gieok.adapters.models.offline.keywords import keywords
from gieok.adapters.models.offline.korean_speech import clause_windows, report_korean
from gieok.adapters.models.offline.reading import (
    MAX_CHARS,
    Sentence,
    Spoken,
    Utterance,
    listed,
    read,
)
from gieok.memory.companion.records import Emotion, SessionSummary
from gieok.memory.companion.records import Spoken as SpokenMessage
from gieok.memory.observations import TurnNote, VerbatimLimit
from gieok.text.english.stemming import is_stop_word
from gieok.text.small_talk import SmallTalk

IsCopy = Callable[[str, str], bool]
"""Whether a summary repeats a message."""

SESSION_CHARS = 500
HINT_CHARS = 120
# For sessions and hints; a plan says it for turns.
_CONDENSED = VerbatimLimit(chars=20, share=0.7)
# Longer sentences are condensed even if there is room: a memory is read again in every prompt.
_LONG = {"ko": 60, "en": 120}
_SENTENCES = 2
# A second sentence must have at least this share of the score of the first.
_WORTH = 0.35
_TOPICS = 3
_SESSION_TOPICS = 5

_FIXED: dict[Spoken, dict[SmallTalk | None, str]] = {
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
_ABOUT = {
    "ko": {
        "statement": "사용자가 {}에 대해 이야기함.",
        "question": "사용자가 {}에 대해 물음.",
        "request": "사용자가 {} 이야기로 부탁을 함.",
    },
    "en": {
        "statement": "The user talked about {}.",
        "question": "The user asked about {}.",
        "request": "The user asked for something about {}.",
    },
}
_ASKED = {"ko": "사용자가 짧게 질문함.", "en": "The user asked a short question."}
_NOTHING = {"ko": "사용자와 대화함.", "en": "A short exchange."}

# Words that a summary can do without.
_FILLERS = {
    "ko": re.compile(
        r"(?:^|(?<=\s))(?:진짜로?|정말로?|너무너무|너무|좀|막|완전|그냥|걍|엄청|되게|아주|매우|많이|갑자기|드디어|벌써"
        r"|사실은?|솔직히|오늘은?|어제는?|아까|방금|요즘은?|요새|이번에|새로운|중요한"
        r"|하루 종일|계속|이제|결국|일단)(?:\s+|$)"
    ),
    "en": re.compile(
        r"\b(?:really|so|very|just|actually|finally|important|great|new|good|big|today|yesterday|last night"
        r"|this morning|lately|recently|honestly|kind of|pretty|totally|absolutely|super|even|already|still) "
    ),
}
_REQUEST = {
    "ko": re.compile(r"(?:해|어|아|와|려|러) ?(?:줘|줄래|주라|주세요|주십시오|주시겠)[요?.!~\s]*$"),
    "en": re.compile(
        r"^(?:please|pls|can you|could you|will you|would you|let'?s|tell|help|recommend|give|show|explain"
        r"|remind|suggest|teach|send|find|write|translate)\b",
        re.IGNORECASE,
    ),
}
_CONTENT = frozenset({"NNG", "NNP", "SL", "SH", "SN", "VV", "VA", "XR", "MAG"})
_SELF_AND_PLANS = listed("겠 싶 예정 계획 려고 으려고 ㄹ게 을게 기로 약속 목표 나 저 내 제 우리 저희")
_TELLING = re.compile(
    r"\b(?:will|going to|plan|want|hope|have to|need to|tomorrow|next|was|were|had|\w+ed|went|got|love|like"
    r"|prefer|hate|yesterday|last|my|i|i'm|i've|we)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_HANGUL_WORD = re.compile(r"[가-힣]+")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")


def summarize_turn(user: str, assistant: str, *, chars: int, max_keywords: int, is_copy: IsCopy) -> TurnNote:
    """The summary of what the user said in at most `chars` characters, and the keywords. Never a copy."""
    said = read(user)
    found = keywords(said, assistant, max(max_keywords, _TOPICS))
    summary = _summarize(said, assistant, found[:_TOPICS], chars, _salience, is_copy)
    return TurnNote(summary=summary, keywords=found[:max_keywords])


def summarize_session(messages: Sequence[SpokenMessage]) -> SessionSummary:
    """One or two sentences about what the user said, in the language of most of their words."""
    said = [message.content for message in messages if message.role == "user"]
    answered = " ".join(message.content for message in messages if message.role == "assistant")[:MAX_CHARS]
    utterance = _joined(said)
    topics = keywords(utterance, answered, _SESSION_TOPICS)
    return SessionSummary(
        summary=_summarize(utterance, answered, topics, SESSION_CHARS, _session_worth, _CONDENSED.is_copy),
        topics=topics,
        emotion=emotion_in(utterance) or Emotion.CALM,
        importance=importance(utterance),
    )


def hint(said: str, answered: str) -> str:
    """One line in the language of `said`, never empty. Of a long text its two ends are read."""
    utterance = read(_ends(said))
    topics = keywords(utterance, _ends(answered), _SESSION_TOPICS)
    sentence = _summarize(utterance, answered, topics, HINT_CHARS, _salience, _CONDENSED.is_copy)
    missing = [topic for topic in topics if topic.casefold() not in sentence.casefold()]
    return f"{sentence} ({', '.join(missing)})" if missing else sentence


def _summarize(
    utterance: Utterance,
    answer: str,
    topics: tuple[str, ...],
    limit: int,
    worth: Callable[[Sentence, Spoken], float],
    is_copy: IsCopy,
) -> str:
    """At most `limit` characters, never empty, and never verbatim."""
    for text in _attempts(utterance, topics, limit, worth):
        short = _cut(text, limit)
        if short and not is_copy(short, utterance.text) and not is_copy(short, answer):
            return short
    return _cut(_NOTHING[utterance.language], limit)


def _attempts(
    utterance: Utterance, topics: tuple[str, ...], limit: int, worth: Callable[[Sentence, Spoken], float]
) -> Iterator[str]:
    """Candidates from the most to the least detailed: two sentences, one, the topics, small talk."""
    spoken = utterance.language
    scored = [(worth(sentence, spoken), index) for index, sentence in enumerate(utterance.informative)]
    best = sorted(scored, key=lambda pair: (-pair[0], pair[1]))
    for count in range(min(_SENTENCES, len(best)), 0, -1):
        chosen = sorted(index for score, index in best[:count] if score >= best[0][0] * _WORTH)
        reports = [_reports(utterance.informative[index], spoken, limit // len(chosen)) for index in chosen]
        # The versions of the sentences from whole to light, the last one repeated.
        for depth in range(max(map(len, reports), default=0)):
            parts = [versions[min(depth, len(versions) - 1)] for versions in reports if versions]
            if text := _joined_sentences(parts, spoken):
                yield text
    if nouns := _nouns(topics):
        kind = "question" if utterance.asks else "statement"
        yield _ABOUT[spoken][kind].format(", ".join(nouns[:_TOPICS]))
    if utterance.asks:
        yield _ASKED[spoken]
    yield _FIXED[spoken][utterance.small_talk]


def _joined_sentences(parts: Sequence[str], spoken: Spoken) -> str:
    """The sentences without repetitions; Korean names its subject once."""
    different = list(dict.fromkeys(parts))
    if spoken == "ko":
        different[1:] = [part.removeprefix("사용자가 ") for part in different[1:]]
    return " ".join(different)


def _reports(sentence: Sentence, spoken: Spoken, room: int) -> list[str]:
    """Versions of the sentence in the third person within `room`: whole, without fillers, in fewer clauses.

    A version must keep one of the topics; otherwise the topics of the message say more. A question or a
    request is summarised by its topics.
    """
    topics = _nouns(keywords(Utterance(sentence.text, spoken, (sentence,), (sentence,)), "", _TOPICS))
    kind = "request" if _REQUEST[spoken].search(sentence.text) else "question" if sentence.asks else ""
    if kind:
        return [_ABOUT[spoken][kind].format(", ".join(topics)) if topics else _ASKED[spoken]]
    limit = min(room, _LONG[spoken])
    versions: list[str] = []
    for text in dict.fromkeys((sentence.text, _FILLERS[spoken].sub("", sentence.text))):
        if spoken == "en":
            versions += filter(None, (report_english(text, limit), report_english(text, limit, front=True)))
            continue
        for light in read(text).sentences[:1]:
            reported = map(report_korean, (light, *clause_windows(light)))
            versions += [each for each in reported if each is not None and len(each) <= limit]
    if spoken == "en" and (note := note_english(sentence.text, limit)):
        versions.append(note)
    return [text for text in versions if not topics or any(t.casefold() in text.casefold() for t in topics)]


def _nouns(topics: tuple[str, ...]) -> tuple[str, ...]:
    """The topics without verbs (재밌다)."""
    return tuple(topic for topic in topics if not topic.endswith("다"))


def _cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, cut between words if possible."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1].rsplit(" ", 1)[0] if " " in text[: limit + 1] else text[:limit]
    return head[:limit].rstrip(" ,.") or text[:limit]


def _salience(sentence: Sentence, spoken: Spoken) -> float:
    """Higher the more a later conversation could use of the sentence; a question counts half."""
    if spoken == "ko":
        forms = [m.form for m in sentence.morphemes]
        content = sum(0.5 if m.tag == "MAG" else 1.0 for m in sentence.morphemes if m.tag in _CONTENT)
        tensed = 0.5 * sum(m.tag == "EP" for m in sentence.morphemes)
        score = content + tensed + 0.5 * len(_SELF_AND_PLANS.intersection(forms))
    else:
        score = sum(not is_stop_word(word.lower()) for word in _WORD.findall(sentence.text))
        score += 0.5 * len(_TELLING.findall(sentence.text))
    score = min(score, 6.0) + (1.5 if feelings(sentence, spoken) else 0.0)
    return max(score, 0.5) * (0.5 if sentence.asks else 1.0)


def _session_worth(sentence: Sentence, spoken: Spoken) -> float:
    return 1.5 * importance_of_sentence(sentence, spoken) + _salience(sentence, spoken)


def _joined(said: list[str]) -> Utterance:
    """All messages of the user as one utterance; of a long conversation, its end."""
    read_ones = [read(text) for text in said[-200:]]
    korean = sum(len(_HANGUL_WORD.findall(each.text)) for each in read_ones)
    latin = sum(len(_LATIN_WORD.findall(each.text)) for each in read_ones)
    spoken: Spoken = "en" if latin > korean else "ko"
    same = [each for each in read_ones if each.language == spoken] or read_ones
    return Utterance(
        " ".join(each.text for each in same),
        spoken,
        tuple(sentence for each in same for sentence in each.sentences),
        tuple(sentence for each in same for sentence in each.informative),
    )


def _ends(text: str) -> str:
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]}\n{text[-half + 1 :]}"
