"""Merging: how observations change the known facts. Pure functions, no I/O.

One thing is true once: an observation that is about a known fact supersedes it, and the older version stays
as history. Which fact is meant: the one with the given short id; else the one in the same slot; else one with
a nearly equal value; and for an update or a retirement the most similar one.

`MergeFacts` calls `merge` with all active facts of the persona and the grounded observations. `SaveFacts`
applies the result with `FactStore.apply`, in the same order. `merge_edit` is for an edit by hand,
`consolidate` for facts that were stored before facts had slots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Literal
from uuid import UUID, uuid4

from gieok.engine import Data
from gieok.memory.canon.records import STATE, Fact, FactDraft, FactReason, FactSource, PlannedChange
from gieok.memory.canon.slots import Arity, Slot, slot_of, slot_terms, thing_terms
from gieok.memory.canon.validity import ValidityDays, with_validity
from gieok.memory.chains import NEW
from gieok.memory.observations import Category, Observation
from gieok.text import normalize

SAME_THING = 0.5
"""The share of the shorter value's terms that two values of one thing have in common."""
SAME_NOTE = 0.5
"""The share of all terms (Jaccard) that two values under a general key such as `event` have in common."""
NEAR_SAME = 0.7
"""The share of all terms that makes two values the same under different keys."""
MEANT = {"update": 0.4, "retire": 0.3}
"""The share of the shorter text's terms that an update or a retirement without id and slot has in common with
its fact. An update that finds none adds a fact; a retirement would be lost, so it may be less similar."""

_REACHED = re.compile(
    r"합격|달성|성공|해냈|해냄|이뤘|이룸|완료|완성|끝냈|끝냄|취득|붙었|붙음|통과|완주|"
    r"\b(?:passed|achieved|reached|finished|completed|accomplished|accepted|got in|made it|succeeded|"
    r"graduated|won|bought)\b"
)
_NOT_REACHED = re.compile(
    r"불합격|못|않|안 |실패|떨어|포기|취소|\b(?:not|never|no longer|failed|gave up|cancell?ed)\b|n't\b"
)
_NUMBER = re.compile(r"\d+")
_LETTERS = re.compile(r"[\W_]+")

Op = Literal["add", "update", "retire"]


class Exchange(Data):
    """When and where an exchange was said."""

    day: date
    """The user's calendar day of the message."""
    user: FactSource | None
    """The user's message; None if the log does not have it."""
    assistant: FactSource | None
    """The reply; None if there was none."""


def short_ids(facts: Sequence[Fact]) -> dict[str, UUID]:
    """Short ids (F1, F2, …) for the facts that a prompt lists, in the order of the list."""
    return {f"F{number}": fact.root_id for number, fact in enumerate(facts, start=1)}


def merge(
    known: Sequence[Fact],
    observations: Sequence[Observation],
    exchanges: Sequence[Exchange],
    *,
    ids: Mapping[str, UUID],
    days: ValidityDays,
    new_id: Callable[[], UUID] = uuid4,
) -> tuple[PlannedChange, ...]:
    """The changes that the observations make, one per observation and in their order.

    `known` are all active facts of the persona, also those that the prompt did not list. `ids` are the short
    ids of those that it did (`short_ids`); an id that is not among them counts as not given.
    `exchanges[n - 1]` is the exchange of the observations with `turn` n. Further changes follow where known
    facts share a single slot: the older ones are retired. An update of something that is not known adds it;
    a retirement of something that is not known is `unknown`.
    """
    facts = _Facts(known, new_id)
    changes: list[PlannedChange] = []
    for observation in observations:
        exchange = exchanges[min(observation.turn, len(exchanges)) - 1]
        draft = with_validity(_draft(observation, exchange), exchange.day, days)
        root_id = ids.get(observation.id) if observation.id else None
        meant = facts.by_id.get(root_id) if root_id else None
        changes += facts.change(observation.op, draft, meant, observation.turn)
    return tuple(changes)


