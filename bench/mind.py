"""Memory formation: what grounding keeps and refuses of observations, on labelled conversations.

The data is not part of the project: GIEOK_MIND_DATA, or ../shared/mind, holds one JSON file per conversation
with messages, `facts` (what a careful reader remembers) and `traps` (what a careless model would keep). The
facts are given to the pipeline as a model's answers, as they are and damaged in eight ways.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import mind_cost, mind_states
from bench.table import Row, Table, at_least
from gieok.memory.answers import parse_remembered
from gieok.memory.canon.grounding import ground
from gieok.memory.observations import Observation, Refusal, SpokenMessage
from gieok.text.modality.notes import denies

FOLDER = "GIEOK_MIND_DATA"
DEFAULT_FOLDER = Path("../shared/mind")
WINDOW = 6

Item = dict[str, Any]
Damage = Callable[[list[Item], str], str]


@dataclass(frozen=True)
class KnownFact:
    """A current fact of the labels."""

    key: str
    value: str


@dataclass(frozen=True)
class Exchange:
    """A message of the user and its reply, with what was known and said before them."""

    language: str
    before: Sequence[SpokenMessage]
    messages: Sequence[SpokenMessage]
    known: Mapping[str, KnownFact]
    facts: Sequence[Item]
    traps: Sequence[tuple[str, Item]]


async def run(*, short: bool) -> list[Table]:
    """The tables of grounding and merging; none without data. `short` reads two conversations."""
    found = files()[:: 4 if short else 1]
    exchanges = [exchange for file in found for exchange in read(file)]
    if not exchanges:
        return []
    tables = [table_of_facts(exchanges), table_of_traps(exchanges), *mind_states.tables(found)]
    talks = sorted(map(mind_cost.Talk.load, found), key=lambda talk: len(talk.turns))
    long_enough = [talk for talk in talks if len(talk.turns) >= mind_cost.FEWEST_TURNS]
    return [*tables, await mind_cost.table(long_enough)] if long_enough else tables


def files() -> list[Path]:
    """The files of the conversations. Says what to do where there are none."""
    folder = Path(os.environ.get(FOLDER) or DEFAULT_FOLDER)
    found = sorted(folder.glob("*.json"))
    if not found:
        print(f"mind: no conversations in {folder}; set {FOLDER} to a folder of labelled *.json files")
    return found


def read(file: Path) -> Iterator[Exchange]:
    """The exchanges of a conversation, in order."""
    data = json.loads(file.read_text("utf-8"))
    facts: defaultdict[str, list[Item]] = defaultdict(list)
    traps: defaultdict[str, list[Item]] = defaultdict(list)
    for name, by_message in (("facts", facts), ("traps", traps)):
        for label in data[name]:
            by_message[label["turn"]].append(label)
    known: dict[str, KnownFact] = {}
    for session in data["sessions"]:
        messages: list[Item] = session["messages"]
        spoken = [
            SpokenMessage(role=one["role"], text=one["text"], at=datetime.fromisoformat(one["time"]))
            for one in messages
        ]
        starts = [index for index, one in enumerate(messages) if one["role"] == "user"]
        for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
            ids = [one["id"] for one in messages[start:end]]
            roles = {one["id"]: one["role"] for one in messages[start:end]}
            labels = [label for one in ids for label in facts[one]]
            yield Exchange(
                language=data["language"],
                before=spoken[max(0, start - WINDOW) : start],
                messages=spoken[start:end],
                known=dict(known),
                facts=[_item(label) | {"says": label["says"]} for label in labels],
                traps=[
                    (label["why"], _item(label) | {"says": roles[one]}) for one in ids for label in traps[one]
                ],
            )
            for label in labels:
                if label["op"] == "retire":
                    known.pop(label["fact"], None)
                else:
                    known[label["fact"]] = KnownFact(label["key"], label["value"])


def _item(label: Item) -> Item:
    """A label as a model would answer it."""
    named = {
        name: label.get(name) for name in ("subject", "category", "key", "value", "quote", "when", "until")
    }
    op = label.get("op", "add")
    return named | {
        "turn": 1,
        "op": op,
        "id": label["fact"] if op != "add" else None,
        "importance": label.get("importance", 5),
    }


def _answer(items: Sequence[Item | str]) -> str:
    return json.dumps(
        {"turns": [{"summary": "…", "keywords": []}], "observations": items}, ensure_ascii=False
    )


def _changed(change: Callable[[Item], Item]) -> Damage:
    return lambda items, _: _answer([change(item) for item in items])


def _reworded(item: Item) -> Item:
    """Half of the words, in another order; a negation stays, since without it the note would be wrong."""
    words = str(item["value"]).split()
    kept = [word for index, word in enumerate(words) if index % 2 == 0 or denies(f" {word} ")]
    return item | {"value": " ".join(reversed(kept))}


def _respaced(item: Item) -> Item:
    quote = str(item["quote"])
    spaced = quote.replace(" ", "") if any("가" <= char <= "힣" for char in quote) else f" {quote} ".upper()
    return item | {"quote": spaced.replace(",", " ,  ")}


_OTHER_CATEGORY = {
    "RELATIONSHIP": "PERSONAL_INFO",
    "PERSONAL_INFO": "OTHER",
    "GOAL": "EVENT",
    "EVENT": "GOAL",
}
DAMAGES: dict[str, Damage] = {
    "plain": lambda items, _: _answer(items),
    "wrong key": _changed(lambda item: item | {"key": f"note_{len(str(item['key']))}"}),
    "other category": _changed(
        lambda item: item | {"category": _OTHER_CATEGORY.get(item["category"], "SOMETHING_ELSE")}
    ),
    "English key": _changed(
        lambda item: item | {"key": "".join(filter(str.isascii, str(item["key"]))).upper() or "fact"}
    ),
    "missing id": _changed(lambda item: {name: value for name, value in item.items() if name != "id"}),
    "prose around": lambda items, _: f"Sure! Here {{it}} is:\n```json\n{_answer(items)}\n```\n알겠습니다.",
    "one broken item": lambda items, _: _answer([{"op": "add", "value": None}, "broken", *items]),
    "reworded value": _changed(_reworded),
    "other spacing": _changed(_respaced),
}


def kept_of(exchange: Exchange, answer: str) -> tuple[list[Observation], list[Refusal]]:
    """What the pipeline keeps and refuses of one answer."""
    parsed = parse_remembered(answer)
    kept, refused = ground(
        parsed.observations, exchange.messages, before=exchange.before, known=exchange.known
    )
    return kept, [*parsed.refusals, *refused]


def table_of_facts(exchanges: Sequence[Exchange]) -> Table:
    """The share of the right observations that is kept, by damage."""
    rows: list[Row] = []
    total = sum(len(exchange.facts) for exchange in exchanges)
    for name, damage in DAMAGES.items():
        kept = sum(
            len(kept_of(exchange, damage(list(exchange.facts), exchange.language))[0])
            for exchange in exchanges
            if exchange.facts
        )
        share = kept / total
        goal = at_least(100 * share, 95 if name == "plain" else 90, " %")
        rows.append(Row(name, f"{100 * share:.1f} %", "labels", f"{total}", share, goal))
    return Table("Grounding: correct observations kept", rows)


def table_of_traps(exchanges: Sequence[Exchange]) -> Table:
    """The share of the traps that is refused, by kind."""
    refused, total = Counter[str](), Counter[str]()
    for exchange in exchanges:
        for why, item in exchange.traps:
            total[why] += 1
            refused[why] += not kept_of(exchange, _answer([item]))[0]
    share = refused.total() / total.total()
    rows = [
        Row(
            "all traps",
            f"{100 * share:.1f} %",
            "labels",
            f"{total.total()}",
            share,
            at_least(100 * share, 65, " %"),
        )
    ]
    rows += [
        Row(why, f"{100 * refused[why] / count:.0f} %", "labels", f"{count}", refused[why] / count)
        for why, count in total.most_common()
    ]
    return Table("Grounding: traps refused", rows)
