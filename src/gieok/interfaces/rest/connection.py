"""One connection of a client: what is no request of HTTP is refused, and an answer leaves in one piece."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gieok.errors import InputRefused
from gieok.interfaces.rest.errors import problem_of, respond
from gieok.interfaces.rest.outgoing import ALWAYS

_MUCH = 16_384
_MANY = 8
_NO_REQUEST = "this is no request of HTTP/1.1, or its address is too long; the connection is closed"


class Connection(HttpToolsProtocol):
    """Uvicorn's own, but what is no HTTP is refused in the form of the contract too."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn has it
        self._pieces = InOnePiece(transport)
        super().connection_made(cast(asyncio.Transport, self._pieces))

    def eof_received(self) -> None:
        """A client may send no more and still wait for its answer: it leaves before the transport closes."""
        self._pieces.flush()
        super().eof_received()

    def send_400_response(self, msg: str) -> None:
        """Called for whatever cannot be parsed. `msg` is uvicorn's, and the log has it."""
        answer = respond(problem_of(InputRefused(_NO_REQUEST)))
        headers = [
            *self.server_state.default_headers,
            *answer.raw_headers,
            *ALWAYS,
            (b"connection", b"close"),
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[answer.status_code] + lines + b"\r\n" + bytes(answer.body))
        self.transport.close()


class InOnePiece:
    """A transport of which everything that is written in one turn of the loop leaves together, such as the
    head and the body of an answer: one call of the system, and the client is woken once. Much of it leaves
    right away, so that whoever writes is told when the client does not keep up."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._waiting: list[bytes] = []
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self.flush)
        self._waiting.append(data)
        if len(data) > _MUCH or len(self._waiting) > _MANY:
            self.flush()

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        if self._waiting:
            together = b"".join(self._waiting)
            self._waiting.clear()
            self._transport.write(together)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
