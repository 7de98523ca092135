"""Field types that records of several rooms share."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from gieok.refs import check_ref

MAX_MESSAGE_CHARS = 20_000
"""The maximum length of a message or a reply."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: str) -> str:
    """Refuse text that one of the databases cannot store unchanged."""
    if _UNSTORABLE.search(value):
        raise ValueError("contains a NUL or half of a surrogate pair")
    return value


_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def since_1970(value: datetime) -> datetime:
    """Refuse a time before 1970, which the databases do not store."""
    if value < _FIRST:
        raise ValueError("must not be before 1970")
    return value


def _utc(value: datetime) -> datetime:
    return since_1970(value).astimezone(UTC)


Language = Literal["ko", "en"]
PersonaId = Annotated[str, AfterValidator(lambda value: check_ref(value, "personaId"))]
AccountPlan = Literal["free", "premium"]
DEFAULT_ACCOUNT_PLAN: AccountPlan = "premium"
"""Without limits. GIEOK_ACCOUNT_PLAN changes it for a whole installation."""
"""The user's subscription; it limits the number of active memories."""
Importance = Annotated[int, Field(ge=1, le=10)]
SessionRef = Annotated[str, AfterValidator(lambda value: check_ref(value, "sessionRef"))]
AS_SESSION_ID = Field(validation_alias="sessionId", serialization_alias="sessionId")
"""For a `session_ref` in a record that the HTTP API returns: there it is called `sessionId`."""
Timestamp = Annotated[AwareDatetime, AfterValidator(_utc)]
