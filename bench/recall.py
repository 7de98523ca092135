"""Recall: how many of the turns that answer a question are among the first results of a search.

python -m bench.recall FOLDER...         every search variant, on every set of the folders
python -m bench.recall FOLDER --only ours --questions 20
python -m bench.recall FOLDER --memories with every turn as a memory of its own, also with embedders
python -m bench.recall FOLDER --among 50000 --only ours    among so many other messages of the same persona

The data is not part of the project: the folders, or GIEOK_RECALL_DATA with `:` between them, hold files of
conversations in the two formats of `bench.peers.questions`. Each turn is saved as a message of a session, and
each question is asked through the step RecallMemories as the chat plan has it, only with a larger `topK` and
without its threshold of confidence. What the threshold costs is in `bench.recall_checks`.
Where a conversation has labels (`facts`), they are then remembered as a model's answers would be, and the
questions are asked again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple, cast

from gieok import Gieok, Hit, PersonaDraft, Settings
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import SettingsInvalid
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.observations import Conversation as Remembering
from gieok.memory.observations import Observation, TurnNote, Understood, VerbatimLimit
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage, Role
from gieok.plans import read_plan
from gieok.settings import EmbedderSettings
from gieok.testing.models import CountingModel
from gieok.testing.settings import settings_for
from gieok.text import normalize

PERSONA = "recall"
CHAT_PLAN = "chat_turn"
DEPTHS = (5, 10, 20)
EMBEDDERS = ("wordllama", "minilm")
LABELLED = "ours, labels remembered"
NEAR_WORDS = "ours with near words"
_WORD = re.compile(r"\w+")
_ROLES = ("user", "assistant")
_CONCURRENT_LOADS = 16


@dataclass(frozen=True)
class Conversation:
    """The turns of a conversation, its questions, and the turns that answer each."""

    owner: str
    turns: Sequence[Mapping[str, Any]]
    """Each with `id`, `session`, `time`, `speaker` and `text`."""
    questions: Sequence[tuple[str, frozenset[str]]]
    labels: Sequence[Mapping[str, Any]] = ()
    """What a careful reader would remember of each turn."""
    never: Sequence[str] = ()
    """Questions about what was never said."""


class Figures(NamedTuple):
    """Recall at each depth, the mean reciprocal rank, and the seconds per question."""

    recalls: tuple[float, ...]
    mrr: float
    seconds: float


def read_sets(folder: Path, questions: int | None) -> dict[str, list[Conversation]]:
    """The sets of a folder by name, each conversation with at most `questions` questions."""
    sets: dict[str, list[Conversation]] = {}
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text("utf-8"))
        if "sessions" not in document:
            sets[file.stem] = [
                _conversation(f"{file.stem}-{number}", each["turns"], each, questions)
                for number, each in enumerate(document)
            ]
        else:
            turns = [
                message | {"session": session["id"], "speaker": message["role"]}
                for session in document["sessions"]
                for message in session["messages"]
            ]
            name = f"{folder.name}, {document['language']}"
            sets.setdefault(name, []).append(_conversation(file.stem, turns, document, questions))
    return sets


def _conversation(
    owner: str, turns: Sequence[Mapping[str, Any]], document: Mapping[str, Any], questions: int | None
) -> Conversation:
    """Questions without evidence ask about what was never said."""
    asked = [(each["question"], frozenset(each["evidence"])) for each in document["questions"]]
    answered = [(question, evidence) for question, evidence in asked if evidence]
    never = [question for question, evidence in asked if not evidence]
    return Conversation(owner, turns, answered[:questions], document.get("facts", ()), never)


def among_others(conversation: Conversation, others: Sequence[Conversation], count: int) -> Conversation:
    """A conversation with `count` turns of the others after its own, which are repeated as needed."""
    turns: Iterator[dict[str, Any]] = (
        {
            **turn,
            "id": f"{number}.{other.owner}.{turn['id']}",
            "session": f"{number}.{other.owner}.{turn['session']}",
        }
        for number in range(count)
        for other in others
        if other.owner != conversation.owner
        for turn in other.turns
    )
    return replace(conversation, turns=[*conversation.turns, *islice(turns, count)])


async def load(gieok: Gieok, conversation: Conversation) -> None:
    """Save every turn as a message of its session, in order."""
    user = gieok.user(conversation.owner)
    await user.personas.create(PersonaDraft(name="Recall"), persona_id=PERSONA)
    speakers = dict.fromkeys(turn["speaker"] for turn in conversation.turns)
    role_of = {name: name if name in _ROLES else _ROLES[number % 2] for number, name in enumerate(speakers)}
    for session, turns in groupby(conversation.turns, key=lambda turn: str(turn["session"])):
        await user.sessions.start(PERSONA, plan=CHAT_PLAN, session_ref=session)
        messages = [
            ChatMessage(
                id=turn["id"],
                role=cast(Role, role_of[turn["speaker"]]),
                content=turn["text"],
                timestamp=_time(turn),
                speaker=None if turn["speaker"] in _ROLES else turn["speaker"],
            )
            for turn in turns
        ]
        for first in range(0, len(messages), MAX_MESSAGES):
            some = messages[first : first + MAX_MESSAGES]
            await user.sessions.save_messages(session, some, remember=bool(conversation.labels))


async def load_memories(gieok: Gieok, conversation: Conversation) -> dict[str, str]:
    """Save every turn as a memory, in order. Returns the turn id of each memory id."""
    companion, turn_of = gieok.user(conversation.owner).companion, dict[str, str]()
    for turn in conversation.turns:
        draft = MemoryDraft(
            persona_id=PERSONA,
            summary=turn["text"],
            session_ref=f"{conversation.owner}-{turn['session']}",
            speaker=turn["speaker"],
            occurred_at=_time(turn),
        )
        kept = await companion.create(draft, account_plan="premium")
        turn_of[str(kept.memory.id)] = turn["id"]
    return turn_of


def _time(turn: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(turn["time"].replace("Z", "+00:00"))


class LabelModel(CountingModel):
    """Remembers the labels of conversations: what a careful model would answer. No keywords."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self._labels: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for conversation in conversations:
            texts = {turn["id"]: turn["text"] for turn in conversation.turns}
            for label in conversation.labels:
                self._labels[texts[label["turn"]]].append(label)

    async def remember(
        self, conversation: Remembering, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        notes = [TurnNote(summary="-", keywords=()) for _ in conversation.exchanges]
        observations = [
            Observation.model_validate_json(json.dumps(_observation(number, label)))
            for number, exchange in enumerate(conversation.exchanges, 1)
            for message in exchange.messages
            for label in self._labels[message.text]
        ]
        return Understood(turns=tuple(notes), observations=tuple(observations))


def _observation(turn: int, label: Mapping[str, Any]) -> dict[str, Any]:
    names = ("op", "subject", "category", "key", "value", "quote", "says", "when", "until", "importance")
    return {"turn": turn, **{name: label[name] for name in names if name in label}}


def search_plans() -> dict[str, ExecutionPlan]:
    """The plans to compare: recall as a chat does it, BM25 only, and recall without each signal."""
    recall = next(
        step for step in json.loads(read_plan(CHAT_PLAN))["steps"] if step["type"] == "RecallMemories"
    )
    document = json.loads(read_plan("search_memories"))
    document["steps"][0]["metadata"] = recall["metadata"] | {"topK": max(DEPTHS), "minConfidence": 0.0}
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
    gieok: Gieok,
    conversations: Sequence[Conversation],
    plan: ExecutionPlan,
    turn_of: Callable[[Hit], str | None],
) -> Figures:
    """Search every question of every conversation, one after the other. `turn_of` is the turn of a hit."""
    rows: list[tuple[list[str], frozenset[str]]] = []
    started = perf_counter()
    for conversation in conversations:
        companion = gieok.user(conversation.owner).companion
        for question, evidence in conversation.questions:
            hits = await companion.search(PERSONA, question, kinds="all", plan=plan)
            found = dict.fromkeys(turn for turn in map(turn_of, hits) if turn is not None)
            rows.append((list(found), evidence))
    return mean_figures(rows, perf_counter() - started)


