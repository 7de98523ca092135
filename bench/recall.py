"""Recall: how many of the turns that answer a question are among the first results of a search.

python -m bench.recall FOLDER            every search variant, on every *.json in the folder
python -m bench.recall FOLDER --only ours --questions 20

The data is not part of the project: FOLDER, or GIEOK_RECALL_DATA, holds files of conversations,
`[{turns: [{id, session, time, speaker, text}], questions: [{question, evidence: [ids of turns]}]}]`.
Each turn becomes a memory with `companion.create`, and each question is searched with `companion.search`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from gieok import Gieok, Settings
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import SettingsInvalid
from gieok.memory.companion.records import MemoryDraft
from gieok.plans import read_plan
from gieok.settings import EmbedderSettings
from gieok.testing.settings import settings_for
from gieok.text import normalize

PERSONA = "recall"
DEPTHS = (5, 10, 20)
EMBEDDERS = ("wordllama", "minilm")
_WORD = re.compile(r"\w+")
_CONCURRENT_LOADS = 16


@dataclass(frozen=True)
class Conversation:
    """The turns of a conversation, its questions, and the turns that answer each."""

    owner: str
    turns: Sequence[Mapping[str, Any]]
    questions: Sequence[tuple[str, frozenset[str]]]


class Figures(NamedTuple):
    """Recall at each depth, the mean reciprocal rank, and the seconds per question."""

    recalls: tuple[float, ...]
    mrr: float
    seconds: float


def read_data(file: Path, questions: int | None) -> list[Conversation]:
    """The conversations of a file, each with at most `questions` questions."""
    return [
        Conversation(
            owner=f"{file.stem}-{number}",
            turns=conversation["turns"],
            questions=[
                (question["question"], frozenset(question["evidence"]))
                for question in islice(conversation["questions"], questions)
            ],
        )
        for number, conversation in enumerate(json.loads(file.read_text("utf-8")))
    ]


async def load(gieok: Gieok, conversation: Conversation) -> dict[str, str]:
    """Save every turn as a memory, in order. Returns the turn id of each memory id."""
    companion, turn_of = gieok.user(conversation.owner).companion, dict[str, str]()
    for turn in conversation.turns:
        draft = MemoryDraft(
            persona_id=PERSONA,
            summary=turn["text"],
            session_ref=f"{conversation.owner}-{turn['session']}",
            speaker=turn["speaker"],
            occurred_at=datetime.fromisoformat(turn["time"].replace("Z", "+00:00")),
        )
        kept = await companion.create(draft, account_plan="premium")
        turn_of[str(kept.memory.id)] = turn["id"]
    return turn_of


def search_plans() -> dict[str, ExecutionPlan]:
    """The plans to compare: the shipped search, BM25 only, and the search without each signal."""
    document = json.loads(read_plan("search_memories"))
    weights: dict[str, float] = document["steps"][0]["metadata"]["weights"]

    def plan(changed: Mapping[str, float]) -> ExecutionPlan:
        copy = json.loads(json.dumps(document))
        copy["steps"][0]["metadata"]["weights"] = {**weights, **changed}
        return make_plan(copy)

    left_out = {
        f"ours without {name}": plan({name: 0.0}) for name in weights if name not in ("bm25", "vectors")
    }
    words_only = dict.fromkeys(weights, 0.0) | {"bm25": 1.0}
    return {"BM25, analysed terms": plan(words_only), **left_out, "ours": plan({})}


async def search_all(
    gieok: Gieok, conversations: Sequence[Conversation], turns: Mapping[str, str], plan: ExecutionPlan
) -> Figures:
    """Search every question of every conversation, one after the other."""
    rows: list[tuple[list[str], frozenset[str]]] = []
    started = perf_counter()
    for conversation in conversations:
        companion = gieok.user(conversation.owner).companion
        for question, evidence in conversation.questions:
            hits = await companion.search(PERSONA, question, limit=max(DEPTHS), plan=plan)
            rows.append(([turns[str(hit.memory.id)] for hit in hits], evidence))
    return mean_figures(rows, perf_counter() - started)


def keyword_v1(conversations: Sequence[Conversation]) -> Figures:
    """Rank turns by the number of whole words shared with the question, then newest first."""
    rows: list[tuple[list[str], frozenset[str]]] = []
    started = perf_counter()
    for conversation in conversations:
        texts = [(turn["id"], _words(turn["text"])) for turn in reversed(conversation.turns)]
        for question, evidence in conversation.questions:
            query = _words(question)
            found = [(len(query & words), turn) for turn, words in texts if query & words]
            found.sort(key=lambda one: -one[0])
            rows.append(([turn for _, turn in found[: max(DEPTHS)]], evidence))
    return mean_figures(rows, perf_counter() - started)


def mean_figures(rows: Sequence[tuple[Sequence[str], frozenset[str]]], seconds: float) -> Figures:
    """The means over all questions, in percent."""
    recalls = tuple(
        100 * fmean(len(evidence & set(ranked[:depth])) / len(evidence) for ranked, evidence in rows)
        for depth in DEPTHS
    )
    firsts = (
        next((rank for rank, turn in enumerate(ranked, start=1) if turn in evidence), None)
        for ranked, evidence in rows
    )
    return Figures(recalls, 100 * fmean(1 / first if first else 0.0 for first in firsts), seconds / len(rows))


def table_row(name: str, figures: Figures) -> str:
    recalls = " | ".join(f"{recall:5.1f}" for recall in figures.recalls)
    return f"| {name:26} | {recalls} | {figures.mrr:5.1f} | {figures.seconds * 1e3:6.1f} |"


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(normalize(text)))


async def measure(file: Path, settings: Settings, only: str | None, questions: int | None) -> None:
    """Print the table of one file, row by row."""
    conversations, turns = read_data(file, questions), dict[str, str]()
    total = sum(len(conversation.turns) for conversation in conversations)
    questions_total = sum(len(conversation.questions) for conversation in conversations)
    print(f"\n### {file.stem}: {total:,} memories, {questions_total:,} questions\n")
    print(f"| {'':26} |   @5  |  @10  |  @20  |  MRR  |   ms   |\n|{'-' * 28}{'|-------' * 4}|--------|")
    if not only:
        print(table_row("keyword v1, whole words", keyword_v1(conversations)), flush=True)
    async with await Gieok.open(settings) as gieok:
        slots = asyncio.Semaphore(_CONCURRENT_LOADS)

        async def load_one(conversation: Conversation) -> None:
            async with slots:
                turns.update(await load(gieok, conversation))

        await asyncio.gather(*map(load_one, conversations))
        for name, plan in search_plans().items():
            if only in (None, name):
                print(table_row(name, await search_all(gieok, conversations, turns, plan)), flush=True)
    for embedder in EMBEDDERS:
        if only in (None, f"ours with {embedder}"):
            with_vectors = await _with_vectors(settings, embedder, conversations, turns)
            print(
                table_row(f"ours with {embedder}", with_vectors)
                if with_vectors
                else f"{embedder}: not installed"
            )


async def _with_vectors(
    settings: Settings, embedder: str, conversations: Sequence[Conversation], turns: Mapping[str, str]
) -> Figures | None:
    """The search with an embedder, or None where its package is not installed.

    The embedder is used for both languages, also where Gieok would not use it by default.
    """
    embedding = EmbedderSettings(embedder=embedder, embedder_languages="ko,en")
    try:
        gieok = await Gieok.open(replace(settings, embedding=embedding))
    except SettingsInvalid:
        return None
    async with gieok:
        for conversation in conversations:
            await gieok.user(conversation.owner).companion.embed()
        return await search_all(gieok, conversations, turns, search_plans()["ours"])


async def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.recall", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("folder", nargs="?", default=os.environ.get("GIEOK_RECALL_DATA"), type=Path)
    parser.add_argument(
        "--only", help="one search variant, such as ours, 'ours without time' or 'ours with wordllama'"
    )
    parser.add_argument("--questions", type=int, help="maximum number of questions per conversation")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.json")) if options.folder else []
    if not files:
        sys.exit("no data: give a folder with conversations in *.json, or set GIEOK_RECALL_DATA")
    for file in files:
        with TemporaryDirectory(prefix="gieok-recall-") as temporary:
            settings = settings_for(f"sqlite:///{temporary}/data/gieok.db", Path(temporary) / "root.key")
            await measure(file, settings, options.only, options.questions)


if __name__ == "__main__":
    asyncio.run(main())
