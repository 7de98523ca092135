"""Companion memory: loading for a new conversation, selecting the context of a turn, and searching.

For the first two, the small file has 1,000 memories of one user. The large file has 1,000,000, 10,000
of them of that user. The time must not grow with either number. Searches score every memory of a persona: a
process reads its index with the first one, and keeps it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from uuid import uuid4

from bench.table import Row, Table, at_most, millis
from bench.terms import random_terms
from bench.timing import TimedRun, Timings, interleaved
from bench.turns.filler import checkpoint
from bench.turns.saving import OWNER, open_at, scope_of
from bench.vocabulary import Vocabulary
from gieok import Gieok
from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.scope import SqlView
from gieok.engine import ExecutionPlan, make_plan
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import Emotion, Memory
from gieok.plans import read_plan

PERSONA = "hana"
GOAL = 1.5
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")
_MEMORIES_PER_SESSION = 5
_WORDS_PER_MEMORY = 18
_CHUNK = 10_000


@dataclass(frozen=True)
class Size:
    """Memories of the user in the small and the large file, memories of others in the large file."""

    few: int
    many: int
    others: int
    queries: int
    rounds: int
    searched: Sequence[int]
    """Memories of the persona that is searched."""


SHORT = Size(few=50, many=200, others=500, queries=2, rounds=2, searched=(50, 200))
LONG = Size(few=1_000, many=10_000, others=990_000, queries=30, rounds=15, searched=(100, 10_000, 100_000))
FIRST_SEARCH_GOALS = {10_000: 0.150, 100_000: 1.5}
SEARCH_GOALS = {100_000: 0.010}
"""Seconds by the number of memories."""


async def run(*, short: bool) -> list[Table]:
    """Run on files in the temporary folder. Set TMPDIR to measure another disk."""
    size = SHORT if short else LONG
    with TemporaryDirectory(prefix="gieok-bench-") as temporary:
        folder = Path(temporary)
        return [await measure(folder / "data", size), await measure_searches(folder / "searches", size)]


async def measure(folder: Path, size: Size) -> Table:
    words = Vocabulary()
    async with (
        await open_at(f"sqlite:///{folder}/small.db", folder) as small,
        await open_at(f"sqlite:///{folder}/large.db", folder) as large,
    ):
        await save(small, words, size.few)
        await save(large, words, size.many)
        fill(folder / "large.db", size.others)
        for name in ("small", "large"):
            checkpoint(folder / f"{name}.db")
        messages = {"a message": words.messages(size.queries), **words.queries(size.queries)}
        cases: dict[str, TimedRun] = {}
        for name, gieok in (("small", small), ("large", large)):
            cases[f"load/{name}"] = _loads(gieok, size.queries)
            for kind, texts in messages.items():
                cases[f"{kind}/{name}"] = _selections(gieok, texts)
        timings = await interleaved(size.rounds, cases)
    rows = [_row(timings, "load", "the five memories of a new conversation", size)]
    rows += [_row(timings, kind, f"context of a turn, {kind}", size) for kind in messages]
    everything = size.many + size.others
    return Table(f"Companion memory of a user with {size.many:,} among {everything:,} memories", rows)


async def measure_searches(folder: Path, size: Size) -> Table:
    """The first search of a process and the following ones, by the number of memories."""
    words = Vocabulary()
    first, later = dict[int, float](), dict[int, float]()
    for count in size.searched:
        place = f"sqlite:///{folder}/{count}.db", folder
        async with await open_at(*place) as gieok:
            await save(gieok, words, count)
        async with await open_at(*place) as gieok:
            first[count], *_ = await _searches(gieok, [" ".join(words.draw(3))])
            texts = [" ".join(words.draw(3)) for _ in range(size.queries * size.rounds)]
            later[count] = median(await _searches(gieok, texts))
    rows: list[Row] = []
    for count in size.searched[1:]:
        for what, seconds, goals in (
            ("first search", first, FIRST_SEARCH_GOALS),
            ("search", later, SEARCH_GOALS),
        ):
            baseline = seconds[size.searched[0]]
            figure, ratio = seconds[count], seconds[count] / baseline
            goal = at_most(figure * 1e3, goals[count] * 1e3, " ms") if count in goals else None
            against = f"{size.searched[0]:,} memories"
            rows.append(
                Row(f"{what}, {count:,} memories", millis(figure), against, millis(baseline), ratio, goal)
            )
    return Table("Searching the memories of one persona", rows)


async def _searches(gieok: Gieok, texts: Sequence[str]) -> list[float]:
    """The seconds of each search."""
    companion, seconds = gieok.user(OWNER).companion, list[float]()
    for text in texts:
        started = perf_counter()
        await companion.search(PERSONA, text, limit=10)
        seconds.append(perf_counter() - started)
    return seconds


def selection_plan() -> ExecutionPlan:
    """The plan of a chat turn, reduced to its first stage."""
    document = json.loads(read_plan("chat_turn"))
    steps = [step for step in document["steps"] if step["stage"] == "ContextSelect"]
    sources = {source for step in steps for source in step["inputs"].values()}
    request = [name for name in document["request"] if f"request.{name}" in sources]
    return make_plan({"name": "select_context", "version": 1, "request": request, "steps": steps})


def _loads(gieok: Gieok, count: int) -> TimedRun:
    companion = gieok.user(OWNER).companion

    async def run_once() -> float:
        started = perf_counter()
        for _ in range(count):
            await companion.load(PERSONA)
        return (perf_counter() - started) / count

    return run_once


def _selections(gieok: Gieok, texts: Sequence[str]) -> TimedRun:
    scope, plan = scope_of(gieok), gieok.check(selection_plan())
    rest = {
        "sessionRef": "now",
        "personaId": PERSONA,
        "accountPlan": None,
        "recentMessages": (),
        "replaces": None,
    }

    async def run_once() -> float:
        started = perf_counter()
        for text in texts:
            await gieok.engine.run(plan, scope, {**rest, "message": text})
        return (perf_counter() - started) / len(texts)

    return run_once


async def save(gieok: Gieok, words: Vocabulary, count: int, *, owner: str = OWNER) -> None:
    """Save the persona of the user and `count` memories."""
    await gieok.user(owner).personas.create(_HANA, persona_id=PERSONA)
    memories = list(_memories(words, count))

    def save(view: SqlView) -> None:
        view.companion.save(memories)

    await gieok.scope(owner).write(save)


def _memories(words: Vocabulary, count: int) -> Iterator[Memory]:
    """Memories of realistic length, an hour apart, five in each session."""
    for number in range(count):
        at = _START - timedelta(hours=count - number)
        yield Memory(
            id=uuid4(),
            persona_id=PERSONA,
            session_ref=f"s{number // _MEMORIES_PER_SESSION}",
            summary=" ".join(words.draw(16)),
            topics=tuple(words.draw(2)),
            emotion=Emotion.CALM,
            importance=1 + number % 10,
            tags=(),
            speaker=None,
            origin="summary",
            created_at=at,
            occurred_at=at,
            archived_at=None,
            version=1,
        )


_ADD_OWNER = "INSERT INTO owners (owner, key_generation, created_at) VALUES (:owner, 1, '2026-01-05')"
_ADD_CONFIG = """
INSERT INTO persona_memory_configs (owner, persona_id, recall, last_number, active, archived, revision)
VALUES (:owner, 'hana', 1, :count, :count, 0, :count)
"""
_ADD_MEMORY = """
INSERT INTO memories
    (owner, id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, version,
     changed, topic_token, terms, content)