def turn_of_hit(hit: Hit) -> str | None:
    """The message that a hit is, or that a fact comes from."""
    if hit.kind == "message":
        return hit.message.id
    return hit.fact.source.message_id if hit.kind == "fact" and hit.fact.source else None


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


async def measure(
    name: str, conversations: Sequence[Conversation], settings: Settings, only: str | None
) -> None:
    """Print the table of one set, row by row."""
    _print_heading(name, conversations)
    if not only:
        print(table_row("keyword v1, whole words", keyword_v1(conversations)), flush=True)
    async with await Gieok.open(settings, model=LabelModel(conversations), background=False) as gieok:
        await load_all(gieok, conversations, load)
        plans = search_plans()
        for variant, plan in plans.items():
            if only in (None, variant):
                print(
                    table_row(variant, await search_all(gieok, conversations, plan, turn_of_hit)), flush=True
                )
        if only in (None, LABELLED) and any(each.labels for each in conversations):
            for conversation in conversations:
                await gieok.user(conversation.owner).jobs.catch_up(PERSONA)
            figures = await search_all(gieok, conversations, plans["ours"], turn_of_hit)
            print(table_row(LABELLED, figures))
    if only in (None, NEAR_WORDS):
        await _print_with_near_words(settings, conversations)
    await _print_with_vectors(settings, conversations, turn_of_hit, only)


