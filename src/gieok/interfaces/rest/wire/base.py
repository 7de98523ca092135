"""The two bases of the wire: what a client asks, strictly checked, and what it is answered."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Asked(BaseModel):
    """A body, or a part of one. Unknown fields are refused, and nothing is converted: "5" is not 5."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, hide_input_in_errors=True
    )


class View(BaseModel):
    """A thing as a client sees it. Times are UTC with `Z`."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class Answer(View):
    """Every answer of a call that succeeded."""

    success: Literal[True] = True


class Done(Answer):
    """It succeeded, and there is nothing more to say."""


def example(**fields: Any) -> ConfigDict:
    """What a reader of the documentation sees."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


def is_none(value: object) -> bool:
    """For a field that is left out of an answer rather than null."""
    return value is None


Left = Field(default=None, exclude_if=is_none)
"""A field that is left out of the answer where there is nothing to say."""
