"""The HTTP/1.1 protocol of one connection: uvicorn's own, with our error format for malformed requests."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gieok.errors import InputRefused
from gieok.interfaces.rest.errors import problem_of, respond
from gieok.interfaces.rest.outgoing import ALWAYS

_NO_REQUEST = "this is not a valid HTTP/1.1 request, or its URL is too long; the connection is closed"


class Connection(HttpToolsProtocol):
    """Answers malformed HTTP with the error format of the API."""

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for input that it cannot parse. Uvicorn has logged `msg`."""
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
