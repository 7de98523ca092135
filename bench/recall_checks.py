"""What recall@k does not show: whether confidence can be trusted, and whether newer statements win.

python -m bench.recall_checks FOLDER...

Data as in bench.recall. For each set: the AUC of the best confidence of a question, answerable ones against
the questions of another conversation, and against those about what was never said in this one, where the set
has such; and what the chat plan's `minConfidence` costs and keeps out of the prompt.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.recall import PERSONA, Conversation, load, load_all, read_sets, search_plans, turn_of_hit
from gieok import Gieok, Hit
from gieok.engine import ExecutionPlan
from gieok.plans import read_plan
from gieok.testing.settings import settings_for

CONTRADICTIONS = Path(__file__).with_name("contradictions.json")
APART = timedelta(days=21)
_BEST = 3
"""The confidence of a question is the best one of its first hits."""
_PROMPT = 8
"""How many hits a chat recalls."""
_OTHER_TALK = ("오늘 날씨가 별로야.", "I read a book about whales.", "이번 주는 너무 바빴어.", "We had soup.")


def auc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """The share of pairs in which the positive one has more; equal ones count half."""
    pairs = [(one > other) + 0.5 * (one == other) for one in positives for other in negatives]
    return fmean(pairs)


class Asked(NamedTuple):
    """The hits of a question, and the turns that answer it."""

    hits: Sequence[Hit]
    evidence: frozenset[str]

    @property
    def confidence(self) -> float:
        return max((hit.confidence for hit in self.hits[:_BEST]), default=0.0)

    def recall(self, threshold: float) -> float:
        """The share of the answers that a chat with this threshold recalls."""
        kept = {turn_of_hit(hit) for hit in self.hits[:_PROMPT] if hit.confidence >= threshold}
        return len(self.evidence & kept) / len(self.evidence)


async def measure_confidence(gieok: Gieok, name: str, conversations: Sequence[Conversation]) -> str:
    """The table row of one set."""
    plan = search_plans()["ours"]
    answerable: list[Asked] = []
    foreign: list[Asked] = []
    never: list[Asked] = []
    for number, each in enumerate(conversations):
        other = conversations[(number + 1) % len(conversations)]
        for question, evidence in each.questions:
            answerable.append(Asked(await _search(gieok, each, question, plan), evidence))
        for question, _ in other.questions if other is not each else ():
            foreign.append(Asked(await _search(gieok, each, question, plan), frozenset()))
        for question in each.never:
            never.append(Asked(await _search(gieok, each, question, plan), frozenset()))
    confident = [each.confidence for each in answerable]
    threshold = _chat_threshold()
    junk = [sum(hit.confidence >= threshold for hit in each.hits[:_PROMPT]) for each in foreign]
    return " | ".join(
        (
            f"| {name:12}",
            _auc_of(confident, foreign),
            _auc_of(confident, never),
            f"{100 * fmean(each.recall(0.0) for each in answerable):.1f}",
            f"{100 * fmean(each.recall(threshold) for each in answerable):.1f}",
            f"{fmean(len(each.hits[:_PROMPT]) for each in foreign):.1f}",
            f"{fmean(junk):.1f} |",
        )
    )


def _auc_of(confident: Sequence[float], others: Sequence[Asked]) -> str:
    return f"{auc(confident, [each.confidence for each in others]):.2f}" if others else ""


async def _search(gieok: Gieok, each: Conversation, question: str, plan: ExecutionPlan) -> Sequence[Hit]:
    return await gieok.user(each.owner).companion.search(PERSONA, question, kinds="all", plan=plan)


def _chat_threshold() -> float:
    steps = json.loads(read_plan("chat_turn"))["steps"]
    return next(step["metadata"]["minConfidence"] for step in steps if step["type"] == "RecallMemories")


def contradictions(language: str) -> tuple[Conversation, dict[str, tuple[str, str]]]:
    """Two sessions: statements, and three weeks later others that contradict them. Also the ids of the older
    and the newer one by question."""
    pairs = json.loads(CONTRADICTIONS.read_text("utf-8"))[language]
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    turns: list[dict[str, str]] = []
    for session, which in enumerate(("before", "now")):
        for number, pair in enumerate(pairs):
            texts = (pair[which], "그렇구나, I see.", _OTHER_TALK[number % len(_OTHER_TALK)], "그렇구나.")
            for place, text in enumerate(texts):
                at = start + session * APART + timedelta(minutes=4 * number + place)
                speaker = "assistant" if place % 2 else "user"
                turns.append(
                    {
                        "id": f"{which}-{number}-{place}",
                        "session": which,
                        "time": at.isoformat(),
                        "speaker": speaker,
                        "text": text,
                    }
                )
    ids = {pair["question"]: (f"before-{n}-0", f"now-{n}-0") for n, pair in enumerate(pairs)}
    return Conversation(f"contradictions-{language}", turns, ()), ids


async def measure_newer(gieok: Gieok, language: str) -> str:
    """How many of the newer statements come before the older ones."""
    conversation, ids = contradictions(language)
    await load(gieok, conversation)
    first = 0
    for question, (older, newer) in ids.items():
        hits = await _search(gieok, conversation, question, search_plans()["ours"])
        found = [turn_of_hit(hit) for hit in hits]
        first += newer in found and (older not in found or found.index(newer) < found.index(older))
    return f"newer of two contradicting statements first, {language}: {first} of {len(ids)}"


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall_checks")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--questions", type=int, default=40, help="maximum number of questions per conversation"
    )
    options = parser.parse_args()
    with TemporaryDirectory(prefix="gieok-recall-") as temporary:
        settings = settings_for(f"sqlite:///{temporary}/data/gieok.db", Path(temporary) / "root.key")
        async with await Gieok.open(settings, background=False) as gieok:
            for language in ("ko", "en"):
                print(await measure_newer(gieok, language), flush=True)
            print(
                "\n| | AUC, other talk | AUC, never said | recall@8 | with minConfidence | junk | with it |"
            )
            print("|---|---|---|---|---|---|---|")
            for folder in options.folders:
                for name, conversations in read_sets(folder, options.questions).items():
                    await load_all(gieok, conversations, load)
                    print(await measure_confidence(gieok, name, conversations), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
