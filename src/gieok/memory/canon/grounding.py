"""Grounding by quote: which observations of a model were really said, and meant. Pure functions.

The quote of an observation must be in the message of its speaker, in their own words, and its clause must be
asserted. The value is a note and may be worded differently (내일 becomes a date), so it is compared only
where it matters: its polarity, its tense, and whom it is about.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gieok.memory.canon.own_words import own_words
from gieok.memory.canon.retraction import taken_back
from gieok.memory.observations import Category, Observation, Reason, Refusal, SpokenMessage
from gieok.text import language, terms
from gieok.text.modality import (
    Clause,
    Commitment,
    Modality,
    clauses,
    commitments,
    is_no,
    is_yes,
    opens_role_play,
)
from gieok.text.modality.clause import Span, level
from gieok.text.modality.english_cues import AUTHORITIES as ENGLISH_AUTHORITIES
from gieok.text.modality.korean_cues import AUTHORITIES as KOREAN_AUTHORITIES
from gieok.text.modality.notes import denies, ending_in, hedges, looks_back, mentions, mentions_anyone, wishes

ALL_COMMITMENTS = frozenset(Commitment)

# A condition may state these: 커피 마시면 잠을 못 자.
_GENERIC = frozenset({Category.HABIT, Category.PREFERENCE, Category.PERSONAL_INFO, Category.OPINION})
_TASTES = frozenset({Category.PREFERENCE, Category.OPINION})
_AUTHORITIES = ENGLISH_AUTHORITIES | KOREAN_AUTHORITIES
_ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…|\[\.\.\.\])\s*")
_REQUEST = re.compile(r"\b(?:can|could|would|will) (?:you|u)\b|(?:줄래|주실래|줄 수|해도 돼|주면 안)")
_ABOUT_SPEAKER = re.compile(r"\b(?:i|i'm|im|i've|ive|i'll|me|my|we|us|our)\b")
_TO_SPEAKER = re.compile(r"\b(?:me|us)\b")
_POSSESSED = re.compile(
    r"\b(?:his|her|their|\w{3,}'s)\s+(?!(?:\w+day|tonight|tomorrow|now|next|last|this)\b)(\w+)"
)
_INTRODUCED = re.compile(r"(?:\W*(?:hi|hello|hey)\W+)?this is (?P<name>[a-z]+)(?=\W*(?:here|$|[.,!]))")
_NAME = re.compile(
    r"(?<!^)(?<!\bto )(?<!\bin )(?<!\bat )(?<!\bfrom )\b(?!\w+day\b|\w+ber\b|\w+uary\b)[A-Z][a-z]{2,}"
)
_EMPTY_WORDS = frozenset(terms("since until now still also yet because one"))
_NOBODY = frozenset({"he", "걔", "얘", "쟤", "그분", "그애", "그놈", "그녀"})
_NAME_KEYS = frozenset({"name", "이름", "full name", "first name"})


class KnownFact(Protocol):
    """A fact that is current."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...


@dataclass(frozen=True)
class _Said:
    """A message that may hold a quote, with what grounding needs of the messages around it."""

    turn: int
    text: str
    question: str
    """The message before it, which it may answer."""
    reply: str
    """The character's answer to it."""
    answer: str
    """The user's next message, which may confirm it or take it back."""
    in_role: bool
    by_user: bool
    clauses: tuple[Clause, ...]


def ground(
    observations: Sequence[Observation],
    messages: Sequence[SpokenMessage],
    *,
    before: Sequence[SpokenMessage] = (),
    known: Mapping[str, KnownFact],
    prompt_texts: Sequence[str] = (),
    from_reply: Collection[Commitment] = ALL_COMMITMENTS,
) -> tuple[list[Observation], list[Refusal]]:
    """The observations that were said and meant, and the others with one reason each.

    `messages` are the exchanges that are remembered, each begun by a message of the user; `before` are those
    before them. `known` are the current facts by short id (F3). `prompt_texts` are the other texts of the
    reply's prompt (state, memories, persona). An observation with the wrong turn is given the right one.
    """
    said = list(_said(messages, before))
    prompt_terms = [frozenset(terms(text)) for text in prompt_texts]
    kept: list[Observation] = []
    refusals: list[Refusal] = []
    for observation in observations:
        message, reason = _locate(observation, said)
        if message is not None and reason is None:
            reason = _reason(observation, message, known, prompt_terms, from_reply)
        if message is None or reason is not None:
            refusals.append(Refusal(observation=observation, reason=reason or Reason.NOT_SAID))
        else:
            kept.append(observation.model_copy(update={"turn": message.turn}))
    for message in said:
        if message.by_user and message.answer:
            kept = _without_taken_back(kept, message, refusals)
    return kept, refusals


