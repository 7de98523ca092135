"""The reply: whole phrases of `phrases.toml`, and verbatim quotes of what was said.

What the user, a memory or a fact says is only ever quoted. No instruction in it is followed, because nothing
here reads instructions.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from gieok.adapters.models.offline.days import day_in, local_day, when_english, when_korean
from gieok.adapters.models.offline.emotion import emotion_in, emotion_of
from gieok.adapters.models.offline.reading import Utterance, read
from gieok.adapters.models.offline.recall import Quote, Source, answer, quotable
from gieok.memory.companion.records import Emotion
from gieok.memory.conversation.records import ContextMemory, Prompt
from gieok.text import language, sentences, terms

_POLITE = re.compile(r"존댓말|존대|정중|공손|높임말")
_CASUAL = re.compile(r"반말|편한 말투|친근한 말투")
_WHO_ARE_YOU = re.compile(
    r"(?:너|네|넌|니|당신)(?:의|는|은)? ?(?:이름|누구)|^(?:이름이|성함이) (?:뭐|어떻게)"
    r"|\bwho are you\b|\bwhat(?:'s| is) your name\b",
    re.IGNORECASE,
)
_TO_THE_PERSONA = re.compile(
    r"(?:^|\s)(?:너|넌|너는|너도|네가|니가|당신)(?:\s|은|이|도|$)(?!.*(?:말했|했던|약속|기억|부르|불러|골라))"
    r"|\b(?:do|are|have|did|can|would) you (?!remember|know|recall|still remember|say|tell|promise|think i)",
    re.IGNORECASE,
)
_PROPOSING = re.compile(
    r"(?:[래까]요?|어때요?|[하을]지)\s*\?|추천|\bshould (?:i|we)\b|\bwhat if\b|\bwould it be\b", re.IGNORECASE
)
_SEEKING = re.compile(
    r"뭐|뭘|무엇|무슨|언제|어디|누구|누가|몇|며칠|얼마|어느|어떤|기억|[했였었]지|더라|말했|있어 없어|인지"
    r"|(?:이름|날짜|직업)은|\b(?:what|when|where|who|which|whose|why|how|remember|told|tell me"
    r"|am i|do i|did i|have i|is my|was my)\b",
    re.IGNORECASE,
)
_REMEMBER = re.compile(r"기억|\bremember", re.IGNORECASE)
_RECALL_REQUEST = re.compile(
    r"(?:말해|알려|정리|설명해?) ?(?:줘|봐|주세요|좀|보렴)|\b(?:tell me about|sum up|remind me|list)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"[았었했갔왔봤쳤렸났됐웠졌냈켰였](?:어|다|는데|지|거든|네|습니다|잖)|끝나"
    r"|\b(?:was|were|went|had|got|saw|over|back|\w+ed)\b"
)
_PLAN = re.compile(
    r"[갈할볼을될올] (?:거|예정|계획)|내일|모레|다음 ?[주달]|앞두|\b(?:will|going to|tomorrow|next|plan)\b",
    re.IGNORECASE,
)
_LIKING = re.compile(r"좋아하|좋아해|사랑해|최애|\b(?:love|like|enjoy|favou?rite)\b", re.IGNORECASE)
_EVENTS = {
    "interview": "면접|인터뷰|interview",
    "exam": "시험|수능|토익|중간고사|기말고사|exam|midterm|finals|test",
    "trip": "여행|trip|flight|vacation",
    "presentation": "발표|presentation",
    "surgery": "수술|surgery|operation",
    "date": "데이트|소개팅|date",
    "wedding": "결혼식|wedding",
    "concert": "공연|콘서트|concert|recital|gig",
    "contest": "대회|경기|오디션|마라톤|competition|contest|match|marathon|audition|tournament",
    "move": "이사|moving",
}
_EVENT = {name: re.compile(rf"(?:{words})s?(?![a-z])", re.IGNORECASE) for name, words in _EVENTS.items()}
_OVER = re.compile(
    r"[았었했갔왔봤쳤렸났됐웠졌냈켰였]다고|마침|합격|떨어짐|취소"
    r"|\bthe user (?:had|was|went|saw|did|met|\w+ed)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"물음\.?$|\basked\b")
_NEXT_WEEK = re.compile(r"다음 ?주|next week", re.IGNORECASE)
_BURDENS = (Emotion.STRESS, Emotion.SADNESS)
_NOON = 12

Phrases = Mapping[str, Any]
"""The phrases of one voice by purpose, and `events`."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a reply is made from."""

    prompt: Prompt
    said: Utterance
    phrases: Phrases
    today: date

    @property
    def memories(self) -> list[ContextMemory]:
        """Summaries of past conversations, newest first, in the language of the persona."""
        spoken = self.prompt.persona.language
        summaries = (memory for memory in self.prompt.memories if memory.kind == "memory")
        same = (memory for memory in summaries if language(memory.summary) == spoken)
        return sorted(same, key=lambda memory: memory.timestamp, reverse=True)

    @property
    def replied(self) -> str:
        """The replies of this conversation, as one text."""
        return " ".join(each.content for each in self.prompt.messages if each.role == "assistant")

    def say(self, purpose: str, **slots: str) -> str:
        """One phrase for this purpose: the same for the same message, and not that of the last reply."""
        choices: list[str] = self.phrases[purpose]
        first = zlib.crc32(self.said.text.encode("utf-8", "replace")) % len(choices)
        ordered = choices[first:] + choices[:first]
        last = next((m.content for m in reversed(self.prompt.messages) if m.role == "assistant"), "")
        return next((each for each in ordered if each not in last), ordered[0]).format(**slots)

    def when(self, day: date | None) -> str:
        if day is None:
            return self.phrases["earlier"][0]
        in_words = when_english if self.prompt.persona.language == "en" else when_korean
        return in_words(day, self.today)


