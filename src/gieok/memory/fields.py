"""The kinds of value that records of several rooms are made of."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from gieok.refs import check_ref

MAX_MESSAGE_CHARS = 20_000
"""The longest message, and the longest reply."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: str) -> str:
    """Refuse what one of the databases could not keep as it is."""
    if _UNSTORABLE.search(value):
        raise ValueError("holds a NUL or half of a surrogate pair")
    return value


_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def since_1970(value: datetime) -> datetime:
    """Refuse a time that no database here keeps."""
    if value < _FIRST:
        raise ValueError("must not be before 1970")
    return value


def _utc(value: datetime) -> datetime:
    return since_1970(value).astimezone(UTC)


Language = Literal["ko", "en"]
PersonaId = Annotated[str, AfterValidator(lambda value: check_ref(value, "personaId"))]
AccountPlan = Literal["free", "premium"]
"""What the user pays for; it decides how many memories stay active."""
Importance = Annotated[int, Field(ge=1, le=10)]
SessionRef = Annotated[str, AfterValidator(lambda value: check_ref(value, "sessionRef"))]
AS_SESSION_ID = Field(validation_alias="sessionId", serialization_alias="sessionId")
"""For a `session_ref` in a record that the HTTP API returns: there it is called `sessionId`."""
Timestamp = Annotated[AwareDatetime, AfterValidator(_utc)]