def _without_taken_back(
    observations: Sequence[Observation], message: _Said, refusals: list[Refusal]
) -> list[Observation]:
    """Refuse what the user's next message takes back. Merging sees to a correction that has a new value."""
    of_message = [one for one in observations if one.turn == message.turn]
    is_replaced = any(one.turn == message.turn + 1 for one in observations)
    notes = [f"{one.key} {one.value}" for one in of_message]
    numbers, reason = taken_back(notes, message.reply, message.answer)
    if is_replaced and reason is not Reason.JOKE:
        return list(observations)
    refused = [one for number, one in enumerate(of_message) if number in numbers]
    refusals += [Refusal(observation=one, reason=reason) for one in refused]
    return [one for one in observations if one not in refused]


def find_quote(text: str, quote: str) -> list[Span]:
    """Where `quote` occurs in `text`: spaces, case, width and punctuation may differ.

    A quote with an ellipsis may leave out words; then the spans are those of its parts, in order.
    """
    composed = unicodedata.normalize("NFC", quote)
    letters = [(char, index) for index, char in enumerate(level(text)) if char.isalnum()]
    joined = "".join(char for char, _ in letters)
    if not any(map(str.isalnum, quote)):
        at = text.find(quote.strip()) if quote.strip() else -1
        return [(at, at + len(quote.strip()))] if at >= 0 else []
    for parts in ([quote], [composed], _ELLIPSIS.split(composed)):
        spans: list[Span] = []
        start = 0
        for part in filter(None, ("".join(filter(str.isalnum, level(part))) for part in parts)):
            at = joined.find(part, start)
            if at < 0:
                break
            start = at + len(part)
            spans.append((letters[at][1], letters[start - 1][1] + 1))
        else:
            return spans
    return []


def _said(messages: Sequence[SpokenMessage], before: Sequence[SpokenMessage]) -> Iterator[_Said]:
    turn = 0
    whole = [
        message.model_copy(update={"text": unicodedata.normalize("NFC", message.text)})
        for message in (*before, *messages)
    ]
    for index, message in enumerate(whole):
        if index < len(before):
            continue
        by_user = message.role == "user"
        turn += by_user
        earlier = [one.text for one in whole[:index] if one.role == "user"][-1:]
        yield _Said(
            turn=max(turn, 1),
            text=message.text,
            question=whole[index - 1].text if index else "",
            reply=next((one.text for one in whole[index + 1 : index + 2] if one.role == "assistant"), ""),
            answer=next((one.text for one in whole[index + 1 :] if one.role == "user"), ""),
            in_role=by_user and any(map(opens_role_play, earlier)) and not _leaves_role(message.text),
            by_user=by_user,
            clauses=tuple(clauses(message.text)),
        )


def _leaves_role(text: str) -> bool:
    """Whether a message after a game of roles speaks of real things again, by laughing or saying so."""
    return (
        re.match(r"\W*(?:lol|lmao+|haha|ok\b|okay|anyway|for real|ooc|ㅋㅋ|ㅎㅎ|아 근데|근데)", level(text))
        is not None
    )


def _locate(observation: Observation, said: Sequence[_Said]) -> tuple[_Said | None, Reason | None]:
    """The message with the quote, that of the named turn first. QUOTED: the words are not its author's."""
    spoken = [one for one in said if one.by_user == (observation.says == "user")]
    for message in sorted(spoken, key=lambda one: one.turn != observation.turn):
        if find_quote(message.text, observation.quote):
            own = find_quote(own_words(message.text), observation.quote)
            return message, None if own else Reason.QUOTED
    return None, Reason.NOT_SAID


def _reason(
    observation: Observation,
    message: _Said,
    known: Mapping[str, KnownFact],
    prompt_terms: Sequence[frozenset[str]],
    from_reply: Collection[Commitment],
) -> Reason | None:
    """Why an observation whose quote was found is refused; the first reason that holds."""
    retires = observation.op == "retire"
    if retires and not _is_known(observation, known):
        return Reason.MALFORMED
    if not message.by_user and not _may_conclude(observation, message, from_reply):
        return Reason.OPINION_OF_OTHERS
    if (reason := _as_meant(observation, message)) is not None or retires:
        return reason
    checks = (
        (Reason.OTHER_PERSON, lambda: _another_speaks(observation, message, known)),
        (Reason.FROM_PROMPT, lambda: _from_prompt(observation, message, prompt_terms)),
        (Reason.NEGATED, lambda: is_no(observation.quote) and not denies(observation.value)),
        (Reason.NOT_SAID, lambda: not _answers(observation, message)),
        (Reason.ALREADY_KNOWN, lambda: _adds_nothing(observation, known)),
    )
    return next((reason for reason, holds in checks if holds()), None)