@cache
def voices() -> Mapping[str, Phrases]:
    """All phrases, by voice: casual, polite, english."""
    return tomllib.loads(files(__package__).joinpath("phrases.toml").read_text("utf-8"))


def compose(prompt: Prompt) -> str:
    """One to three phrases. Never empty."""
    last = prompt.messages[-1] if prompt.messages else None
    said = read(last.content if last is not None and last.role == "user" else "")
    manner = prompt.persona.system_prompt
    is_polite = bool(_POLITE.search(manner)) and not _CASUAL.search(manner)
    voice = "english" if prompt.persona.language == "en" else "polite" if is_polite else "casual"
    turn = _Turn(prompt, said, voices()[voice], local_day(prompt.now, prompt.now))
    for part in (_introduction, _about_the_past, _about_event, _about_last_time, _small_talk):
        if text := part(turn):
            return text
    return _reaction(turn)


def _introduction(turn: _Turn) -> str:
    is_asked = turn.said.asks and _WHO_ARE_YOU.search(turn.said.text)
    return turn.say("who", speaker=turn.prompt.persona.name) if is_asked else ""


def _about_the_past(turn: _Turn) -> str:
    """Quotes for a question about the past, or that it is not known. "" for another question."""
    text = turn.said.text
    is_request = bool(_RECALL_REQUEST.search(text))
    seeks = (turn.said.asks and _SEEKING.search(text)) or is_request
    if not turn.said.asks and not is_request:
        return ""
    if _PROPOSING.search(text) or (_TO_THE_PERSONA.search(text) and not is_request):
        return ""
    if not seeks:
        return _named_fact(turn)
    question = " ".join(s.text for s in turn.said.informative if s.asks or is_request) or text
    found = answer(question, _sources(turn))
    if found is None:
        return turn.say("unknown")
    certainty, quotes = found
    lead = [turn.say("nearest")] if certainty == "unsure" else []
    if certainty == "sure" and _REMEMBER.search(text):
        lead = [turn.say("remember")]
    return " ".join([*lead, *(_quoted(turn, quote) for quote in quotes)])


def _named_fact(turn: _Turn) -> str:
    """The allergy or diet that bears on another question: 나 땅콩 먹어도 돼?"""
    asked = set(terms(turn.said.text))
    for fact in turn.prompt.facts:
        if fact.key.partition(":")[0] in ("allergy", "diet") and asked & set(terms(fact.value)):
            return turn.say("known", quote=quotable(fact.value, frozenset()))
    return ""


def _quoted(turn: _Turn, quote: Quote) -> str:
    source = quote.source
    return turn.say(source.kind, date=turn.when(source.day), speaker=source.speaker, quote=quote.text)


def _sources(turn: _Turn) -> list[Source]:
    """Everything in the prompt that can be quoted: messages, memories, facts."""
    prompt = turn.prompt
    window = [
        Source(message.content, "user_said" if message.role == "user" else "self_said")
        for message in prompt.messages[:-1]
    ]
    notes = [_source(memory, prompt) for memory in (*prompt.memories, *prompt.earlier)]
    # The memories of what happened say more than the note of an event.
    state = [fact for fact in prompt.state if fact.category != "EVENT" or not prompt.memories]
    known = [Source(fact.value, "known", topic=fact.key) for fact in (*state, *prompt.facts)]
    return [source for source in (*known, *notes, *window) if source.text.strip()]


