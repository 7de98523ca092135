"""Asking once: a request that the client has named is answered the same each time it is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from gieok.adapters.sql.scope import OwnerScope
from gieok.app.cycles import Cycles
from gieok.engine import Registry
from gieok.errors import Conflict
from gieok.memory.requests.records import RequestKey
from gieok.memory.requests.steps import RememberRequest

T = TypeVar("T")


def register_request_steps(registry: Registry[OwnerScope]) -> None:
    """Offer the step that remembers a request to plans."""
    registry.register(RememberRequest, lambda _: RememberRequest())


async def ask_once(
    cycles: Cycles,
    once: RequestKey | None,
    operation: str,
    ask: Callable[[RequestKey | None], Awaitable[T]],
    again: Callable[[str], Awaitable[T]],
) -> T:
    """What `ask` makes, or `again` finds by its id where the same request was answered before.

    `ask` hands the request that it is given to a plan with the step RememberRequest. Of two at once, one
    makes the thing and both answer it. Conflict where the key named another request or operation before.
    """
    if once is None:
        return await ask(None)
    request = RequestKey(key=once.key, body=f"{operation}\n".encode() + once.body)
    if (known := await _answer(cycles, request)) is not None:
        return await again(known)
    try:
        return await ask(request)
    except Conflict:
        if (known := await _answer(cycles, request)) is None:
            raise
        return await again(known)


async def _answer(cycles: Cycles, request: RequestKey) -> str | None:
    now = cycles.now
    return await cycles.scope.read(lambda rooms: rooms.requests.answer(request, now), brief=True)