def _may_conclude(observation: Observation, message: _Said, from_reply: Collection[Commitment]) -> bool:
    """Whether the character may settle this: by a promise, an agreement, …, or as the user says yes to it."""
    if observation.op == "retire" and observation.subject == "character":
        return True
    settled = commitments(observation.quote) | (
        commitments(message.text) if observation.subject == "character" else frozenset[Commitment]()
    )
    confirmed = Commitment.AGREEMENT in from_reply and is_yes(message.answer)
    return confirmed or not settled.isdisjoint(from_reply)


def _as_meant(observation: Observation, message: _Said) -> Reason | None:
    """The reason of a clause of the quote, if no clause of it supports the observation."""
    spans = find_quote(message.text, observation.quote)
    quoted = [clause for clause in message.clauses if any(_overlap(clause, span) > 1 for span in spans)]
    telling = [clause for clause in quoted if terms(_within(clause, spans, message.text))] or quoted
    reasons = [_clause_reason(clause, observation, message) for clause in telling]
    supported = any(
        reason is None and (denies(observation.value) or Modality.NEGATED not in clause.modality)
        for reason, clause in zip(reasons, telling, strict=True)
    )
    return None if supported else next(filter(None, reasons), None)


def _overlap(clause: Clause, span: Span) -> int:
    return min(clause.end, span[1]) - max(clause.start, span[0])


def _within(clause: Clause, spans: Sequence[Span], text: str) -> str:
    return " ".join(text[max(clause.start, left) : min(clause.end, right)] for left, right in spans)


def _clause_reason(clause: Clause, observation: Observation, message: _Said) -> Reason | None:
    """Why one clause does not support an observation; the first reason that holds."""
    meant = clause.modality
    by_user, states = message.by_user, observation.op != "retire"
    checks = (
        (Reason.QUOTED, lambda: Modality.QUOTED in meant),
        (Reason.FICTION, lambda: by_user and _is_fiction(observation, clause, message)),
        (Reason.JOKE, lambda: by_user and Modality.JOKE in meant),
        (Reason.SARCASM, lambda: by_user and Modality.SARCASM in meant),
        (Reason.QUESTION, lambda: Modality.QUESTION in meant and not _requests(observation, clause)),
        (Reason.HYPOTHETICAL, lambda: by_user and _is_unreal(observation, meant)),
        (Reason.OPINION_OF_OTHERS, lambda: states and _is_opinion(observation, clause)),
        (Reason.NEGATED, lambda: states and Modality.NEGATED in meant and _contradicts(observation, clause)),
        (Reason.PAST, lambda: states and Modality.PAST in meant and not looks_back(observation.value)),
        (Reason.OTHER_PERSON, lambda: states and by_user and _is_of_another(observation, clause)),
    )
    return next((reason for reason, holds in checks if holds()), None)


def _is_fiction(observation: Observation, clause: Clause, message: _Said) -> bool:
    return message.in_role or (Modality.FICTION in clause.modality and observation.category not in _TASTES)


def _requests(observation: Observation, clause: Clause) -> bool:
    """Whether a question asks the character for something, and so states a preference."""
    return observation.category is Category.PREFERENCE and _REQUEST.search(level(clause.text)) is not None


def _is_unreal(observation: Observation, meant: frozenset[Modality]) -> bool:
    if Modality.HYPOTHETICAL in meant:
        return not hedges(observation.value)
    if Modality.CONDITIONAL in meant:
        return observation.category not in _GENERIC and not hedges(observation.value)
    return (
        Modality.WISH in meant
        and observation.category
        not in (
            Category.GOAL,
            Category.PREFERENCE,
            Category.OPINION,
        )
        and not wishes(observation.value)
    )


def _is_opinion(observation: Observation, clause: Clause) -> bool:
    """Whether it is what somebody else says of the subject. What a doctor says counts as a fact."""
    if Modality.HEARSAY not in clause.modality:
        return False
    speaker = clause.speaker
    if _by_authority(clause) or (speaker and mentions(observation.value, speaker)):
        return False
    if observation.subject not in ("user", "character") and mentions(observation.subject, speaker or " "):
        return False
    said_of_speaker = _ABOUT_SPEAKER.search(level(clause.text).partition(" ")[2]) is not None
    return Modality.OPINION_OF_OTHERS in clause.modality or (
        observation.subject == "user" and said_of_speaker
    )


def _by_authority(clause: Clause) -> bool:
    return Modality.HEARSAY in clause.modality and not _AUTHORITIES.isdisjoint(clause.speaker.split())


