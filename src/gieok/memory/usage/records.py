"""How much of a language model was used. Numbers only, no content."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from gieok.engine import Data

Count = Annotated[int, Field(ge=0)]


class ModelUsage(Data):
    """What the calls of a step, a cycle or a day came to, as the provider counted them."""

    calls: Count
    input_tokens: Count
    output_tokens: Count

    @property
    def tokens(self) -> int:
        """What counts against a budget."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: ModelUsage) -> ModelUsage:
        return ModelUsage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


UNUSED = ModelUsage(calls=0, input_tokens=0, output_tokens=0)


class UsageDay(ModelUsage):
    """One day of an owner, in UTC."""

    day: date
