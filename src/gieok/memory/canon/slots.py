"""Slots: what a fact is about, whatever key, category or language was used for it. Pure functions.

`partner`, `남친` and `boyfriend's name` are one slot. A single slot has one value per subject (home, age). A
plural slot has one value per thing (pets, allergies, tastes). A key that is in no table is a slot of its own,
with one value. The tables are in `slots.toml`: add an alias or a slot there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files

from gieok.memory.observations import Category
from gieok.text import normalize, terms

_TABLES = tomllib.loads((files(__package__) / "slots.toml").read_text("utf-8"))
SINGLE: dict[str, str] = _TABLES["single"]
"""Slots with one value per subject, and their aliases."""
ALIASES: dict[str, str] = SINGLE | _TABLES["things"] | _TABLES["notes"]
"""All slots in the tables, and their aliases."""
_PEOPLE = frozenset(name.strip() for name in _TABLES["common"]["people"].split(","))
"""Slots whose value is a person or an animal: `boyfriend's name` says who the boyfriend is."""

_APART = re.compile(r"[\s_\-–—./:,·'’\"()\[\]]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OWNER = re.compile(
    r"^(?:the )?(?:user|my|his|her|their|your|our|사용자의?|유저의?|본인의?|나의|내|제|저의)(?: s)? (?=\S)"
)
_AGE_OF_VALUE = re.compile(r"^(?:current|present|new|recent|latest|현재|지금|새로운|새|최근|요즘)\s+(?=\S)")
_QUALIFIER = re.compile(
    r"(?<=\S) ?(?: s)? (?:status|info|information|details?|situation|update|정보|상태|여부|상황|관련)$"
)
_WHO = re.compile(r"(?<=\S)(?: s)? (?:names?|이름|성함)$")
_NUMBERED = re.compile(r"(?<=\D) ?#?\d+$")
_NUMERIC = re.compile(r"[\d.,:%$€£₩~-]+\D?")
_HONORIFIC = re.compile(r"(?<=\S) ?(?:씨|님|양|군)$")


class Arity(StrEnum):
    """How many values a subject may have in a slot."""

    SINGLE = "single"
    THINGS = "things"
    """One per thing; values that share what names the thing are about the same one."""
    NOTES = "notes"
    """Any number; only similar values are the same."""


@dataclass(frozen=True)
class Slot:
    """What a fact is about: the subject and the slot. For a plural slot the value names the thing."""

    subject: str
    name: str
    arity: Arity
    is_goal: bool = False
    """A goal in a single slot (to become a nurse) does not compete with what is true (works at a cafe)."""
    thing: str = ""
    """The part of the key that names the thing: `peach` of `peach allergy`."""


def slot_of(subject: str, category: Category, key: str) -> Slot:
    """The slot of a fact with this subject, category and key."""
    slot = _read(subject, key)
    if slot.name in SINGLE and category is Category.GOAL:
        return replace(slot, is_goal=True)
    return slot


def identity(subject: str, category: Category, key: str, value: str) -> tuple[str, ...]:
    """What a fact is stored under: subject and slot, and what tells the values of a plural slot apart."""
    slot = slot_of(subject, category, key)
    parts = (slot.subject, slot.name, "goal" if slot.is_goal else "")
    if slot.arity is Arity.SINGLE:
        return parts
    if slot.arity is Arity.NOTES:
        return (*parts, normalize(key), normalize(value))
    things = (thing_terms(value) | thing_terms(slot.thing)) - slot_terms(slot.name)
    return (*parts, " ".join(sorted(things)) or normalize(value))


def same_subject(subject: str) -> str:
    """The subject in one spelling: `person:엄마`, `person:Mom` and `person:mother` are one person."""
    if not subject.startswith("person:"):
        return subject
    name = _spaced(subject.removeprefix("person:"))
    name = _OWNER.sub("", name)
    name = _HONORIFIC.sub("", name) if _squeezed(name) not in _KIN_OF else name
    return f"person:{_KIN_OF.get(_squeezed(name), name)}"


def thing_terms(value: str) -> frozenset[str]:
    """The terms of a value that can name a thing: without numbers and words that fit any value."""
    common = _terms_of(_TABLES["common"]["words"])
    return frozenset(term for term in terms(value) if term not in common and not _NUMERIC.fullmatch(term))


def slot_terms(name: str) -> frozenset[str]:
    """The terms of a slot's aliases. They name the kind of thing (cat), not the thing (Biscuit)."""
    return _terms_of(ALIASES.get(name, ""))


