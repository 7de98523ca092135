"""Model usage of an owner per day, and the daily token budget that a plan sets. Numbers only, no content."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Protocol

from pydantic import Field

from gieok.engine import AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import RateLimited

Count = Annotated[int, Field(ge=0)]


class ModelUsage(Data):
    """Calls and tokens of a step, a cycle or a day, as the provider counted them."""

    calls: Count
    input_tokens: Count
    output_tokens: Count

    @property
    def tokens(self) -> int:
        """Tokens that count against a budget."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: ModelUsage) -> ModelUsage:
        return ModelUsage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


UNUSED = ModelUsage(calls=0, input_tokens=0, output_tokens=0)


class UsageDay(ModelUsage):
    """The usage of one day in UTC."""

    day: date


class UsageStore(Protocol):
    """Usage of one owner by day, inside one transaction."""

    def add(self, day: date, usage: ModelUsage) -> None:
        """Add to the totals of the day. Concurrent additions all count."""
        ...

    def on(self, day: date) -> ModelUsage:
        """The totals of this day so far."""
        ...

    def list(self, since: date) -> Sequence[UsageDay]:
        """The days with usage from `since` on, newest first."""
        ...


class UsageView(Protocol):
    """A transaction's view with usage."""

    @property
    def usage(self) -> UsageStore: ...


def day_of(now: datetime) -> date:
    """The UTC day that a cycle counts for. It does not depend on the user's time zone."""
    return now.astimezone(UTC).date()


def seconds_left(now: datetime) -> float:
    """Seconds until the next UTC day."""
    tomorrow = datetime.combine(day_of(now) + timedelta(days=1), time.min, UTC)
    return (tomorrow - now).total_seconds()


class BudgetServices(Protocol):
    """What CheckBudget needs."""

    @property
    def tokens_per_day(self) -> int | None:
        """The limit for every owner, whatever a plan allows. None: no limit."""
        ...


class BudgetMetadata(Data):
    tokens_per_day: Annotated[int, Field(ge=1)] | None
    """Input and output tokens that an owner may use in a day; null for no limit."""


class CheckBudget(ReadStep[BudgetMetadata, NoData, None]):
    """Refuse the cycle if the owner's tokens of the day are used up, before any model call. The lower one of
    `tokensPerDay` and GIEOK_TOKENS_PER_DAY counts.

    The cost of a call is not known in advance: cycles that started within the budget are finished.
    RateLimited has the number of seconds until the next day.
    """

    type = "CheckBudget"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, services: BudgetServices) -> None:
        self._limit = services.tokens_per_day

    def read(self, view: UsageView, metadata: BudgetMetadata, inputs: NoData, context: StepContext) -> None:
        limits = [limit for limit in (metadata.tokens_per_day, self._limit) if limit is not None]
        if not limits:
            return
        budget = min(limits)
        used = view.usage.on(day_of(context.now))
        context.note("tokensToday", used.tokens)
        if used.tokens >= budget:
            raise RateLimited(
                f"{used.tokens} tokens were used today, and {budget} a day are allowed; "
                "try again after 00:00 UTC",
                seconds_left(context.now),
            )


class CountInputs(Data):
    """The usage of each kind of call; a plan connects those that it makes."""

    reply: ModelUsage = UNUSED
    turn: ModelUsage = UNUSED
    facts: ModelUsage = UNUSED
    session: ModelUsage = UNUSED
    hints: ModelUsage = UNUSED


class Counted(Data):
    usage: ModelUsage


class CountUsage(WriteStep[NoData, CountInputs, Counted]):
    """Add the usage of the cycle to the owner's day.

    List it last in a plan: every cycle of an owner writes the same row, so its lock should be held briefly.
    """

    type = "CountUsage"

    def apply(self, view: UsageView, metadata: NoData, inputs: CountInputs, context: StepContext) -> Counted:
        usage = inputs.reply + inputs.turn + inputs.facts + inputs.session + inputs.hints
        if usage.calls:
            view.usage.add(day_of(context.now), usage)
        return Counted(usage=usage)


STEPS: tuple[type[AnyStep], ...] = (CheckBudget, CountUsage)