async def _print_with_near_words(settings: Settings, conversations: Sequence[Conversation]) -> None:
    """The search with Korean words of similar meaning. Labels were remembered before, unless `--only`."""
    try:
        gieok = await Gieok.open(
            replace(settings, embedding=EmbedderSettings(near_words="kiwi")), background=False
        )
    except SettingsInvalid:
        print("near words: kiwipiepy_model is not installed")
        return
    async with gieok:
        figures = await search_all(gieok, conversations, search_plans()["ours"], turn_of_hit)
    print(table_row(NEAR_WORDS, figures))


async def measure_memories(
    name: str, conversations: Sequence[Conversation], settings: Settings, only: str | None
) -> None:
    """The same with every turn as a memory of its own, also with embedders."""
    _print_heading(name, conversations)
    turns: dict[str, str] = {}

    async def load_one(gieok: Gieok, conversation: Conversation) -> None:
        turns.update(await load_memories(gieok, conversation))

    async with await Gieok.open(settings, background=False) as gieok:
        await load_all(gieok, conversations, load_one)
        for variant, plan in search_plans().items():
            if only in (None, variant):
                figures = await search_all(gieok, conversations, plan, lambda hit: turns[hit.id])
                print(table_row(variant, figures), flush=True)
    await _print_with_vectors(settings, conversations, lambda hit: turns[hit.id], only)


async def _print_with_vectors(
    settings: Settings,
    conversations: Sequence[Conversation],
    turn_of: Callable[[Hit], str | None],
    only: str | None,
) -> None:
    for embedder in EMBEDDERS:
        if only in (None, f"ours with {embedder}"):
            figures = await _with_vectors(settings, embedder, conversations, turn_of)
            print(table_row(f"ours with {embedder}", figures) if figures else f"{embedder}: not installed")


def _print_heading(name: str, conversations: Sequence[Conversation]) -> None:
    total = sum(len(conversation.turns) for conversation in conversations)
    questions_total = sum(len(conversation.questions) for conversation in conversations)
    print(f"\n### {name}: {total:,} turns, {questions_total:,} questions\n")
    print(f"| {'':26} |   @5  |  @10  |  @20  |  MRR  |   ms   |\n|{'-' * 28}{'|-------' * 4}|--------|")


async def load_all(
    gieok: Gieok,
    conversations: Sequence[Conversation],
    load_one: Callable[[Gieok, Conversation], Awaitable[None]],
) -> None:
    slots = asyncio.Semaphore(_CONCURRENT_LOADS)

    async def load_in_slot(conversation: Conversation) -> None:
        async with slots:
            await load_one(gieok, conversation)

    await asyncio.gather(*map(load_in_slot, conversations))


async def _with_vectors(
    settings: Settings,
    embedder: str,
    conversations: Sequence[Conversation],
    turn_of: Callable[[Hit], str | None],
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
        return await search_all(gieok, conversations, search_plans()["ours"], turn_of)


async def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.recall", description=(__doc__ or "").split("\n")[0]
    )
    named = os.environ.get("GIEOK_RECALL_DATA", "")
    default = [Path(folder) for folder in named.split(":") if folder]
    parser.add_argument("folders", nargs="*", default=default, type=Path)
    parser.add_argument("--set", dest="name", help="one set, such as locomo_dev")
    parser.add_argument(
        "--only", help="one search variant, such as ours, 'ours without time' or 'ours with near words'"
    )
    parser.add_argument("--questions", type=int, help="maximum number of questions per conversation")
    parser.add_argument("--memories", action="store_true", help="load every turn as a memory of its own")
    parser.add_argument(
        "--among", type=int, default=0, help="add so many messages of other conversations to each persona"
    )
    options = parser.parse_args()
    read = [read_sets(folder, options.questions) for folder in options.folders]
    everything = [each for sets in read for conversations in sets.values() for each in conversations]
    sets = {
        name: [among_others(each, everything, options.among) for each in conversations]
        for found in read
        for name, conversations in found.items()
        if options.name in (None, name)
    }
    if not sets:
        sys.exit("no data: give folders with conversations in *.json, or set GIEOK_RECALL_DATA")
    run = measure_memories if options.memories else measure
    for name, conversations in sets.items():
        with TemporaryDirectory(prefix="gieok-recall-") as temporary:
            settings = settings_for(f"sqlite:///{temporary}/data/gieok.db", Path(temporary) / "root.key")
            await run(name, conversations, settings, options.only)


if __name__ == "__main__":
    asyncio.run(main())
