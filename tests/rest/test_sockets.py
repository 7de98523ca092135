"""Connections of clients that close their side early, or send several requests at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from gieok import Settings
from tests.rest.conftest import GENEROUS, Server, serving


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS) as running:
        yield running


def requests(server: Server, path: str, *, times: int = 1) -> bytes:
    """The same request `times` times, as bytes."""
    head = f"GET {path} HTTP/1.1\r\nHost: gieok\r\nAuthorization: Bearer {server.token()}\r\n\r\n"
    return head.encode() * times


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/memory/load?personaId=mina"])
def test_a_client_that_has_closed_its_sending_side_still_gets_its_answer(server: Server, path: str) -> None:
    """As `nc -N` does: it sends FIN, then waits for the answer."""
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.sendall(requests(server, path))
            client.shutdown(socket.SHUT_WR)
            assert client.makefile("rb").read().startswith(b"HTTP/1.1 200")


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    path = "/api/v1/memory/load?personaId=mina"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(requests(server, path, times=5) + requests(server, "/nowhere"))
        received = b""
        while b"HTTP/1.1 404" not in received:
            received += client.recv(65_536)
    assert received.count(b"HTTP/1.1 200") == 5
