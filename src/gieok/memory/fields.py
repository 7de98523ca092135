"""The kinds of value that records of several rooms are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

from gieok.refs import check_ref


def storable(value: str) -> str:
    """Refuse what one of the databases could not keep as it is."""
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError("holds a NUL or half of a surrogate pair")
    return value


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


SessionRef = Annotated[str, AfterValidator(lambda value: check_ref(value, "sessionRef"))]
Timestamp = Annotated[AwareDatetime, AfterValidator(_utc)]