def merge_edit(
    known: Sequence[Fact], draft: FactDraft, new_id: Callable[[], UUID] = uuid4
) -> tuple[PlannedChange, ...]:
    """The changes of an edit by hand: it supersedes the fact with its key, or else the one in its slot.

    The first change is that of the edit. Its key and category are taken as they are.
    """
    facts = _Facts(known, new_id)
    return tuple(facts.change("add", draft, facts.with_key(draft), None))


def consolidate(known: Sequence[Fact]) -> tuple[PlannedChange, ...]:
    """Retire the older of facts that share a slot, so that each slot has one fact.

    In plural slots only facts with nearly equal values are the same.
    """
    facts = _Facts(known, uuid4)
    newest_first = sorted(
        facts.by_id.values(), key=lambda one: (one.valid_from, one.root_id.bytes), reverse=True
    )
    kept: list[_Known] = []
    changes: list[PlannedChange] = []
    for one in newest_first:
        if any(_share_slot(one, other) for other in kept):
            changes.append(facts.retire(one, None, "merged"))
        else:
            kept.append(one)
    return tuple(changes)


@dataclass
class _Known:
    """A fact during a merge. `version` is the newest version of its chain."""

    root_id: UUID
    version: int
    draft: FactDraft
    valid_from: float = float("inf")
    """When it was recorded; infinite for what this merge adds."""
    slot: Slot = field(init=False)

    def __post_init__(self) -> None:
        self.slot = slot_of(self.draft.subject, self.draft.category, self.draft.key)

    @cached_property
    def value_terms(self) -> frozenset[str]:
        """What the value says, with its numbers: room 17 is not room 18."""
        return thing_terms(self.draft.value) | frozenset(_NUMBER.findall(self.draft.value))

    @cached_property
    def things(self) -> frozenset[str]:
        """The terms that name the thing in its slot."""
        named = thing_terms(self.draft.value) | thing_terms(self.slot.thing)
        return named - slot_terms(self.slot.name)

    @cached_property
    def all_terms(self) -> frozenset[str]:
        return self.value_terms | thing_terms(self.draft.key.replace("_", " "))


