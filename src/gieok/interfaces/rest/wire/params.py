"""What stands in paths, queries and headers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, TypeVar, cast
from uuid import UUID

from fastapi import Depends, Header, Path, Query, Request
from pydantic import BeforeValidator

from gieok.app import Gieok
from gieok.errors import InputRefused, NotFound
from gieok.interfaces.rest.wire.fields import Ref, parse_ref, parse_uuid
from gieok.memory.companion.rules import MAX_PAGE

T = TypeVar("T")

_ETAG = re.compile(r'(?:W/)?"(\d{1,9})"', re.ASCII)


def _known(parse: Callable[[str], object], thing: str) -> BeforeValidator:
    """In a path, what cannot be the name of a thing names none: not found, like every unknown name."""

    def named(value: str) -> object:
        try:
            return parse(value)
        except ValueError:
            raise NotFound(f"no such {thing}") from None

    return BeforeValidator(named)


SessionPath = Annotated[str, _known(parse_ref, "session"), Path(alias="id")]
PersonaPath = Annotated[str, _known(parse_ref, "persona"), Path(alias="id")]
JobPath = Annotated[UUID, _known(parse_uuid, "job"), Path(alias="id")]
MemoryPath = Annotated[UUID, _known(parse_uuid, "memory"), Path(alias="id")]
EvidencePath = Annotated[UUID, _known(parse_uuid, "evidence"), Path(alias="id")]
RelationPath = Annotated[UUID, _known(parse_uuid, "relation"), Path(alias="id")]
DecisionPath = Annotated[UUID, _known(parse_uuid, "decision"), Path(alias="rootId")]
FactPath = Annotated[UUID, _known(parse_uuid, "fact"), Path(alias="rootId")]

PersonaQuery = Annotated[Ref, Query(alias="personaId")]
PersonaFilter = Annotated[Ref | None, Query(alias="personaId")]
SessionFilter = Annotated[Ref | None, Query(alias="sessionId")]
MAX_Q = 4_000
"""So many characters of Korean still fit the longest address that a server reads."""

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many at most.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="How many to pass over.")]
AfterVersion = Annotated[int, Query(ge=0, le=2**31 - 1, description="The last version that was seen.")]


async def goes_on(page: Sequence[T], limit: int, after: Callable[[T], Awaitable[Sequence[T]]]) -> bool:
    """Whether there is more behind a page. `after` gives what comes after its last item; a full page asks."""
    return len(page) == limit and bool(await after(page[-1]))


async def _now(request: Request) -> datetime:
    return cast(Gieok, request.app.state.gieok).engine.clock()


Now = Annotated[datetime, Depends(_now)]
"""The time by the clock of the service."""


async def _if_match(if_match: Annotated[str | None, Header()] = None) -> int | None:
    """The ETag that the client has seen, such as `"3"`."""
    if if_match is None or if_match.strip() == "*":
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise InputRefused('must be an ETag that an answer gave, such as "3"', at="If-Match")
    return int(found[1])


IfMatch = Annotated[int | None, Depends(_if_match)]
"""The version that the header If-Match asks for; None where any will do."""


def expected(in_header: int | None, in_body: int | None, name: str) -> int | None:
    """The version that the client has seen, said in the header or in the body under this name."""
    if None not in (in_header, in_body) and in_header != in_body:
        raise InputRefused("is another version than If-Match; give one of the two", at=name)
    return in_header if in_body is None else in_body


def etag(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'