@cache
def _terms_of(words: str) -> frozenset[str]:
    """The terms of a text of the tables. Found when first used: they need the Korean dictionary."""
    return frozenset(terms(words))


@lru_cache(maxsize=4_096)
def _read(subject: str, key: str) -> Slot:
    """The slot without its category. A person in the key is the subject: `mother_job` is the mother's job."""
    who = same_subject(subject)
    text = _spaced(key)
    found = _lookup(text)
    if found is None and (split := _without_person(text, who)):
        whose, rest = split
        found = _lookup(rest) if who in (whose, "user") else None
        if whose == who:
            text = rest
        elif found is not None:
            who = whose
    if found is None:
        return _slot_of_thing(who, text) or Slot(who, text, Arity.SINGLE)
    name, arity = found
    if _KIN_SLOT.get(who) == name:  # `person:엄마` with the key `mother` says who the user's mother is
        who = "user"
    return Slot(who, name, arity)


def _slot_of_thing(who: str, text: str) -> Slot | None:
    """The slot of a key that ends with the kind of thing: `peach allergy`, `복숭아 알레르기`."""
    thing, _, kind = text.rpartition(" ")
    found = _SLOTS.get(kind)
    if thing and found and found[1] is Arity.THINGS:
        return Slot(who, found[0], Arity.THINGS, thing=thing)
    return None


def _without_person(text: str, who: str) -> tuple[str, str] | None:
    """The person at the beginning of a key, and the rest: `mother job`, `어머니 직업`, `Ellie s age`."""
    parts = text.split(" ")
    for size in (2, 1):
        if len(parts) > size:
            rest = " ".join(parts[size + 1 :] if parts[size] == "s" else parts[size:])
            head = " ".join(parts[:size])
            kin = _KIN_OF.get(_squeezed(head)) or _KIN_OF.get(_squeezed(head).removesuffix("의"))
            if rest and kin:
                return f"person:{kin}", rest
            if rest and who == f"person:{head}":
                return who, rest
    return None


def _lookup(text: str) -> tuple[str, Arity] | None:
    """The slot in the tables that a key names."""
    for candidate in _spellings(text):
        found = _SLOTS.get(_squeezed(candidate))
        if found:
            return found
    who = _WHO.sub("", text)
    found = _SLOTS.get(_squeezed(who)) if who != text else None
    return found if found and found[0] in _PEOPLE else None


def _spellings(text: str) -> Iterator[str]:
    """The key, then without whose it is, without `current`, without `status`, without a number."""
    for pattern in (None, _OWNER, _AGE_OF_VALUE, _QUALIFIER, _NUMBERED):
        text = pattern.sub("", text) if pattern else text
        yield text


def _spaced(key: str) -> str:
    """The key as normalised words: `fatherHealth`, `father_health` and `Father health` become one."""
    words = _APART.sub(" ", _CAMEL.sub(" ", key)).strip()
    return normalize(words) or normalize(key) or key


def _squeezed(text: str) -> str:
    return text.replace(" ", "")


_SLOTS = {
    _squeezed(_spaced(alias)): (name, arity)
    for table, arity in (("notes", Arity.NOTES), ("things", Arity.THINGS), ("single", Arity.SINGLE))
    for name, aliases in _TABLES[table].items()
    for alias in (name, *aliases.split(","))
}
_KIN_OF = {
    _squeezed(_spaced(alias)): name
    for name, aliases in _TABLES["people"].items()
    for alias in aliases.split(",")
}
_KIN_SLOT = {
    f"person:{name}": found[0]
    for name in _TABLES["people"]
    if (found := _SLOTS.get(_squeezed(_spaced(name))))
}
