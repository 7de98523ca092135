"""Playing a story on the real thing, and keeping what happened as evidence. Nothing here is made up."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from gieok.adapters.models.offline import OfflineModel
from gieok.app import TURN_PLAN, Gieok, Model, TurnResult
from gieok.engine import ExecutionPlan, StepEvent, make_plan
from gieok.errors import ModelUnavailable, PlanHashMismatch, StepFailed
from gieok.interfaces.cli.demo.disk import Scan, StoredRow, count_rows, newest_row, scan
from gieok.interfaces.cli.demo.story import Story
from gieok.memory.conversation.records import Message, Persona
from gieok.memory.turns.records import Turn, TurnSummary
from gieok.plans import load_plan
from gieok.settings import Settings
from gieok.text import terms


@dataclass(frozen=True)
class Exchange:
    """One turn that was stored."""

    message: str
    result: TurnResult

    @property
    def messages(self) -> tuple[Message, Message]:
        """What was said, as the next turn hears it."""
        said = Message(role="user", content=self.message)
        return said, Message(role="assistant", content=self.result.reply or "")


@dataclass(frozen=True)
class Hit:
    """A recalled memory and the words that it shares with the question: as asked, and as compared."""

    summary: str
    at: datetime
    shared: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LostTurn:
    """A turn that failed after its reply, and the rows before and after it."""

    message: str
    reply: str
    error: StepFailed
    before: Mapping[str, int]
    after: Mapping[str, int]


@dataclass(frozen=True)
class ChangedPlan:
    """The same plan with another topK, and how the session answered to it."""

    top_k: int
    changed_top_k: int
    refusal: PlanHashMismatch


@dataclass(frozen=True)
class Performance:
    """A story and everything that came of it."""

    story: Story
    first_day: tuple[Exchange, ...]
    row: StoredRow
    scan: Scan
    second_day: Exchange
    hits: tuple[Hit, ...]
    lost: LostTurn
    plan: ExecutionPlan
    changed: ChangedPlan


class Unsummarised(OfflineModel):
    """A model that answers and then cannot summarise, as when a connection breaks half-way."""

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        raise ModelUnavailable("the summariser did not answer (this demo cut it off)")


async def perform(story: Story, folder: Path) -> Performance:
    """Play the story in `folder`. The program is closed between the days, as it would be."""
    scene = _Scene(story, folder)
    first_day, row = await scene.play_first_day()
    found = scan(folder, (*story.secrets, story.session_ref))
    second_day = await scene.play_second_day()
    plan = load_plan(TURN_PLAN)
    return Performance(
        story=story,
        first_day=first_day,
        row=row,
        scan=found,
        second_day=second_day,
        hits=tuple(_hits(second_day)),
        lost=await scene.lose_a_turn(after=second_day),
        plan=plan,
        changed=await scene.change_the_plan(plan),
    )


class _Scene:
    """The story's owner, session and persona on a database of their own."""

    def __init__(self, story: Story, folder: Path) -> None:
        self._story = story
        self._database = folder / "data" / "gieok.db"
        self._settings = Settings(
            database_url=f"sqlite:///{self._database}",
            keystore_url=f"sqlite:///{self._database}.keys",
            root_key_file=None,
            own_key_file=folder / "key" / "root.key",
            model="offline",
        )
        self._persona = Persona(
            name=story.character, language=story.language, system_prompt=story.character_prompt
        )

    async def play_first_day(self) -> tuple[tuple[Exchange, ...], StoredRow]:
        recent: list[Message] = []
        exchanges: list[Exchange] = []
        async with await self._open(self._story.first_day) as gieok:
            for message in self._story.first_lines:
                result = await self._turn(gieok, message, recent=recent)
                exchanges.append(Exchange(message, result))
                recent += exchanges[-1].messages
            return tuple(exchanges), newest_row(self._database)

    async def play_second_day(self) -> Exchange:
        async with await self._open(self._story.second_day) as gieok:
            message = self._story.second_line
            return Exchange(message, await self._turn(gieok, message))

    async def lose_a_turn(self, after: Exchange) -> LostTurn:
        heard: list[str] = []
        later = self._story.second_day + timedelta(minutes=1)
        async with await self._open(later, model=Unsummarised()) as gieok:
            before = count_rows(self._database)
            message = self._story.lost_line
            try:
                await self._turn(
                    gieok, message, recent=after.messages, listen=lambda event: heard.append(event.data)
                )
            except StepFailed as error:
                return LostTurn(message, "".join(heard), error, before, count_rows(self._database))
        raise AssertionError("a turn without a summary was stored")

    async def change_the_plan(self, plan: ExecutionPlan) -> ChangedPlan:
        document = copy.deepcopy(plan.document)
        retrieve = next(step for step in document["steps"] if step["type"] == "RetrieveMemory")
        top_k = retrieve["metadata"]["topK"]
        retrieve["metadata"]["topK"] = top_k + 1
        later = self._story.second_day + timedelta(minutes=2)
        async with await self._open(later) as gieok:
            try:
                await self._turn(gieok, self._story.lost_line, plan=make_plan(document))
            except PlanHashMismatch as refusal:
                return ChangedPlan(top_k, top_k + 1, refusal)
        raise AssertionError("a session was resumed with another plan")

    async def _open(self, start: datetime, model: Model | None = None) -> Gieok:
        minutes = count()
        return await Gieok.open(
            self._settings, model=model, clock=lambda: start + timedelta(minutes=next(minutes))
        )

    async def _turn(
        self,
        gieok: Gieok,
        message: str,
        *,
        recent: Sequence[Message] = (),
        plan: str | ExecutionPlan = TURN_PLAN,
        listen: Callable[[StepEvent], None] | None = None,
    ) -> TurnResult:
        user = gieok.user(self._story.owner)
        return await user.turn(
            self._story.session_ref,
            message,
            persona=self._persona,
            recent_messages=recent,
            plan=plan,
            listen=listen,
        )


def _hits(exchange: Exchange) -> Iterator[Hit]:
    for memory in exchange.result.recalled:
        yield Hit(memory.summary, memory.timestamp, tuple(_shared(exchange.message, memory.summary)))


def _shared(question: str, summary: str) -> Iterator[tuple[str, str]]:
    """Each word of the question with the term that it has in common with the summary."""
    common = set(terms(question)) & set(terms(summary))
    for word in question.split():
        for term in terms(word):
            if term in common:
                yield word.strip("!?.,"), term
                break
