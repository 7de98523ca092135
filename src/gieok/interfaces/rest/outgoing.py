"""What goes back to the client: its status, the headers that every answer has, and its end in time."""

from __future__ import annotations

import asyncio
import os
import re

from starlette.types import Message, Receive, Scope, Send

from gieok.interfaces.rest.body import Headers
from gieok.interfaces.rest.errors import Problem, respond

_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
ALWAYS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
"""Headers of every answer."""


def request_id(headers: Headers) -> str:
    """The client's own id of this request, if it is one that may stand in a log; else a new one."""
    given = headers.get(b"x-request-id", b"")
    return given.decode("ascii") if _SANE_ID.fullmatch(given) else os.urandom(16).hex()


def _has_length(message: Message) -> bool:
    """Whether an answer goes out at once. A stream does not know how long it will be."""
    return any(name == b"content-length" for name, _ in message["headers"])


class Outgoing:
    """The `send` of one request."""

    def __init__(self, send: Send, request_id: str, stream_seconds: float) -> None:
        self.request_id = request_id
        self.status = 0
        """0 until the answer has begun."""
        self.timer: asyncio.Timeout | None = None
        """What ends the request when it takes too long; None when it has."""
        self._send = send
        self._stream_seconds = stream_seconds

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *message.get("headers", ()),
                *ALWAYS,
                (b"x-request-id", self.request_id.encode("ascii")),
            ]
            if self.timer is not None and not _has_length(message):
                self.timer.reschedule(asyncio.get_running_loop().time() + self._stream_seconds)
        await self._send(message)

    async def fail(self, scope: Scope, receive: Receive, problem: Problem) -> None:
        """Answer with a problem. One that has begun cannot be taken back: the server cuts the connection."""
        self.timer = None
        if not self.status:
            await respond(problem)(scope, receive, self)
