"""The reply: short, warm, in the persona's language, made from what was said and what is remembered.

What the user, a memory or a fact says is material to speak about. No instruction in it is followed, because
nothing here reads instructions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gieok.adapters.models.offline.analysis import Utterance, read
from gieok.adapters.models.offline.emotion import Emotion, emotion_in
from gieok.adapters.models.offline.found import AHEAD
from gieok.adapters.models.offline.keywords import topic_of
from gieok.adapters.models.offline.moment import in_todays_words, local_day, name_of_day
from gieok.adapters.models.offline.phrases import CASUAL, ENGLISH, POLITE, Noun, Phrases, one
from gieok.adapters.models.offline.recall import (
    Event,
    answering_fact,
    answering_known,
    answering_memory,
    event_in,
    had_a_hard_time,
)
from gieok.adapters.models.offline.retelling import (
    is_note,
    tell_back_english,
    tell_back_korean,
    tell_fact_english,
    tell_fact_korean,
)
from gieok.memory.conversation.records import ContextMemory, Prompt
from gieok.memory.observations import Category
from gieok.text import language

_POLITE = re.compile(r"존댓말|존대|정중|공손|높임말")
_CASUAL = re.compile(r"반말|편한 말투|친근한 말투")
_WHO_ARE_YOU = re.compile(
    r"(?:너|네|넌|니|당신).{0,4}(?:이름|누구)|^(?:이름이|성함이) (?:뭐|어떻게)|"
    r"who are you|what(?:'s| is) your name",
    re.IGNORECASE,
)
_SEEKING = re.compile(
    r"뭐|뭘|무엇|무슨|언제|어디|누구|누가|몇|얼마|어느|어떤|기억|했지|였지|됐지|더라|말했|"
    r"\b(?:what|when|where|who|which|how (?:many|much|old)|remember|told|tell)\b"
    r"|\bhow (?:was|were|did)\b(?! you)",
    re.IGNORECASE,
)
_TO_THE_PERSONA = re.compile(
    r"(?:^|\s)(?:너|넌|너는|너도|네가|니가|당신)(?:\s|은|이|도|$)"
    r"|\b(?:do|are|have|did) you (?!remember|know|recall)",
    re.IGNORECASE,
)
_PROPOSING = re.compile(r"[래까]요?\s*\?")
_REMEMBER = re.compile(r"기억|\bremember", re.IGNORECASE)
_PAST = re.compile(
    r"[았었했갔왔봤쳤렸났됐웠졌냈켰였](?:어|다|는데|지|거든|네|습니다|잖)|끝나|"
    r"\b(?:was|were|went|had|got|saw|over|back|\w+ed)\b"
)
_PLAN = re.compile(
    r"[갈할볼을될올] (?:거|예정|계획)|내일|모레|다음 ?[주달]|앞두|\b(?:will|going to|tomorrow|next|plan)\b",
    re.IGNORECASE,
)
_LIKING = re.compile(r"좋아하|좋아해|사랑해|최애|\b(?:love|like|enjoy|favou?rite)\b", re.IGNORECASE)
_BURDENS = (Emotion.STRESS, Emotion.SADNESS)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a reply is made from."""

    prompt: Prompt
    said: Utterance
    memories: tuple[ContextMemory, ...]
    phrases: Phrases
    polite: bool
    opening: bool

    @property
    def language(self) -> str:
        return self.prompt.persona.language


def compose(prompt: Prompt) -> str:
    """One to three sentences. Never empty."""
    turn = _turn(prompt)
    from_memory = (_from_state, _from_facts, _from_memory, _about_event, _about_last_time)
    for answer in (_introduction, *from_memory, _small_talk):
        text = answer(turn)
        if text:
            return text
    return _reaction(turn)


def _turn(prompt: Prompt) -> _Turn:
    last = prompt.messages[-1] if prompt.messages else None
    said = read(last.content if last is not None and last.role == "user" else "")
    manner = prompt.persona.system_prompt
    polite = bool(_POLITE.search(manner)) and not _CASUAL.search(manner)
    phrases = ENGLISH if prompt.persona.language == "en" else POLITE if polite else CASUAL
    opening = not any(message.role == "assistant" for message in prompt.messages)
    # A memory in another language cannot be put into this one's sentences.
    memories = tuple(m for m in prompt.memories if language(m.summary) == prompt.persona.language)
    return _Turn(prompt, said, memories, phrases, polite, opening)


def _asks(turn: _Turn) -> bool:
    return any(sentence.asks for sentence in turn.said.informative)


def _seeks(turn: _Turn) -> bool:
    """Whether the user wants to be told something, rather than asks for a word or proposes something."""
    text = turn.said.text
    return _asks(turn) and bool(_SEEKING.search(text)) and not _PROPOSING.search(text)


def _introduction(turn: _Turn) -> str:
    if _asks(turn) and _WHO_ARE_YOU.search(turn.said.text):
        return turn.phrases.name.format(name=Noun(turn.prompt.persona.name))
    return ""


