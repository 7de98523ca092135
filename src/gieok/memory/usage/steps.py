"""A budget before the model is asked, and what it cost afterwards: one more write of the cycle."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import RateLimited
from gieok.memory.reader import Reader
from gieok.memory.usage.records import UNUSED, ModelUsage
from gieok.memory.usage.rules import day_of, seconds_left
from gieok.memory.usage.store import UsageRooms


class BudgetMetadata(Data):
    tokens_per_day: Annotated[int, Field(ge=1)] | None
    """Input and output tokens that an owner may use in a day; null for no limit."""


class CheckBudget(Step[BudgetMetadata, NoData, NoData]):
    """Refuses the cycle where the owner has used up the day, before any model is asked.

    What a call will cost is not known before it: cycles that began within the budget are finished.
    RateLimited says how long it is until the next day.
    """

    type = "CheckBudget"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[UsageRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: BudgetMetadata, inputs: NoData, context: StepContext) -> NoData:
        if (budget := metadata.tokens_per_day) is None:
            return NoData()
        used = await self._rooms.read(lambda rooms: rooms.usage.on(day_of(context.now)), brief=True)
        context.note("tokensToday", used.tokens)
        if used.tokens >= budget:
            raise RateLimited(
                f"{used.tokens} tokens were used today, and the plan allows {budget} a day (tokensPerDay); "
                "ask again after 00:00 UTC",
                seconds_left(context.now),
            )
        return NoData()


class CountInputs(Data):
    """What each kind of call cost; a plan wires those that it makes."""

    reply: ModelUsage = UNUSED
    turn: ModelUsage = UNUSED
    facts: ModelUsage = UNUSED
    session: ModelUsage = UNUSED
    hints: ModelUsage = UNUSED


class Counted(Data):
    usage: ModelUsage


class CountUsage(Step[NoData, CountInputs, Counted]):
    """Adds what the cycle cost to the owner's day.

    List it last in a plan: every cycle of an owner writes the same row, which should be held no longer than
    the commit itself takes, and with nothing else waited for.
    """

    type = "CountUsage"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: CountInputs, context: StepContext) -> Counted:
        usage = inputs.reply + inputs.turn + inputs.facts + inputs.session + inputs.hints

        def add(rooms: UsageRooms) -> None:
            rooms.usage.add(day_of(context.now), usage)

        if usage.calls:
            context.stage_write(add)
        return Counted(usage=usage)
