"""Parameters in paths, queries and headers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, TypeVar, cast
from uuid import UUID

from fastapi import Depends, Header, Path, Query, Request
from pydantic import BaseModel, BeforeValidator

from gieok.app import Gieok
from gieok.errors import InputRefused, NotFound
from gieok.interfaces.rest.schema.common import Ref, parse_ref, parse_uuid
from gieok.memory.companion.rules import MAX_PAGE
from gieok.memory.requests import RequestKey

T = TypeVar("T")

_ETAG = re.compile(r'(?:W/)?"(\d{1,9})"', re.ASCII)


def _parsed_or_not_found(parse: Callable[[str], object], thing: str) -> BeforeValidator:
    """A malformed id in a path is answered like an unknown one: not found."""

    def parsed(value: str) -> object:
        try:
            return parse(value)
        except ValueError:
            raise NotFound(f"no such {thing}") from None

    return BeforeValidator(parsed)


SessionPath = Annotated[str, _parsed_or_not_found(parse_ref, "session"), Path(alias="id")]
TurnPath = Annotated[str, _parsed_or_not_found(parse_ref, "turn"), Path(alias="turnId")]
PersonaPath = Annotated[str, _parsed_or_not_found(parse_ref, "persona"), Path(alias="id")]
JobPath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "job"), Path(alias="id")]
MemoryPath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "memory"), Path(alias="id")]
EvidencePath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "evidence"), Path(alias="id")]
RelationPath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "relation"), Path(alias="id")]
WebhookPath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "webhook"), Path(alias="id")]
DecisionPath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "decision"), Path(alias="rootId")]
FactPath = Annotated[UUID, _parsed_or_not_found(parse_uuid, "fact"), Path(alias="rootId")]

JobCursor = Annotated[UUID, BeforeValidator(parse_uuid), Query(description="The last job already read.")]
PersonaQuery = Annotated[Ref, Query(alias="personaId")]
PersonaFilter = Annotated[Ref | None, Query(alias="personaId")]
SessionFilter = Annotated[Ref | None, Query(alias="sessionId")]
TurnFilter = Annotated[Ref | None, Query(alias="turnId")]
JobFilter = Annotated[Annotated[UUID, BeforeValidator(parse_uuid)] | None, Query(alias="jobId")]
MAX_Q = 4_000
"""Longest search text in characters. In Korean, this still fits the longest URL that servers accept."""

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="The largest number of items to return.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="The number of items to skip.")]
AfterVersion = Annotated[int, Query(ge=0, le=2**31 - 1, description="The last version already read.")]


async def has_more(page: Sequence[T], limit: int, after: Callable[[T], Awaitable[Sequence[T]]]) -> bool:
    """Whether items follow this page. `after` reads past an item; it is called for a full page only."""
    return len(page) == limit and bool(await after(page[-1]))


async def _now(request: Request) -> datetime:
    return cast(Gieok, request.app.state.gieok).engine.clock()


Now = Annotated[datetime, Depends(_now)]
"""The time by the clock of the service."""


async def _if_match(if_match: Annotated[str | None, Header()] = None) -> int | None:
    """The ETag of the version that the client has read, such as `"3"`."""
    if if_match is None or if_match.strip() == "*":
        return None
    match = _ETAG.fullmatch(if_match.strip())
    if match is None:
        raise InputRefused('must be an ETag from an earlier answer, such as "3"', at="If-Match")
    return int(match[1])


IfMatch = Annotated[int | None, Depends(_if_match)]
"""The version in the header If-Match; None if any version is accepted."""


def expected_version(in_header: int | None, in_body: int | None, field: str) -> int | None:
    """The version that the client expects, from the header or from this field of the body.

    InputRefused if the two differ.
    """
    if None not in (in_header, in_body) and in_header != in_body:
        raise InputRefused("is another version than If-Match; send only one of the two", at=field)
    return in_header if in_body is None else in_body


def etag(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The client's own id of this request. A repeated key with the same body gets the same "
        "answer, and nothing is done twice.",
    ),
]


def request_key(key: str | None, body: BaseModel | None, *path: str) -> RequestKey | None:
    """The idempotency key with the body that it stands for, and the ids in its path; None without a key."""
    if key is None:
        return None
    parts = (*path, "" if body is None else body.model_dump_json(by_alias=True))
    return RequestKey(key=key, body="\n".join(parts).encode())
