"""What is current at the checkpoints of labelled conversations, when their labels are merged as observations.

A part of `python -m bench mind`. The labels take the place of a model's answers: plain, and damaged in the
ways in which a model errs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.table import Goal, Row, Table, at_least, at_most
from gieok.memory.canon.merging import Exchange, merge
from gieok.memory.canon.records import Fact, FactSource, PlannedChange
from gieok.memory.canon.slots import ALIASES, Arity, slot_of
from gieok.memory.canon.validity import UPCAST_DAYS, is_past
from gieok.memory.observations import Category, Observation
from gieok.memory.profile import day_of

Label = dict[str, Any]
Damage = Callable[[Label, "Conversation"], Label]


@dataclass(frozen=True)
class Conversation:
    """A labelled conversation, with the position of each message."""

    language: str
    timezone: str
    facts: list[Label]
    states: list[Label]
    times: dict[str, datetime]
    order: dict[str, int]

    @classmethod
    def load(cls, path: Path) -> Conversation:
        data = json.loads(path.read_text("utf-8"))
        messages = [message for session in data["sessions"] for message in session["messages"]]
        return cls(
            data["language"],
            data.get("timezone", "UTC"),
            data["facts"],
            data.get("states", []),
            {message["id"]: datetime.fromisoformat(message["time"]) for message in messages},
            {message["id"]: number for number, message in enumerate(messages)},
        )


@dataclass
class Score:
    """Counts over all checkpoints."""

    must_hold: int = 0
    held: int = 0
    must_be_gone: int = 0
    still_current: int = 0
    double_slots: int = 0


def _plain(label: Label, talk: Conversation) -> Label:
    return label


def _wrong_key(label: Label, talk: Conversation) -> Label:
    """An add under a key that says nothing; an update and a retirement under the key of another fact."""
    if label["op"] == "add":
        return label | {"key": f"detail {label['fact']}"}
    other = next(each for each in talk.facts if each["fact"] != label["fact"])
    return label | {"key": other["key"]}


def _general_key(label: Label, talk: Conversation) -> Label:
    return label | {"key": "메모" if talk.language == "ko" else "note"}


def _other_category(label: Label, talk: Conversation) -> Label:
    categories = list(Category)
    place = (categories.index(Category(label["category"])) + 3) % len(categories)
    return label | {"category": categories[place].value}


def _other_language(label: Label, talk: Conversation) -> Label:
    """An alias of the slot in the other language, and no id for it; another key stays as it is."""
    name = slot_of(label["subject"], Category(label["category"]), label["key"]).name
    aliases = (alias.strip() for alias in ALIASES.get(name, "").split(",") if alias.strip())
    alias = next((alias for alias in aliases if alias.isascii() == (talk.language == "ko")), None)
    return label | ({"key": alias, "id": None} if alias and label["op"] != "add" else {})


def _missing_id(label: Label, talk: Conversation) -> Label:
    return label | {"id": None}


def _missing_id_and_key(label: Label, talk: Conversation) -> Label:
    return label | ({"id": None, "key": f"detail {label['fact']}"} if label["op"] != "add" else {})


def _reworded(label: Label, talk: Conversation) -> Label:
    value = label["value"]
    return label | {"value": f"사용자 말로는 {value}" if talk.language == "ko" else f"The user says: {value}"}


DAMAGES: dict[str, Damage] = {
    "plain": _plain,
    "wrong key": _wrong_key,
    "general key": _general_key,
    "other category": _other_category,
    "key in the other language, no id": _other_language,
    "missing id": _missing_id,
    "reworded value": _reworded,
    "missing id and wrong key": _missing_id_and_key,
}


def measure(files: Sequence[Path], damage: Damage, *, repeat: bool = False) -> Score:
    """Merge the labels of every conversation, and compare what is current at each checkpoint.

    `repeat`: each new fact is said once more right away, reworded and under another key.
    """
    score = Score()
    for path in files:
        talk = Conversation.load(path)
        for state, facts, said in _checkpoints(talk, damage, repeat=repeat):
            _count(score, state, facts, said, talk)
    return score


def _checkpoints(
    talk: Conversation, damage: Damage, *, repeat: bool
) -> Iterator[tuple[Label, list[Fact], dict[str, list[str]]]]:
    """Each checkpoint with the active facts, and the values said of each labelled fact, the newest last."""
    facts: dict[UUID, Fact] = {}
    chains: dict[str, UUID] = {}
    said: dict[str, list[str]] = {}
    labels = sorted(talk.facts, key=lambda label: talk.order[label["turn"]])
    for state in sorted(talk.states, key=lambda state: talk.order[state["after"]]):
        while labels and talk.order[labels[0]["turn"]] <= talk.order[state["after"]]:
            label = damage(labels.pop(0) | {"id": "known"}, talk)
            chain = chains.get(label["fact"])
            changes = _merge(facts, label, chain, talk)
            if label["op"] != "retire":
                said.setdefault(label["fact"], []).append(label["value"])
                if changes[0].root_id is not None:
                    chains[label["fact"]] = changes[0].root_id
            if repeat and label["op"] == "add":
                again = _reworded(label, talk) | {"key": f"detail {label['fact']}"}
                _merge(facts, again, None, talk)
                said[label["fact"]].append(again["value"])
        yield state, list(facts.values()), said


def _merge(
    facts: dict[UUID, Fact], label: Label, chain: UUID | None, talk: Conversation
) -> tuple[PlannedChange, ...]:
    at = talk.times[label["turn"]]
    source = FactSource(session_ref="s", message_id=label["turn"])
    exchange = Exchange(day=day_of(at, talk.timezone), user=source, assistant=source)
    ids = {"F1": chain} if chain else {}
    observation = Observation(
        turn=1,
        op=label["op"],
        id="F1" if chain and label["id"] else None,
        subject=label["subject"],
        category=Category(label["category"]),
        key=label["key"],
        value=label["value"],
        quote=label["quote"],
        says=label["says"],
        when=_day(label["when"]),
        until=_day(label["until"]),
        importance=label["importance"],
    )
    changes = merge(list(facts.values()), [observation], [exchange], ids=ids, days=UPCAST_DAYS)
    for change in changes:
        _apply(facts, change, at)
    return changes


def _apply(facts: dict[UUID, Fact], change: PlannedChange, at: datetime) -> None:
    if change.root_id is None or change.draft is None or change.outcome == "unchanged":
        return
    if change.outcome == "retired":
        del facts[change.root_id]
        return
    facts[change.root_id] = Fact(
        **vars(change.draft),
        root_id=change.root_id,
        version=change.expected_version + 1,
        valid_from=at.astimezone(UTC),
    )


def _count(
    score: Score, state: Label, facts: list[Fact], said: dict[str, list[str]], talk: Conversation
) -> None:
    today = day_of(datetime.fromisoformat(state["at"]), talk.timezone)
    current = [fact for fact in facts if not is_past(fact, today)]
    values = {fact.value for fact in current}
    score.must_hold += len(state["holds"])
    score.held += sum(said[name][-1] in values for name in state["holds"] if name in said)
    score.must_be_gone += len(state["gone"])
    score.still_current += sum(not values.isdisjoint(said.get(name, ())) for name in state["gone"])
    slots = [slot_of(fact.subject, fact.category, fact.key) for fact in current]
    single = [slot for slot in slots if slot.arity is Arity.SINGLE]
    score.double_slots += len(single) - len(set(single))


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def tables(files: Sequence[Path]) -> list[Table]:
    """What holds, what is gone and what stands twice, by damage; empty without checkpoints."""
    scores = {name: measure(files, damage) for name, damage in DAMAGES.items()}
    scores["each new fact twice, reworded, under another key"] = measure(files, _plain, repeat=True)
    if not scores["plain"].must_hold:
        return []
    held, gone, double = list[Row](), list[Row](), list[Row]()
    for name, score in scores.items():
        share, left = score.held / score.must_hold, score.still_current / max(1, score.must_be_gone)
        of, of_gone = f"{score.must_hold}", f"{score.must_be_gone}"
        held.append(Row(name, f"{100 * share:.1f} %", "labels", of, share, at_least(100 * share, 97, " %")))
        gone.append(Row(name, f"{100 * left:.1f} %", "labels", of_gone, left, at_most(100 * left, 2, " %")))
        goal = Goal("0", score.double_slots == 0)
        double.append(Row(name, f"{score.double_slots}", "labels", of, score.double_slots, goal))
    return [
        Table("Checkpoints: facts that must hold and are current", held),
        Table("Checkpoints: facts that must be gone and are current", gone),
        Table("Checkpoints: two current facts in one slot", double),
    ]
