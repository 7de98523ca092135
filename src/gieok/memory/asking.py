"""On which terms a step asks a language model, and what the answers cost.

A room asks in its own words (`summarize_turn`), which say nothing of tokens. A model that costs something
offers a view of itself on the terms of a plan; a model that costs nothing is asked as it is.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar, cast, runtime_checkable

from pydantic import Field

from gieok.engine import Data, StepContext
from gieok.memory.usage.records import ModelUsage

T = TypeVar("T")
Seconds = Annotated[float, Field(ge=0, le=3600)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]
Attempts = Annotated[int, Field(ge=1, le=16)]
AttemptSeconds = Annotated[float, Field(gt=0, le=3600)]
Backoff = Annotated[tuple[Seconds, ...], Field(min_length=1, max_length=16)]


class ModelTerms(Data):
    """What a plan says about the calls of a model that a step makes."""

    max_output_tokens: Tokens
    """What one answer may cost. A model that thinks first spends its thoughts from it too."""
    attempts: Attempts
    """How often it is tried in all when it cannot be reached or is overloaded."""
    attempt_seconds: AttemptSeconds
    """After so long without a whole answer an attempt has failed."""
    backoff_seconds: Backoff
    """Waited between attempts; the last one counts for all that follow."""

    def once(self) -> ModelTerms:
        """The same terms for one attempt, where whoever asks tries again itself."""
        return self.model_copy(update={"attempts": 1})

    def wait(self, attempt: int, retry_after: float | None = None) -> float:
        """How long to wait after this many attempts have failed; longer where the provider asks for it,
        unless that is longer than an attempt may take.
        """
        backoff = self.backoff_seconds[min(attempt, len(self.backoff_seconds)) - 1]
        return max(backoff, retry_after) if self.can_wait(retry_after) and retry_after else backoff

    def can_wait(self, retry_after: float | None) -> bool:
        """Whether so long a wait is worth it."""
        return retry_after is None or retry_after <= self.attempt_seconds


@dataclass
class Meter:
    """The terms, and what was spent so far. Answers that could not be used are spent too."""

    terms: ModelTerms
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def count(self, calls: int, input_tokens: int, output_tokens: int) -> None:
        """Add what the provider counted."""
        self.calls += calls
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens

    @property
    def usage(self) -> ModelUsage:
        """What was spent so far, for whoever adds it up."""
        return ModelUsage(calls=self.calls, input_tokens=self.input_tokens, output_tokens=self.output_tokens)


@runtime_checkable
class Metered(Protocol):
    """A model whose calls cost something."""

    def metered(self, meter: Meter) -> object:
        """The same model, held to the terms of this meter and counted by it."""
        ...


@contextmanager
def asking(model: T, terms: ModelTerms, context: StepContext) -> Generator[tuple[T, Meter]]:
    """The model on these terms, and the meter that counts what it costs, which is noted at the end."""
    meter = Meter(terms)
    try:
        yield cast(T, model.metered(meter)) if isinstance(model, Metered) else model, meter
    finally:
        if meter.calls:
            context.note("modelCalls", meter.calls)
            context.note("inputTokens", meter.input_tokens)
            context.note("outputTokens", meter.output_tokens)
