"""The offline model: facts, answers about the past and summaries, on labelled text.

The blind table in `tests/models/facts/sentences.toml` is split into halves; rules were tuned on one of them.
The labelled conversations are not part of the project: GIEOK_MIND_DATA, or ../shared/mind, holds them.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import process_time
from typing import Any

from bench.table import Goal, Row, Table, at_least, micros
from gieok.adapters.models.offline import OfflineModel
from gieok.adapters.models.offline.reading import read
from gieok.adapters.models.offline.recall import Source, answer
from gieok.memory.observations import Conversation, Exchange, Observation, SpokenMessage
from gieok.text import terms
from tests.models.facts.score import BLIND, VERBATIM, Sentence, observe, score, sentences

FOLDER = "GIEOK_MIND_DATA"
DEFAULT_FOLDER = Path("../shared/mind")
LANGUAGES = {"ko": "Korean", "en": "English"}
BEFORE = 6
IN_CONTEXT = 10

Item = Mapping[str, Any]


async def run(*, short: bool) -> Sequence[Table]:
    """The blind table, and the labelled conversations if there are any. `short` reads two of them."""
    model = OfflineModel()
    blind = Table("Facts, blind table", await _blind(model, rounds=2 if short else 20))
    talks = _talks()[:: 4 if short else 1]
    return [blind, await _conversations(model, talks), _questions(talks)] if talks else [blind]


def _talks() -> list[Item]:
    folder = Path(os.environ.get(FOLDER, DEFAULT_FOLDER))
    found = sorted(folder.glob("*.json"))
    if not found:
        print(f"no conversations in {folder}: set {FOLDER}")
    return [json.loads(path.read_text("utf-8")) for path in found]


async def _blind(model: OfflineModel, rounds: int) -> list[Row]:
    rows: list[Row] = []
    for half in BLIND:
        for language, name in LANGUAGES.items():
            made = await score(model, [each for each in sentences(half) if each.language == language])
            goal = at_least(made.precision(), 0.95, "")
            rows.append(_share(f"precision, {name}, {half} half", made.precision(), goal))
            rows.append(_share(f"recall, {name}, {half} half", made.recall()))
    for language, name in LANGUAGES.items():
        table = [each for each in sentences(*BLIND) if each.language == language]
        rows.append(await _cost(model, table, name, rounds))
    return rows


async def _cost(model: OfflineModel, table: Sequence[Sentence], name: str, rounds: int) -> Row:
    """Processor time to remember a sentence: the minimum of the rounds, because others only add to it."""
    whole, analysis = list[float](), list[float]()
    for _ in range(rounds):
        started = process_time()
        for each in table:
            await observe(model, each.said)
        between = process_time()
        for each in table:
            read(each.said)
        whole.append((between - started) / len(table))
        analysis.append((process_time() - between) / len(table))
    ratio = min(whole) / min(analysis)
    return Row(f"a sentence, {name}", micros(min(whole)), "its analysis", micros(min(analysis)), ratio)


async def _conversations(model: OfflineModel, talks: Sequence[Item]) -> Table:
    messages = wrong = right = labelled = long = copied = 0
    for talk in talks:
        labels, traps = (_by_turn(talk[kind]) for kind in ("facts", "traps"))
        labelled += len(talk["facts"])
        for before, exchange in _exchanges(talk):
            spoken = [_spoken(each) for each in exchange]
            messages += len(spoken)
            made = await model.remember(
                Conversation(
                    language=talk["language"],
                    character=talk["persona"]["name"],
                    timezone=talk["timezone"],
                    before=tuple(map(_spoken, before)),
                    exchanges=(Exchange(messages=tuple(spoken)),),
                    known=(),
                ),
                summary_chars=300,
                max_keywords=8,
                verbatim=VERBATIM,
            )
            said = spoken[0].text
            long += len(said) > 20
            copied += len(said) > 20 and VERBATIM.is_copy(made.turns[0].summary, said)
            expected = [fact for each in exchange for fact in labels.get(each["id"], ())]
            trapped = [trap for each in exchange for trap in traps.get(each["id"], ())]
            for fact in made.observations:
                is_right = _overlaps(fact, expected) and not _overlaps(fact, trapped)
                right += is_right
                wrong += not is_right
    rate = 100 * wrong / messages
    return Table(
        "Offline model, labelled conversations",
        [
            Row("wrong facts per 100 messages", f"{rate:.2f}", "goal", "1.00", rate, Goal("≤ 1", rate <= 1)),
            _share(f"labelled facts found, {right} of {labelled}", right / labelled),
            _share("messages over 20 characters copied", copied / long, Goal("0", copied == 0)),
        ],
    )


def _questions(talks: Sequence[Item]) -> Table:
    """Questions with ten messages as context: those of BM25, with the evidence among them.

    Any quote of the reply counts. `unsure` is a quote after "I don't know that for sure".
    """
    counts: Counter[str] = Counter()
    for talk in talks:
        messages = [each for session in talk["sessions"] for each in session["messages"]]
        for question in talk["questions"]:
            evidence = {each["id"]: each["text"] for each in messages if each["id"] in question["evidence"]}
            ranked = _bm25(messages, question["question"])
            others = [each for each in ranked if each["id"] not in evidence]
            held = [each for each in ranked[:IN_CONTEXT] if each["id"] in evidence]
            missed = [each for each in ranked[IN_CONTEXT:] if each["id"] in evidence]
            context = [*held, *others[: IN_CONTEXT - len(evidence)], *missed]
            found = answer(question["question"], [_source(each) for each in context])
            kind = found[0] if found else "unknown"
            if not evidence:
                counts[f"never {kind}"] += 1
                continue
            hit = found is not None and any(quote.source.text in evidence.values() for quote in found[1])
            counts[f"{'right' if hit else 'wrong'} {kind}"] += 1
    asked = sum(count for name, count in counts.items() if not name.startswith("never"))
    never = sum(count for name, count in counts.items() if name.startswith("never"))
    right = (counts["right sure"] + counts["right unsure"]) / asked
    unknown = (counts["never unknown"] + counts["never unsure"]) / never
    return Table(
        f"Offline model, {asked + never} questions about the past",
        [
            _share("right quote", right, at_least(right, 0.6, "")),
            _share("of it without hedging", counts["right sure"] / asked),
            _share("wrong quote without hedging", counts["wrong sure"] / asked),
            _share("never said: says that it does not know", unknown, at_least(unknown, 0.8, "")),
            _share("of it without a quote", counts["never unknown"] / never),
        ],
    )


def _share(what: str, value: float, goal: Goal | None = None) -> Row:
    return Row(what, f"{value:.2f}", "all", "1.00", value, goal)


def _by_turn(items: Sequence[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(item["turn"], []).append(item)
    return found


def _exchanges(talk: Item) -> Iterator[tuple[list[Item], list[Item]]]:
    """Each message of the user with its reply, and the messages before it."""
    before: list[Item] = []
    for session in talk["sessions"]:
        messages = session["messages"]
        for start in range(0, len(messages), 2):
            yield before[-BEFORE:], messages[start : start + 2]
            before += messages[start : start + 2]


def _spoken(message: Item) -> SpokenMessage:
    return SpokenMessage(
        role=message["role"], text=message["text"], at=datetime.fromisoformat(message["time"])
    )


def _source(message: Item) -> Source:
    kind = "user_said" if message["role"] == "user" else "self_said"
    return Source(message["text"], kind, datetime.fromisoformat(message["time"]).date())


def _overlaps(fact: Observation, labels: Sequence[Item]) -> bool:
    """Whether the quote of a label is in that of the fact, or the other way round."""
    return any(label["quote"] in fact.quote or fact.quote in label["quote"] for label in labels) or any(
        set(terms(label["quote"])) >= set(terms(fact.quote)) for label in labels
    )


def _bm25(messages: Sequence[Item], query: str) -> list[Item]:
    documents = [Counter(terms(each["text"])) for each in messages]
    frequency = Counter(term for document in documents for term in document)
    mean = sum(sum(document.values()) for document in documents) / len(documents)

    def rank(number: int) -> float:
        document, length = documents[number], sum(documents[number].values())
        return sum(
            math.log(1 + (len(documents) - frequency[term] + 0.5) / (frequency[term] + 0.5))
            * document[term]
            * 1.9
            / (document[term] + 0.9 * (0.6 + 0.4 * length / mean))
            for term in set(terms(query)) & document.keys()
        )

    return [messages[number] for number in sorted(range(len(messages)), key=rank, reverse=True)]