def _from_state(turn: _Turn) -> str:
    fact = answering_fact(turn.said.text, turn.prompt.state) if _asks(turn) else None
    # A note is no name for a thing; the memory that it came from says it better.
    if fact is None or is_note(fact.value):
        return ""
    key, value = (Noun(" ".join(text.split())) for text in (fact.key, fact.value))
    return turn.phrases.fact.format(key=key, value=value)


def _from_facts(turn: _Turn) -> str:
    """What is known of the user besides the state, where they ask for it or for what it bears on."""
    text = turn.said.text
    if not _asks(turn) or _PROPOSING.search(text) or _TO_THE_PERSONA.search(text):
        return ""
    known = [fact for fact in turn.prompt.facts if fact.value and _speaks(fact.value, turn.language)]
    fact = answering_known(text, known)
    if fact is None:
        return ""
    value, label = " ".join(fact.value.split()), turn.phrases.slots.get(fact.key)
    if label and not is_note(value):
        return turn.phrases.fact.format(key=Noun(label), value=Noun(value))
    return tell_fact_english(value) if turn.language == "en" else tell_fact_korean(value, polite=turn.polite)


def _speaks(value: str, spoken: str) -> bool:
    """A value in another language cannot be put into this one's sentences; a name or a number can."""
    return " " not in value or language(value) == spoken


def _from_memory(turn: _Turn) -> str:
    found = answering_memory(turn.said.text, turn.memories) if _seeks(turn) else None
    if found is None:
        return ""
    sentence, when = found
    now = turn.prompt.now
    text = in_todays_words(" ".join(sentence.split()), local_day(when, now), local_day(now, now))
    told = tell_back_english(text) if turn.language == "en" else tell_back_korean(text, polite=turn.polite)
    return f"{turn.phrases.of_course} {told}" if _REMEMBER.search(turn.said.text) else told


def _about_last_time(turn: _Turn) -> str:
    """After a greeting or nothing at all: ask after what the user was waiting for, or suffered from."""
    if turn.said.informative or not turn.memories:
        return ""
    event = _event(turn, turn.phrases.how_was)
    if event:
        return event
    if turn.phrases.how_now in _said_before(turn) or not had_a_hard_time(turn.memories):
        return ""
    return turn.phrases.how_now


def _about_event(turn: _Turn) -> str:
    """The user comes back to something that they were waiting for, and does not say yet how it was."""
    prompt, text = turn.prompt, turn.said.text
    event = event_in(turn.memories, prompt.now, f"{_said_before(turn)} {_known_to_be_over(turn)}")
    if event is None or event.name.lower() not in text.lower() or _seeks(turn) or emotion_in(turn.said):
        return ""
    over = event.is_over(prompt.now) or (event.is_due(prompt.now) and _PAST.search(text))
    return _named(turn, turn.phrases.how_was, event) if over else ""


def _event(turn: _Turn, how_was: str) -> str:
    prompt = turn.prompt
    spoken_of = f"{_said_before(turn)} {_known_to_be_over(turn)} {turn.said.text}"
    event = event_in(turn.memories, prompt.now, spoken_of)
    if event is None:
        return ""
    return _named(turn, how_was if event.is_over(prompt.now) else turn.phrases.is_coming, event)


def _named(turn: _Turn, phrase: str, event: Event) -> str:
    now = turn.prompt.now
    when = name_of_day(event.day, local_day(now, now), turn.language)
    return phrase.format(when=when, event=Noun(event.name))


def _said_before(turn: _Turn) -> str:
    return " ".join(message.content for message in turn.prompt.messages if message.role == "assistant")


def _known_to_be_over(turn: _Turn) -> str:
    """Events of the state that do not lie ahead any more: nobody is asked about them once more."""
    events = (fact for fact in turn.prompt.state if fact.category == Category.EVENT)
    return " ".join(fact.key for fact in events if not fact.value.endswith(AHEAD))


def _small_talk(turn: _Turn) -> str:
    if turn.said.informative:
        return ""
    kind = turn.said.small_talk
    choices = turn.phrases.small_talk[kind] if kind else turn.phrases.listening
    return one(choices, turn.said.text)


def _reaction(turn: _Turn) -> str:
    felt = emotion_in(turn.said)
    parts = [one(turn.phrases.emotions[felt], turn.said.text)] if felt else []
    parts.append(_follow_up(turn))
    if turn.opening and felt not in _BURDENS and not _asks(turn):
        aside = _event(turn, turn.phrases.how_was_aside)
        parts += [aside] if aside else []
    return " ".join(parts)


def _follow_up(turn: _Turn) -> str:
    said, phrases = turn.said.text, turn.phrases
    topic = topic_of(turn.said)
    if topic is None:
        return one(phrases.listening, said)
    choices = phrases.topic
    if _asks(turn):
        choices = phrases.unsure
    elif emotion_in(turn.said) in _BURDENS:
        choices = phrases.burden
    elif _LIKING.search(said):
        choices = phrases.liking
    elif _PLAN.search(said):
        choices = phrases.plan
    elif _PAST.search(said):
        choices = phrases.past
    return one(choices, said).format(topic=Noun(topic))
