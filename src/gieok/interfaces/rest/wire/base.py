"""The two bases of the wire: what a client asks, strictly checked, and what it is answered."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from gieok.wire import Told


class Asked(BaseModel):
    """A body, or a part of one. Unknown fields are refused, and nothing is converted: "5" is not 5."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, hide_input_in_errors=True
    )


class Answer(Told):
    """Every answer of a call that succeeded."""

    success: Literal[True] = True


class Done(Answer):
    """It succeeded, and there is nothing more to say."""


def example(**fields: Any) -> ConfigDict:
    """What a reader of the documentation sees."""
    return ConfigDict(json_schema_extra={"examples": [fields]})
