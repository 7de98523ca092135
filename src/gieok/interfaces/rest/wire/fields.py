"""Kinds of value in bodies. A refusal names the place and never repeats the value."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from gieok.errors import InputRefused
from gieok.memory.companion.records import Emotion
from gieok.memory.fields import since_1970
from gieok.refs import LONGEST, check_ref

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def parse_ref(value: str) -> str:
    """The name of a persona, a session or a message. ValueError for what cannot be one."""
    try:
        return check_ref(value, "")
    except InputRefused as refused:
        raise ValueError(str(refused)) from None


def parse_uuid(value: object) -> UUID:
    """A UUID in its usual form and in no other. ValueError."""
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise ValueError("must be a UUID such as 0b6e6bf0-5a3f-4b0a-9a55-1d1f4c6f2b7e")
    return UUID(value)


def _time(value: object) -> datetime:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError("must be a time with its offset, such as 2025-10-27T12:00:00Z")
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is a time that no calendar has") from None


def _emotion(value: object) -> Emotion:
    return Emotion.parse(value if isinstance(value, str) else "")


_EMOTIONS = [name for emotion in Emotion for name in (emotion.korean, emotion.value)]

Ref = Annotated[
    str, AfterValidator(parse_ref), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST})
]
Uuid = Annotated[UUID, BeforeValidator(parse_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
Time = Annotated[datetime, BeforeValidator(_time), WithJsonSchema({"type": "string", "format": "date-time"})]
MessageTime = Annotated[Time, AfterValidator(since_1970)]
EmotionName = Annotated[
    Emotion, BeforeValidator(_emotion), WithJsonSchema({"type": "string", "enum": _EMOTIONS})
]
"""Either of the two names of an emotion."""
