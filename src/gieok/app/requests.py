"""Idempotent requests: a repeated idempotency key returns the stored result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from gieok.app.cycles import Cycles
from gieok.errors import Conflict
from gieok.memory.requests.records import RequestKey

T = TypeVar("T")


async def run_idempotent(
    cycles: Cycles,
    key: RequestKey | None,
    operation: str,
    create: Callable[[RequestKey | None], Awaitable[T]],
    replay: Callable[[str], Awaitable[T]],
) -> T:
    """Run `create` at most once per idempotency key.

    A repeated key returns `replay` of the stored result. Of two calls at once, one creates and both return
    its result. Conflict where the key was used for another request or operation. `create` passes the key on
    to a plan with the step RememberRequest.
    """
    if key is None:
        return await create(None)
    request = RequestKey(key=key.key, body=f"{operation}\n".encode() + key.body)
    if (stored := await _stored(cycles, request)) is not None:
        return await replay(stored)
    try:
        return await create(request)
    except Conflict:
        if (stored := await _stored(cycles, request)) is None:
            raise
        return await replay(stored)


async def _stored(cycles: Cycles, request: RequestKey) -> str | None:
    now = cycles.now
    return await cycles.scope.read(lambda view: view.requests.answer(request, now))
