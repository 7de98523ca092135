"""The observations of a conversation: statements, answers, agreement, facts that end, promises.

The patterns of a conversation are in the tables of the two languages, section `dialogue`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from gieok.adapters.models.offline.days import day_in
from gieok.adapters.models.offline.facts import MAX_VALUE_CHARS, Found, stated, table
from gieok.memory.observations import (
    Category,
    Conversation,
    ListedFact,
    Observation,
)
from gieok.text import language, terms
from gieok.text.modality import Modality, clauses

_FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
# Slots with a value for each thing.
_PLURAL = frozenset({"pet", "allergy", "family", "friend", "promise", "health"})
_OFFER = "standing with character"
_TAG = re.compile(r"[?？]\s*\W*$")
_MAX_ANSWER_CHARS = 40
# A joke that is owned up to must share this many terms with the fact that it had made.


_IMPORTANCE = {
    Category.RELATIONSHIP: 8,
    Category.GOAL: 7,
    Category.EVENT: 6,
    Category.HABIT: 5,
    Category.OPINION: 4,
    Category.PERSONAL_INFO: 7,
    Category.PREFERENCE: 4,
    Category.OTHER: 3,
}


def observe(conversation: Conversation) -> tuple[Observation, ...]:
    """The observations of all exchanges. Of one subject and key, what was said last holds."""
    zone = ZoneInfo(conversation.timezone)
    before = list(conversation.before)
    observed: list[Observation] = []
    for number, exchange in enumerate(conversation.exchanges, start=1):
        last: dict[tuple[str, Category, str], Found] = {}
        for message in exchange.messages:
            day = _day(message.at, zone)
            asked = before[-1].text if before and before[-1].role == "assistant" else ""
            if message.role == "user":
                found = [*stated(message.text, day), *answered(message.text, asked, day, conversation.known)]
                found += ended(message.text, conversation.known)
                found += reached(message.text, conversation.known, found)
            else:
                found = promised(message.text)
            last |= {(each.subject, each.category, each.key): each for each in found}
            before.append(message)
        if table(conversation.language).dialogue.refused.search(exchange.text("assistant")):
            last = {key: each for key, each in last.items() if each.key != _OFFER}  # 사귀자 – 미안
        observed += [_observation(_updating(each, conversation.known), number) for each in last.values()]
    return tuple(observed)


def answered(text: str, asked: str, said_on: date, known: Sequence[ListedFact]) -> list[Found]:
    """What a short answer says together with the message of the character before it: 12월 3일!"""
    answer = text.strip()
    first = _FIRST_SENTENCE.split(answer, maxsplit=1)[0].rstrip(" .!?~ㅋㅎㅠㅜ")
    if "?" not in asked or not first:
        return []
    dialogue = table(language(asked)).dialogue
    if dialogue.assent.fullmatch(answer):
        return _agreed(answer, asked, known) if _TAG.search(asked) else []
    for key, question, pattern, value in dialogue.answers:
        match = re.fullmatch(pattern, first, re.IGNORECASE)
        if match and re.search(question, asked, re.IGNORECASE):
            return [Found(Category.PERSONAL_INFO, key, value.format(x=match["x"].strip()), first)]
    occasion, when = dialogue.when.search(asked), day_in(first, said_on)
    if occasion and when and len(first) <= _MAX_ANSWER_CHARS:
        name = (occasion["x"] or occasion["y"]).lower()
        return [Found(Category.EVENT, name, dialogue.ahead.format(name), first, when=when)]
    return []


def _agreed(answer: str, asked: str, known: Sequence[ListedFact]) -> list[Found]:
    """The user agrees to what the character concludes: 상처가 이제 다 나은 것 같다, 그렇지? – 응."""
    dialogue = table(language(asked)).dialogue
    if dialogue.reconciled.search(asked):
        return [Found(Category.RELATIONSHIP, _OFFER, dialogue.made_up, answer)]
    if not dialogue.recovered.search(asked):
        return []
    ill = _known_about(asked, [fact for fact in known if fact.category in ("EVENT", "PERSONAL_INFO")])
    if ill is not None:
        return [_ends(ill, answer)]
    concluded = next((each.text for each in clauses(asked) if dialogue.recovered.search(each.text)), "")
    return [Found(Category.EVENT, "health", concluded.strip(" ,"), answer)] if concluded else []


def ended(text: str, known: Sequence[ListedFact]) -> list[Found]:
    """Known facts that a message ends: called off, given up, or healed."""
    found: list[Found] = []
    mine = [fact for fact in known if fact.subject == "user"]
    for clause in clauses(text) if mine else ():
        dialogue = table(language(clause.text)).dialogue
        fact: ListedFact | None = None
        if clause.modality - {Modality.NEGATED}:
            continue
        if dialogue.called_off.search(clause.text):
            fact = _known_about(clause.text, [f for f in mine if f.category in ("EVENT", "GOAL", "HABIT")])
        elif dialogue.healed.search(clause.text):
            ill = [fact for fact in mine if fact.key == "health"]
            fact = _known_about(clause.text, ill) or (ill[0] if len(ill) == 1 else None)
        if fact is not None:
            found.append(_ends(fact, clause.text))
    return found


def reached(text: str, known: Sequence[ListedFact], found: Sequence[Found]) -> list[Found]:
    """The known goals that a message reports as reached, as updates; not those that a fact tells already."""
    goals = [fact for fact in known if fact.category == Category.GOAL and fact.subject == "user"]
    made: list[Found] = []
    for clause in clauses(text) if goals else ():
        dialogue = table(language(clause.text)).dialogue
        if clause.modality or not dialogue.reached.search(clause.text):
            continue
        for goal in goals:
            if _names(clause.text, goal.key) and not any(goal.key in each.value for each in found):
                value = dialogue.reached_value.format(goal.key)
                made.append(Found(Category.EVENT, goal.key, value, clause.text, op="update", id=goal.id))
    return made


def promised(text: str) -> list[Found]:
    """What the character promises in a reply."""
    dialogue = table(language(text)).dialogue
    match = dialogue.promise.search(text)
    said = (match["x"] or match["y"] or "").strip(" ,*") if match else ""
    if match is None or not said:
        return []
    value = dialogue.promised.format(said)[:MAX_VALUE_CHARS]
    return [Found(Category.GOAL, "promise", value, match[0].strip(), "character", "assistant")]


def _ends(fact: ListedFact, quote: str) -> Found:
    return Found(fact.category, fact.key, fact.value, quote, fact.subject, op="retire", id=fact.id)


def _names(text: str, key: str) -> bool:
    """Whether the text has the key as a word: 책 is in 책을 but not in 책임."""
    word = rf"(?<!\w){re.escape(key)}(?=\W|$|[이가을를은는도에의]\b)"
    return re.search(word, text, re.IGNORECASE) is not None


def _known_about(text: str, known: Sequence[ListedFact]) -> ListedFact | None:
    """The known fact that shares most terms with the text, if any."""
    said = set(terms(text))

    def shared(fact: ListedFact) -> int:
        known_terms = {term for term in terms(f"{fact.key} {fact.value}") if not term.isdigit()}
        return len(said & known_terms) + (fact.key in text)

    best = max(known, key=shared, default=None)
    return best if best is not None and shared(best) else None


def _updating(found: Found, known: Sequence[ListedFact]) -> Found:
    """The fact as an update of the known one that it replaces, if there is one."""
    if found.op != "add" or found.key in _PLURAL:
        return found
    mine = [fact for fact in known if fact.subject == found.subject]
    meant = next((fact for fact in mine if fact.key == found.key), None)
    if found.category == Category.EVENT and table(language(found.quote)).dialogue.reached.search(found.quote):
        goals = (fact for fact in mine if fact.category == Category.GOAL and _names(found.value, fact.key))
        meant = next(goals, meant)
    return replace(found, op="update", id=meant.id) if meant else found


def _observation(found: Found, turn: int) -> Observation:
    return Observation(
        turn=turn,
        op=found.op,
        id=found.id,
        subject=found.subject,
        category=found.category,
        key=found.key,
        value=found.value,
        quote=found.quote,
        says=found.says,
        when=found.when,
        importance=_IMPORTANCE[found.category],
    )


def _day(at: datetime, zone: ZoneInfo) -> date:
    return at.astimezone(zone).date()