class _Facts:
    """The facts while they are merged: each change is visible to the next."""

    def __init__(self, known: Iterable[Fact], new_id: Callable[[], UUID]) -> None:
        self._new_id = new_id
        self.by_id = {
            fact.root_id: _Known(fact.root_id, fact.version, _content(fact), fact.valid_from.timestamp())
            for fact in known
        }

    def change(self, op: Op, draft: FactDraft, meant: _Known | None, turn: int | None) -> list[PlannedChange]:
        """Place one draft, and retire what it replaces besides."""
        new = _Known(self._new_id(), NEW, draft)
        if meant is None:
            meant = self._find(op, new)
        if op == "retire":
            if meant is None:
                return [PlannedChange(outcome="unknown", root_id=None, draft=None, turn=turn)]
            return [self.retire(meant, turn, source=draft.source)]
        if meant is None:
            self.by_id[new.root_id] = _Known(new.root_id, 1, draft)
            return [PlannedChange(outcome="added", root_id=new.root_id, draft=draft, turn=turn)]
        return [self._supersede(meant, draft, turn), *self._retire_rivals(meant.root_id, new, turn)]

    def retire(
        self,
        one: _Known,
        turn: int | None,
        reason: FactReason | None = None,
        source: FactSource | None = None,
    ) -> PlannedChange:
        del self.by_id[one.root_id]
        return PlannedChange(
            outcome="retired",
            root_id=one.root_id,
            expected_version=one.version,
            draft=one.draft,
            turn=turn,
            reason=reason,
            source=source,
        )

    def with_key(self, draft: FactDraft) -> _Known | None:
        """The fact with exactly this subject and key: the same category first, then the newest."""
        found = [
            one for one in self.by_id.values() if one.draft.subject == draft.subject and _has_key(one, draft)
        ]
        return max(
            found, key=lambda one: (one.draft.category is draft.category, one.valid_from), default=None
        )

    def _supersede(self, one: _Known, draft: FactDraft, turn: int | None) -> PlannedChange:
        if draft.provenance != "hand":
            draft = draft.model_copy(
                update={
                    "key": one.draft.key,
                    "subject": one.draft.subject,
                    "category": _category(one.draft, draft),
                }
            )
        if not is_news(one.draft, draft):
            return PlannedChange(
                outcome="unchanged",
                root_id=one.root_id,
                expected_version=one.version,
                draft=one.draft,
                turn=turn,
            )
        self.by_id[one.root_id] = _Known(one.root_id, one.version + 1, draft)
        return PlannedChange(
            outcome="superseded", root_id=one.root_id, expected_version=one.version, draft=draft, turn=turn
        )

    def _retire_rivals(self, root_id: UUID, new: _Known, turn: int | None) -> list[PlannedChange]:
        """Retire the other facts in a single slot: older duplicates, and a goal that this value reached."""
        kept = self.by_id[root_id]
        rivals = [
            one
            for one in self.by_id.values()
            if one.root_id != root_id
            and (_is_single_rival(one, kept) or (_is_single_rival(one, new) and _reaches(one, new)))
        ]
        return [self.retire(one, turn, "merged", new.draft.source) for one in rivals]

    def _find(self, op: Op, new: _Known) -> _Known | None:
        """The known fact that a draft without an id is about."""
        of_subject = [one for one in self.by_id.values() if one.slot.subject == new.slot.subject]
        in_slot = [one for one in of_subject if one.slot.name == new.slot.name]
        found = self._in_slot(op, new, in_slot)
        if found is None and new.draft.provenance != "hand":
            found = _best(new, (one for one in of_subject if _is_near_same(one, new)), _jaccard)
        return found or (None if op == "add" else self._most_similar(op, new, of_subject))

    def _in_slot(self, op: Op, new: _Known, in_slot: Sequence[_Known]) -> _Known | None:
        if new.slot.arity is Arity.SINGLE:
            alike = [one for one in in_slot if one.slot.is_goal == new.slot.is_goal]
            others = in_slot if op != "add" else [one for one in in_slot if _reaches(one, new)]
            return _newest(alike) or _newest(others)
        if new.slot.arity is Arity.NOTES and new.draft.provenance == "hand":
            return None
        same = _best(new, (one for one in in_slot if _is_same_thing(one, new)), _overlap)
        if same is not None or op == "add":
            return same
        with_key = [one for one in in_slot if _has_key(one, new.draft)]
        if with_key:
            return _best(new, with_key, _overlap)
        return in_slot[0] if len(in_slot) == 1 and new.slot.arity is Arity.THINGS else None

    def _most_similar(self, op: Op, new: _Known, of_subject: Sequence[_Known]) -> _Known | None:
        """What an update or a retirement means that names neither its id nor its slot."""
        best = _best(new, of_subject, _overlap_all)
        if best is not None and _overlap_all(best, new) >= MEANT[op]:
            return best
        return _newest([one for one in self.by_id.values() if _has_key(one, new.draft)])


def is_news(known: FactDraft, draft: FactDraft) -> bool:
    """Whether the draft says more than the known fact.

    By hand every difference counts. In a conversation another value or another date counts: a model often
    finds the same fact again with other capitals or another importance.
    """
    if draft.provenance == "hand":
        same = {
            name: getattr(known, name)
            for name in FactDraft.model_fields
            if name not in ("provenance", "source")
        }
        return any(getattr(draft, name) != value for name, value in same.items())
    return (
        _LETTERS.sub("", normalize(known.value)) != _LETTERS.sub("", normalize(draft.value))
        or draft.when not in (None, known.when)
        or draft.until not in (None, known.until)
    )


def _draft(observation: Observation, exchange: Exchange) -> FactDraft:
    return FactDraft(
        category=observation.category,
        key=observation.key,
        value=observation.value,
        importance=observation.importance,
        provenance="user" if observation.says == "user" else "model",
        subject=observation.subject,
        when=observation.when,
        until=observation.until,
        source=exchange.user if observation.says == "user" else exchange.assistant,
    )


