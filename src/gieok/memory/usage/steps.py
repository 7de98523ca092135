"""A budget before the model is asked, and a count of its cost afterwards."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import RateLimited
from gieok.memory.usage.records import UNUSED, ModelUsage
from gieok.memory.usage.rules import day_of, seconds_left
from gieok.memory.usage.store import UsageView


class BudgetMetadata(Data):
    tokens_per_day: Annotated[int, Field(ge=1)] | None
    """Input and output tokens that an owner may use in a day; null for no limit."""


class CheckBudget(ReadStep[BudgetMetadata, NoData, None]):
    """Refuse the cycle where the owner's tokens of the day are used up, before any model is asked.

    The cost of a call is not known in advance: cycles that began within the budget are finished.
    RateLimited says how long it is until the next day.
    """

    type = "CheckBudget"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(self, view: UsageView, metadata: BudgetMetadata, inputs: NoData, context: StepContext) -> None:
        if (budget := metadata.tokens_per_day) is None:
            return
        used = view.usage.on(day_of(context.now))
        context.note("tokensToday", used.tokens)
        if used.tokens >= budget:
            raise RateLimited(
                f"{used.tokens} tokens were used today, and the plan allows {budget} a day (tokensPerDay); "
                "ask again after 00:00 UTC",
                seconds_left(context.now),
            )


class CountInputs(Data):
    """What each kind of call cost; a plan wires those that it makes."""

    reply: ModelUsage = UNUSED
    turn: ModelUsage = UNUSED
    facts: ModelUsage = UNUSED
    session: ModelUsage = UNUSED
    hints: ModelUsage = UNUSED


class Counted(Data):
    usage: ModelUsage


class CountUsage(WriteStep[NoData, CountInputs, Counted]):
    """Add the cost of the cycle to the owner's day.

    List it last in a plan: every cycle of an owner writes the same row, so its lock should be held briefly.
    """

    type = "CountUsage"

    def apply(self, view: UsageView, metadata: NoData, inputs: CountInputs, context: StepContext) -> Counted:
        usage = inputs.reply + inputs.turn + inputs.facts + inputs.session + inputs.hints
        if usage.calls:
            view.usage.add(day_of(context.now), usage)
        return Counted(usage=usage)


STEPS: tuple[type[AnyStep], ...] = (CheckBudget, CountUsage)
