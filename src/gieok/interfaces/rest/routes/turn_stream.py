"""A turn as server-sent events.

The status is decided by the first thing that happens: a turn that fails before its first token is an ordinary
error. A client that goes away cancels the turn, which then stores nothing, or has committed whole.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Self

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gieok.app import ChatTurn
from gieok.app.cycles import Listener
from gieok.engine import StepEvent
from gieok.interfaces.rest.errors import REQUEST_ID, log_unexpected, problem_of
from gieok.interfaces.rest.schema.chat import chat_answer
from gieok.memory.fields import Language

TOKEN = "token"  # noqa: S105  a piece of a reply, not a secret


def _described(name: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "event": {"const": name},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        },
        "required": ["event", "data"],
    }


_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_EVENT = {
    "oneOf": [
        _described(TOKEN, _TEXT),
        _described("done", {"$ref": "#/components/schemas/ChatAnswer"}),
        _described("error", {"$ref": "#/components/schemas/Failure"}),
    ]
}
EVENTS = {"text/event-stream": {"schema": _EVENT}}
"""What the documentation says of a stream: the form of each of its events."""

Pieces = asyncio.Queue[str | None]
"""What the model says, piece by piece; None where the turn is over."""

# Line ends to some readers, though not to the standard of this format, and left as they are by JSON.
_LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


class TurnStream(StreamingResponse):
    """The events of one turn, which does not outlive its client."""

    def __init__(
        self, turn: asyncio.Task[ChatTurn], first: str | None, rest: Pieces, language: Language
    ) -> None:
        super().__init__(self._events(first), media_type="text/event-stream")
        self._turn = turn
        self._rest = rest
        self._language: Language = language
        self._request_id = ""

    @classmethod
    async def begin(cls, run: Callable[[Listener | None], Awaitable[ChatTurn]], language: Language) -> Self:
        """Begin the turn and wait for its first token. What fails before that is raised."""
        pieces: Pieces = asyncio.Queue()

        def listen(event: StepEvent) -> None:
            if event.kind == TOKEN:
                pieces.put_nowait(event.data)

        async def whole() -> ChatTurn:
            try:
                return await run(listen)
            finally:
                pieces.put_nowait(None)

        turn = asyncio.create_task(whole())
        try:
            first = await pieces.get()
            if first is None:
                await turn
        except BaseException:
            await _stop(turn)
            raise
        return cls(turn, first, pieces, language)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._request_id = scope[REQUEST_ID]
        try:
            await super().__call__(scope, receive, send)
        finally:
            await _stop(self._turn)

    async def _events(self, first: str | None) -> AsyncIterator[bytes]:
        piece = first
        while piece is not None:
            yield _event(TOKEN, json.dumps({"text": piece}, ensure_ascii=False))
            piece = await self._rest.get()
        await asyncio.wait([self._turn])
        error = self._turn.exception()
        if error is None:
            answer = chat_answer(self._turn.result(), self._language)
            context = {"language": self._language}
            yield _event("done", answer.model_dump_json(by_alias=True, context=context))
            return
        problem = problem_of(error)
        if problem.status == 500:
            log_unexpected(error, self._request_id)
        yield _event("error", json.dumps(problem.body, ensure_ascii=False))


def _event(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data.translate(_LINE_ENDS)}\n\n".encode()


async def _stop(turn: asyncio.Task[Any]) -> None:
    """Cancel the turn and wait for its outcome. One that is committing ends by itself."""
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
