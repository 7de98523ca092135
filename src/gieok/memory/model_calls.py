"""Limits for model calls, and the metering of what they cost.

A room's model protocol (`summarize_turn` and so on) does not mention tokens. A model whose calls cost money
implements `Metered`: a step gets a view of it that keeps the plan's limits and counts tokens. A free model,
such as the offline one, is called as it is.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar, cast, runtime_checkable

from pydantic import Field

from gieok.engine import Data, StepContext
from gieok.memory.usage import ModelUsage

T = TypeVar("T")
Seconds = Annotated[float, Field(ge=0, le=3600)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]
Attempts = Annotated[int, Field(ge=1, le=16)]
AttemptSeconds = Annotated[float, Field(gt=0, le=3600)]
Backoff = Annotated[tuple[Seconds, ...], Field(min_length=1, max_length=16)]


class ModelLimits(Data):
    """Plan metadata of a step that calls a model."""

    max_output_tokens: Tokens
    """Limit of one answer, including the reasoning tokens of a model that has them."""
    attempts: Attempts
    """Attempts in total when the provider cannot be reached or is overloaded."""
    attempt_seconds: AttemptSeconds
    """Timeout of one attempt."""
    backoff_seconds: Backoff
    """Waiting times between attempts; the last one repeats."""

    def single_attempt(self) -> ModelLimits:
        """The same limits without retries, for a caller that retries by itself."""
        return self.model_copy(update={"attempts": 1})

    def backoff(self, attempt: int, retry_after: float | None = None) -> float:
        """Seconds to wait after this many failed attempts.

        The provider's Retry-After counts where it is longer, unless it is longer than an attempt may take.
        """
        seconds = self.backoff_seconds[min(attempt, len(self.backoff_seconds)) - 1]
        return max(seconds, retry_after) if retry_after and self.can_wait(retry_after) else seconds

    def can_wait(self, retry_after: float | None) -> bool:
        """Whether the provider's Retry-After is short enough to wait for."""
        return retry_after is None or retry_after <= self.attempt_seconds


@dataclass
class Meter:
    """The limits of a step's model calls, and the tokens used so far, including those of unusable answers."""

    limits: ModelLimits
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def count(self, calls: int, input_tokens: int, output_tokens: int) -> None:
        """Add what the provider reported."""
        self.calls += calls
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens

    @property
    def usage(self) -> ModelUsage:
        """The totals so far."""
        return ModelUsage(calls=self.calls, input_tokens=self.input_tokens, output_tokens=self.output_tokens)


@runtime_checkable
class Metered(Protocol):
    """A model whose calls cost money."""

    def metered(self, meter: Meter) -> object:
        """A view of the model that keeps the meter's limits and reports its usage to it."""
        ...


@contextmanager
def metered_model(model: T, limits: ModelLimits, context: StepContext) -> Generator[tuple[T, Meter]]:
    """The model with these limits, and its meter. The totals go into the step's notes at the end."""
    meter = Meter(limits)
    try:
        yield cast(T, model.metered(meter)) if isinstance(model, Metered) else model, meter
    finally:
        if meter.calls:
            context.note("modelCalls", meter.calls)
            context.note("inputTokens", meter.input_tokens)
            context.note("outputTokens", meter.output_tokens)
