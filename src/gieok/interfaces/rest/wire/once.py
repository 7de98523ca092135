"""A request that a client names, so that sending it twice has the effect of sending it once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header

from gieok.interfaces.rest.wire.base import Asked
from gieok.memory.requests.records import RequestKey

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The client's own name for this request. The same name and body answer the same thing.",
    ),
]


def once(key: str | None, body: Asked) -> RequestKey | None:
    """The request as it is remembered; None where the client named none."""
    return None if key is None else RequestKey(key=key, body=body.model_dump_json(by_alias=True).encode())
