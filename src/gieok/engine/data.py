"""The base class of metadata, inputs, outputs and records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Data(BaseModel):
    """Frozen and strict, without unknown fields. camelCase in plans and on the wire, snake_case in Python."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )
