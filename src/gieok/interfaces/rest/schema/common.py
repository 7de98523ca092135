"""Base classes of the HTTP models, the field types that several of them share, and error answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from gieok import wire
from gieok.errors import InputRefused
from gieok.memory.conversation.records import Message
from gieok.memory.fields import MAX_MESSAGE_CHARS, Language, since_1970, storable
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage, Role, Speaker
from gieok.refs import MAX_REF_CHARS, check_ref


class RequestBody(BaseModel):
    """A request body, or part of one. Unknown fields are refused and nothing is converted: "5" is not 5."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, hide_input_in_errors=True
    )


class Answer(wire.WireModel):
    """Base of every successful answer."""

    success: Literal[True] = True


class Done(Answer):
    """Success without further data."""


def json_response(
    answer: Answer, language: Language, *, status_code: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer as JSON, with the names of emotions in this language.

    For routes that return memories: FastAPI cannot pass a serialisation context.
    """
    body = answer.model_dump_json(by_alias=True, context={"language": language})
    return Response(body, status_code, headers, "application/json")


def example(**fields: Any) -> ConfigDict:
    """The example that the API documentation shows for a model."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


# Field types. An error message names the field and never repeats its value.

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def parse_ref(value: str) -> str:
    """Check the id of a persona, a session or a message. ValueError if it is malformed."""
    try:
        return check_ref(value, "")
    except InputRefused as refused:
        raise ValueError(str(refused)) from None


def parse_uuid(value: object) -> UUID:
    """Parse a UUID in its usual form, and in no other. ValueError if it is malformed."""
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise ValueError("must be a UUID such as 0b6e6bf0-5a3f-4b0a-9a55-1d1f4c6f2b7e")
    return UUID(value)


def _parse_time(value: object) -> datetime:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError("must be a time with its offset, such as 2025-10-27T12:00:00Z")
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is not a valid date and time") from None


def _parse_day(value: object) -> date:
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("must be a day such as 2025-10-27")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("is not a valid date") from None


Day = Annotated[date, BeforeValidator(_parse_day), WithJsonSchema({"type": "string", "format": "date"})]
Ref = Annotated[
    str,
    AfterValidator(parse_ref),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_REF_CHARS}),
]
Uuid = Annotated[UUID, BeforeValidator(parse_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
MessageTime = Annotated[
    datetime,
    BeforeValidator(_parse_time),
    WithJsonSchema({"type": "string", "format": "date-time"}),
    AfterValidator(since_1970),
]


# Messages.

Content = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS), AfterValidator(storable)
]


class MessageIn(RequestBody):
    """One message. The service adds an `id` and the current time as `timestamp` where they are missing."""

    model_config = example(
        id="m1", role="user", content="내일 중요한 면접이 있어", timestamp="2025-10-27T12:00:00Z"
    )

    id: Ref | None = None
    role: Role
    content: Content
    timestamp: MessageTime | None = None
    speaker: Speaker | None = None


Messages = Annotated[list[MessageIn], Field(min_length=1, max_length=MAX_MESSAGES)]
Window = Annotated[list[MessageIn], Field(max_length=MAX_MESSAGES)]


def to_chat_messages(messages: Sequence[MessageIn], now: datetime) -> list[ChatMessage]:
    """Convert to messages that are saved."""
    return [
        ChatMessage(
            id=each.id or str(uuid4()),
            role=each.role,
            content=each.content,
            timestamp=each.timestamp or now,
            speaker=each.speaker,
        )
        for each in messages
    ]


def to_messages(messages: Sequence[MessageIn]) -> tuple[Message, ...]:
    """Convert to messages that are part of one prompt and are not saved."""
    return tuple(Message(role=each.role, content=each.content) for each in messages)


# Error answers.


class Failure(wire.Failure):
    """Every unsuccessful answer. `error` is a code for programs, `message` is for people."""

    model_config = example(success=False, error="NOT_FOUND", message="no such persona")


_CODES: dict[int, tuple[str, ...]] = {
    401: ("UNAUTHENTICATED",),
    403: ("FORBIDDEN",),
    404: ("NOT_FOUND",),
    409: ("CONFLICT", "PLAN_HASH_MISMATCH", "MEMORY_LIMIT_REACHED", "SESSION_ENDED"),
    413: ("PAYLOAD_TOO_LARGE",),
    422: ("VALIDATION_FAILED", "PLAN_INVALID"),
    429: ("RATE_LIMITED",),
    431: ("HEADERS_TOO_LARGE",),
    500: ("STEP_FAILED",),
    502: ("LLM_SUMMARY_FAILED", "MODEL_UNAVAILABLE"),
    503: ("STORE_UNAVAILABLE", "OUTCOME_UNKNOWN"),
}
_ANY_ROUTE = (401, 403, 413, 422, 429, 431, 500, 503)


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented errors of a route: those that every route can return, and these."""
    return {
        status: {"model": Failure, "description": " or ".join(f"`{code}`" for code in _CODES[status])}
        for status in sorted({*_ANY_ROUTE, *statuses})
    }
