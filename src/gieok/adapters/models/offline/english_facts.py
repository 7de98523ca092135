"""The facts that English sentences state. English keeps its order, so a rule is a pattern over a clause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gieok.adapters.models.offline.analysis import Utterance
from gieok.adapters.models.offline.english_chat import typed_out
from gieok.adapters.models.offline.english_clause import clauses_of
from gieok.adapters.models.offline.english_denial import affirmed
from gieok.adapters.models.offline.english_fact_rules import RULES
from gieok.adapters.models.offline.english_rule import Rule, any_word
from gieok.adapters.models.offline.english_thing import activity, thing, told
from gieok.adapters.models.offline.english_verbs import past_of, third_person
from gieok.adapters.models.offline.found import Found, awaited, bond, come_to_pass, named_in, newest
from gieok.adapters.models.offline.lexicon import listed
from gieok.adapters.models.offline.taken_back import taken_back
from gieok.memory.canon.records import Fact
from gieok.memory.observations import Category

# In jest, or in a story: nobody vouches for it.
_NOT_MEANT = re.compile(
    r"\b(?:just kidding|jk|kidding|joking|april fools|role-?play\w*|in character|let['’]?s pretend"
    r"|write (?:me )?an? (?:\w+ )?(?:story|poem|scene|song|novel))\b",
    re.IGNORECASE,
)
# What might be, what once was, and what someone else said, is not stated by the user.
_UNSTATED = re.compile(
    r"\b{}\b".format(
        any_word(r"""
            if unless would could might maybe perhaps wish imagine suppose almost pretend\w* dreamt dreamed
            should used_to said(?!_yes\b) says told_me asked heard apparently i['’]d
        """)
    ),
    re.IGNORECASE,
)
# What came to pass in childhood is long over, unless it is the family's.
_LONG_AGO = re.compile(r"^(?!my ).*\bwhen i was\b", re.IGNORECASE)
_DID = re.compile(r"^(?:i|we) (?:have )?(?P<verb>\w+)\b", re.IGNORECASE)
_REACHED = listed("finished completed passed reached achieved won graduated accomplished nailed")
_GAVE_UP = re.compile(
    r"^(?:i|we) (?:have )?(?:(?:gave|given|am giving|give) up|dropped|abandoned) (?P<on>on )?(?P<what>.+)$",
    re.IGNORECASE,
)
_CALLED_OFF = re.compile(
    r"^(?:(?:my|the|our|their) (?P<what>[\w' -]+?) (?:has been|have been|got|was|is|were|are)"
    r" (?:cancell?ed|called off)"
    r"|(?:i|we|they|he|she) (?:have |had to )?(?:cancell?ed|called off) (?:my|the|our) (?P<it>[\w' -]+?))"
    r"(?: (?:again|today|because|due|at|by|for|on)\b.*)?$",
    re.IGNORECASE,
)
_SOME_GOAL = re.compile(r"\b(?:goal|plan|dream)\b", re.IGNORECASE)


def english_facts(utterance: Utterance, known: Sequence[Fact]) -> list[Found]:
    """What the user states about themselves and those close to them."""
    if _NOT_MEANT.search(utterance.text):
        return []
    found: list[Found] = []
    for sentence in utterance.informative:
        text = typed_out(sentence.text)
        if sentence.asks or _UNSTATED.search(text) or _LONG_AGO.match(text):
            continue
        for clause in clauses_of(text):
            found += _called_off(clause, known)
            found += taken_back(_stated(affirmed(clause), known), known) if known else []
            found += _given_up(clause, known) or [*_reached(clause, known), *_stated(clause, known)]
    return come_to_pass(found, known)


def _stated(clause: str, known: Sequence[Fact]) -> list[Found]:
    for rule in RULES:
        match = rule.pattern.match(clause)
        if match:
            return _made(rule, match, known)
    return []


def _made(rule: Rule, match: re.Match[str], known: Sequence[Fact]) -> list[Found]:
    groups = match.groupdict(default="")
    keys = {name: thing(words).lower() for name, words in groups.items()}
    values = {name: told(words) for name, words in groups.items()}
    values["does"] = third_person(groups.get("do", "").lower(), in_past=False)
    keys["activity"] = activity(groups.get("x", ""), groups.get("do", ""))
    keys["bond"] = bond(known)
    return [
        Found(fact.category, fact.key.format(**keys), fact.value.format(**values), fact.retracts, rule.extra)
        for fact in rule.facts
    ]


def _reached(clause: str, known: Sequence[Fact]) -> list[Found]:
    """The goal that what happened has reached: a result by itself, or the very thing that was aimed at."""
    did = _DID.match(clause)
    goal = named_in(clause, known, Category.GOAL)
    if did is None or goal is None:
        return []
    verb = did["verb"].lower()
    if verb not in _REACHED and verb not in {past_of(word) for word in goal.value.lower().split()}:
        return []
    said = clause.partition(" ")[2]
    return [
        Found(Category.EVENT, goal.key, said, extra=2),
        Found(Category.GOAL, goal.key, said, retracts=True),
    ]


def _called_off(clause: str, known: Sequence[Fact]) -> list[Found]:
    """What lay ahead does so no more."""
    match = _CALLED_OFF.match(clause)
    fact = awaited(thing(match["what"] or match["it"]).lower(), known) if match else None
    return [Found(fact.category, fact.key, fact.value, retracts=True)] if fact else []


def _given_up(clause: str, known: Sequence[Fact]) -> list[Found]:
    match = _GAVE_UP.match(clause)
    if match is None:
        return []
    goal = named_in(clause, known, Category.GOAL)
    unnamed = _SOME_GOAL.search(clause) is not None
    if goal is None and unnamed:
        goal = newest(known, Category.GOAL)
    named = thing(match["what"]).lower() if match["on"] and not unnamed else ""
    key = goal.key if goal else named
    return [Found(Category.GOAL, key, clause.partition(" ")[2], retracts=True)] if key else []