def _source(memory: ContextMemory, prompt: Prompt) -> Source:
    """A memory as words that can be quoted, with who said them and when."""
    day = local_day(memory.timestamp, prompt.now)
    if memory.kind == "fact":
        key, _, value = memory.summary.partition(": ")
        return Source(value, "known", day, topic=key)
    if memory.kind == "memory":
        return Source(memory.summary, "noted", day)
    if memory.role == "assistant":
        return Source(memory.summary, "self_said", day)
    if memory.speaker and memory.speaker != prompt.user_name:
        return Source(memory.summary, "other_said", day, speaker=memory.speaker)
    return Source(memory.summary, "user_said", day)


def _about_event(turn: _Turn) -> str:
    """The user comes back to something that they were waiting for, and does not say yet how it was."""
    if turn.said.asks or emotion_in(turn.said):
        return ""
    name, day = _awaited(turn, turn.replied)
    if not name or not _EVENT[name].search(turn.said.text):
        return ""
    is_over = _is_over(turn, day) or (day <= turn.today and _PAST.search(turn.said.text))
    return _event_phrase(turn, name, day, over=True) if is_over else ""


def _about_last_time(turn: _Turn) -> str:
    """After a greeting or nothing: ask about what the user was waiting for, or suffered from."""
    if turn.said.informative or not turn.memories:
        return ""
    name, day = _awaited(turn, f"{turn.replied} {turn.said.text}")
    if name:
        return _event_phrase(turn, name, day, over=_is_over(turn, day))
    how_now = turn.say("how_now")
    felt = next((felt for memory in turn.memories if (felt := emotion_of(memory.summary))), None)
    return how_now if felt in _BURDENS and how_now not in turn.replied else ""


def _awaited(turn: _Turn, already_said: str) -> tuple[str, date]:
    """The newest event in the memories that was still ahead then, and its day; "" if there is none.

    An event of the state that is over, or that was spoken of already, is not asked about again.
    """
    over = " ".join(
        fact.key for fact in turn.prompt.state if fact.category == "EVENT" and not _is_ahead(fact.value)
    )
    for memory in turn.memories:
        for sentence in sentences(memory.summary):
            name = next((name for name, pattern in _EVENT.items() if pattern.search(sentence)), "")
            is_waiting = name and not _OVER.search(sentence) and not _ASKED.search(sentence)
            if is_waiting and not _EVENT[name].search(f"{already_said} {over}"):
                return name, _event_day(turn, sentence, memory)
    return "", turn.today


def _is_ahead(value: str) -> bool:
    return value.endswith(("앞두고 있음", " ahead", "예정"))


def _event_day(turn: _Turn, sentence: str, memory: ContextMemory) -> date:
    said_on = local_day(memory.timestamp, turn.prompt.now)
    week = timedelta(days=7 if _NEXT_WEEK.search(sentence) else 0)
    return day_in(sentence, said_on) or said_on + week


def _is_over(turn: _Turn, day: date) -> bool:
    """On the day itself an event counts as over from noon on."""
    return day < turn.today or (day == turn.today and turn.prompt.now.hour >= _NOON)


def _event_phrase(turn: _Turn, name: str, day: date, *, over: bool) -> str:
    phrase: str = turn.phrases["events"][name][0 if over else 1]
    return phrase.format(date=turn.when(day).removesuffix("에"))


def _small_talk(turn: _Turn) -> str:
    if turn.said.informative:
        return ""
    return turn.say(turn.said.small_talk or "listening")


def _reaction(turn: _Turn) -> str:
    """A word of empathy, then a follow-up. An awaited event is mentioned at the start of a conversation."""
    text, felt = turn.said.text, emotion_in(turn.said)
    if turn.said.asks:
        return turn.say("opinion")
    purpose = "listening"
    if felt in _BURDENS:
        purpose = "comfort"
    elif _LIKING.search(text):
        purpose = "liking"
    elif _PLAN.search(text):
        purpose = "plan"
    elif _PAST.search(text):
        purpose = "past"
    parts = [turn.say(felt.value)] if felt else []
    parts.append(turn.say(purpose))
    if not turn.replied and felt not in _BURDENS:
        name, day = _awaited(turn, text)
        if name and _is_over(turn, day):
            parts.append(_event_phrase(turn, name, day, over=True))
    return " ".join(parts)