VALUES
    (:owner, randomblob(16), 'hana', :number, 's' || (:number / 5), 1, 1 + :number % 10,
     1767600000000000 + :number, 1767600000000000 + :number, 1, :number, random(), :terms, randomblob(300))
"""


def fill(file: Path, count: int) -> None:
    """Add memories of other users: rows of realistic size with random contents."""
    connection = sqlite_file.connect(file, lock_seconds=30.0)
    connection.pragma("synchronous", "off")
    for chunk, left in enumerate(range(count, 0, -_CHUNK)):
        owner, size = f"filler-{chunk}", min(left, _CHUNK)
        packed = random_terms(size, [1] * _WORDS_PER_MEMORY, version=1, words=_WORDS_PER_MEMORY)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_ADD_OWNER, {"owner": owner})
        connection.execute(_ADD_CONFIG, {"owner": owner, "count": size})
        connection.executemany(
            _ADD_MEMORY,
            ({"owner": owner, "number": number, "terms": terms} for number, terms in enumerate(packed, 1)),
        )
        connection.execute("COMMIT")
    connection.close()


def _row(timings: Timings, kind: str, what: str, size: Size) -> Row:
    ratio = timings.ratio(f"{kind}/large", f"{kind}/small")
    return Row(
        what,
        millis(timings.of(f"{kind}/large")),
        f"a file of {size.few:,}",
        millis(timings.of(f"{kind}/small")),
        ratio,
        at_most(ratio, GOAL),
    )
