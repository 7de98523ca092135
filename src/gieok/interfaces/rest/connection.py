"""One connection of a client, before anything that it sends is a request."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gieok.errors import InputRefused
from gieok.interfaces.rest.errors import problem_of, respond
from gieok.interfaces.rest.outgoing import ALWAYS

_NO_REQUEST = "this is no request of HTTP/1.1, or its address is too long; the connection is closed"


class Connection(HttpToolsProtocol):
    """Uvicorn's own, but what is no HTTP is refused in the form of the contract too."""

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