def _contradicts(observation: Observation, clause: Clause) -> bool:
    """Whether the value affirms what the clause denies: it has words of it, and denies nothing."""
    if denies(observation.value):
        ending = ending_in(observation.value)  # 그만두는 게 아니고 denies 그만둠
        return bool(ending) and ending in level(clause.text)
    shared = (frozenset(terms(observation.value)) & frozenset(terms(clause.text))) - _EMPTY_WORDS
    return bool(shared) or bool(_syllables(observation.value) & _syllables(clause.text))


def _syllables(text: str) -> set[str]:
    """The first two syllables of each Korean word: 그만둠 and 그만두는 have no term in common."""
    heads = {word[:2] for word in level(text).split()}
    return {head for head in heads if len(head) == 2 and all("가" <= char <= "힣" for char in head)}


def _is_of_another(observation: Observation, clause: Clause) -> bool:
    """Whether the clause is about a third person and the observation is about somebody else."""
    note = f"{observation.key} {observation.value}"
    text, person = level(clause.text), clause.subject
    if observation.subject == "character" or _by_authority(clause):
        return False
    if observation.subject == "user":
        if not mentions_anyone(note) and _owned_by_another(observation, text):
            return True
        named = _names_anyone(note, clause) if person in _NOBODY else mentions(note, person)
        return bool(person) and not named and _TO_SPEAKER.search(text) is None
    return bool(person) and person not in _NOBODY and not mentions(f"{observation.subject} {note}", person)


def _names_anyone(note: str, clause: Clause) -> bool:
    """Whether a note names a person or an animal that the clause names: he's called Bruno."""
    names = {word for word in _NAME.findall(clause.text) if word in note}
    return bool(names) or mentions_anyone(note)


def _owned_by_another(observation: Observation, text: str) -> bool:
    """Whether a thing of the value is said to be another's: her hip."""
    owned = [match[1] for match in _POSSESSED.finditer(text)]
    return not frozenset(terms(" ".join(owned))).isdisjoint(terms(observation.value))


def _another_speaks(observation: Observation, message: _Said, known: Mapping[str, KnownFact]) -> bool:
    """Whether somebody else than the user introduces themselves: hi this is Theo."""
    names = [level(fact.value) for fact in known.values() if level(fact.key) in _NAME_KEYS]
    introduced = _INTRODUCED.match(level(message.text))
    if introduced is None or not names or observation.subject != "user" or not message.by_user:
        return False
    return not any(introduced["name"] in name for name in names)


def _from_prompt(observation: Observation, message: _Said, prompt_terms: Sequence[frozenset[str]]) -> bool:
    """Whether the value is a text of the prompt, and was not said now."""
    value = frozenset(terms(observation.value))
    if not value:
        return False
    repeated = [text for text in prompt_terms if value <= text]
    if message.by_user:
        return bool(repeated) and value.isdisjoint(terms(f"{message.question} {message.text}"))
    quote = frozenset(terms(observation.quote))
    return any(quote <= text for text in repeated)


def _answers(observation: Observation, message: _Said) -> bool:
    """Whether a quote without words of its own (응, Agreed.) answers a message with those of the value."""
    if not message.by_user or observation.op == "retire":
        return True
    bare = not terms(observation.quote) or (is_yes(observation.quote) and len(terms(observation.quote)) < 2)
    if not bare or language(observation.value) != language(message.question, default="ko"):
        return True
    return not frozenset(terms(f"{message.question} {message.text}")).isdisjoint(terms(observation.value))


def _is_known(observation: Observation, known: Mapping[str, KnownFact]) -> bool:
    """Whether a known fact is meant: by its id, its key, or words of its value."""
    if observation.id in known or any(level(fact.key) == level(observation.key) for fact in known.values()):
        return True
    words = frozenset(terms(f"{observation.key} {observation.value}"))
    return any(not words.isdisjoint(terms(f"{fact.key} {fact.value}")) for fact in known.values())


def _adds_nothing(observation: Observation, known: Mapping[str, KnownFact]) -> bool:
    """Whether one known fact says all of it already. An update must be the same fact and say no more."""
    value = frozenset(terms(observation.value))
    if not value:
        return False
    if observation.op == "update":
        fact = known.get(observation.id or "")
        return fact is not None and value == frozenset(terms(fact.value))
    related = value | frozenset(terms(observation.key))
    return any(
        value <= frozenset(terms(f"{fact.key} {fact.value}"))
        and not related.isdisjoint(terms(fact.key) or related)
        and denies(observation.value) == denies(fact.value)
        for fact in known.values()
    )