def _content(fact: Fact) -> FactDraft:
    return FactDraft(**{name: getattr(fact, name) for name in FactDraft.model_fields})


def _category(known: FactDraft, draft: FactDraft) -> Category:
    """The category of the next version: that of the draft, but what is state stays state.

    A goal that was reached becomes an event, also if the draft still calls it a goal.
    """
    if known.category is Category.GOAL:
        text = normalize(draft.value)
        if _REACHED.search(text) and not _NOT_REACHED.search(text):
            return Category.EVENT
    return draft.category if draft.category in STATE or known.category not in STATE else known.category


def _reaches(goal: _Known, new: _Known) -> bool:
    """Whether a value is what a goal in the same slot was about."""
    return goal.slot.is_goal and not new.slot.is_goal and _overlap(goal, new) >= SAME_THING


def _is_single_rival(one: _Known, kept: _Known) -> bool:
    return (
        one.slot.arity is Arity.SINGLE
        and (one.slot.subject, one.slot.name) == (kept.slot.subject, kept.slot.name)
        and (one.slot.is_goal == kept.slot.is_goal or _reaches(one, kept))
    )


def _share_slot(older: _Known, newer: _Known) -> bool:
    if (older.slot.subject, older.slot.name) != (newer.slot.subject, newer.slot.name):
        return False
    if older.slot.arity is Arity.SINGLE:
        return older.slot.is_goal == newer.slot.is_goal
    return _is_near_same(older, newer)


def _is_same_thing(one: _Known, new: _Known) -> bool:
    """Whether two values of a plural slot are about one thing."""
    if new.slot.arity is Arity.NOTES:
        return (
            (_has_key(one, new.draft) or _says_enough(new))
            and _jaccard(one, new) >= SAME_NOTE
            and not _on_other_days(one, new)
        )
    if new.slot.thing and new.slot.thing == one.slot.thing:
        return True
    if one.things and new.things:
        return _overlap(one, new) >= SAME_THING
    return not one.value_terms.isdisjoint(new.value_terms)  # no name, only the kind: 강아지를 키움


def _is_near_same(one: _Known, new: _Known) -> bool:
    """Whether two values say the same although their keys differ."""
    if _on_other_days(one, new):
        return False
    if one.slot.name != new.slot.name and slot_terms(one.slot.name) and slot_terms(new.slot.name):
        return False  # born in Busan and living in Busan are two facts
    return _says_enough(new) and _jaccard(one, new) >= NEAR_SAME


def _says_enough(new: _Known) -> bool:
    """Whether a value can be compared without its key: one word (yes, Seoul) may fit two things."""
    return len(new.value_terms) > 1


def _has_key(one: _Known, draft: FactDraft) -> bool:
    return normalize(one.draft.key) == normalize(draft.key)


def _on_other_days(one: _Known, new: _Known) -> bool:
    return None not in (one.draft.when, new.draft.when) and one.draft.when != new.draft.when


def _jaccard(one: _Known, new: _Known) -> float:
    return len(one.value_terms & new.value_terms) / max(1, len(one.value_terms | new.value_terms))


def _overlap(one: _Known, new: _Known) -> float:
    return len(one.things & new.things) / max(1, min(len(one.things), len(new.things)))


def _overlap_all(one: _Known, new: _Known) -> float:
    return len(one.all_terms & new.all_terms) / max(1, min(len(one.all_terms), len(new.all_terms)))


def _newest(facts: Sequence[_Known]) -> _Known | None:
    return max(facts, key=lambda one: one.valid_from, default=None)


def _best(new: _Known, facts: Iterable[_Known], score: Callable[[_Known, _Known], float]) -> _Known | None:
    """The fact with the best score, the newest of equals."""
    return max(facts, key=lambda one: (score(one, new), one.valid_from), default=None)
