"""A turn as a stream of server-sent events, in the format of an interface.

The status of a stream depends on its first event: a turn that fails before its first token is an ordinary
error response. A client that disconnects cancels the turn, which then stores nothing, or has committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Generic, Protocol, Self, TypeVar

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gieok.app.cycles import Listener
from gieok.engine import StepEvent
from gieok.interfaces.rest.gateway.errors import REQUEST_ID, Problem, log_unexpected, problem_of

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
TOKEN = "token"  # noqa: S105  part of a reply, not a secret

Tokens = asyncio.Queue[str | None]
"""The tokens of the reply as the model generates them; None at the end of the turn."""

# Some clients treat these as line ends, although the event stream format does not. JSON does not escape them.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


class StreamFormat(Protocol[T_contra]):
    """How an interface writes the parts of a stream."""

    def token(self, text: str) -> bytes:
        """A piece of the reply."""
        ...

    async def done(self, turn: T_contra) -> bytes:
        """The end of a stream whose turn has succeeded."""
        ...

    def failed(self, problem: Problem) -> bytes:
        """The end of a stream whose turn has failed."""
        ...


class TurnStream(StreamingResponse, Generic[T]):
    """The events of one turn. The turn is cancelled when the client disconnects."""

    def __init__(
        self, turn: asyncio.Task[T], first: str | None, rest: Tokens, stream_format: StreamFormat[T]
    ) -> None:
        super().__init__(self._events(first), media_type="text/event-stream")
        self._turn = turn
        self._rest = rest
        self._format = stream_format
        self._request_id = ""

    @classmethod
    async def start(
        cls, run: Callable[[Listener | None], Awaitable[T]], stream_format: StreamFormat[T]
    ) -> Self:
        """Start the turn and wait for its first token. Raises the error of a turn that fails before that."""
        tokens: Tokens = asyncio.Queue()

        def listen(event: StepEvent) -> None:
            if event.kind == TOKEN:
                tokens.put_nowait(event.data)

        async def run_turn() -> T:
            try:
                return await run(listen)
            finally:
                tokens.put_nowait(None)

        turn = asyncio.create_task(run_turn())
        try:
            first = await tokens.get()
            if first is None:
                await turn
        except BaseException:
            await _cancel(turn)
            raise
        return cls(turn, first, tokens, stream_format)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._request_id = scope[REQUEST_ID]
        try:
            await super().__call__(scope, receive, send)
        finally:
            await _cancel(self._turn)

    async def _events(self, first: str | None) -> AsyncIterator[bytes]:
        token = first
        while token is not None:
            yield self._format.token(token)
            token = await self._rest.get()
        await asyncio.wait([self._turn])
        error = self._turn.exception()
        if error is None:
            yield await self._format.done(self._turn.result())
            return
        problem = problem_of(error)
        if problem.status == 500:
            log_unexpected(error, self._request_id)
        yield self._format.failed(problem)


def data_line(data: str) -> bytes:
    """The data of an event, and the end of the event."""
    return f"data: {data.translate(_LINE_ENDS)}\n\n".encode()


async def _cancel(turn: asyncio.Task[Any]) -> None:
    """Cancel the turn and wait until it has ended. A turn that is committing is not interrupted."""
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
