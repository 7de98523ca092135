"""What is written to a client in one turn of the loop leaves in one piece."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any, cast

import pytest

from gieok import Settings
from gieok.interfaces.rest.connection import InOnePiece
from tests.rest.conftest import GENEROUS, Server, serving


class Wire:
    """A transport that notes what happens to it."""

    def __init__(self) -> None:
        self.seen: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.seen.append(data)

    def close(self) -> None:
        self.seen.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.seen


def pieces() -> tuple[Wire, Any]:
    wire = Wire()
    return wire, InOnePiece(cast(asyncio.Transport, wire))


async def test_the_head_and_the_body_of_an_answer_leave_together() -> None:
    wire, transport = pieces()
    transport.write(b"head ")
    transport.write(b"body")
    assert wire.seen == []
    await asyncio.sleep(0)
    assert wire.seen == [b"head body"]
    transport.write(b"token")
    await asyncio.sleep(0)
    assert wire.seen == [b"head body", b"token"]


async def test_much_leaves_right_away_so_that_a_slow_client_is_noticed() -> None:
    wire, transport = pieces()
    large = b"x" * 100_000
    transport.write(b"head ")
    transport.write(large)
    assert wire.seen == [b"head " + large]
    for _ in range(20):
        transport.write(b"y")
    assert b"".join(cast("list[bytes]", wire.seen[1:])).count(b"y") > 10
    await asyncio.sleep(0)
    assert b"".join(cast("list[bytes]", wire.seen[1:])) == b"y" * 20


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS) as running:
        yield running


def asked(server: Server, path: str, *, times: int = 1) -> bytes:
    """Requests as they go over the wire."""
    head = f"GET {path} HTTP/1.1\r\nHost: gieok\r\nAuthorization: Bearer {server.token()}\r\n\r\n"
    return head.encode() * times


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/memory/load?personaId=mina"])
def test_a_client_that_sends_no_more_still_gets_its_answer(server: Server, path: str) -> None:
    """As `nc -N` does: its end of the connection is closed while it waits."""
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.sendall(asked(server, path))
            client.shutdown(socket.SHUT_WR)
            assert client.makefile("rb").read().startswith(b"HTTP/1.1 200")


def test_requests_that_come_at_once_are_answered_one_after_the_other(server: Server) -> None:
    path = "/api/v1/memory/load?personaId=mina"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(asked(server, path, times=5) + asked(server, "/nowhere"))
        received = b""
        while b"HTTP/1.1 404" not in received:
            received += client.recv(65_536)
    assert received.count(b"HTTP/1.1 200") == 5


async def test_what_was_written_leaves_before_the_end() -> None:
    wire, transport = pieces()
    transport.write(b"last words")
    transport.close()
    assert wire.seen == [b"last words", "closed"]
    assert transport.is_closing()
    await asyncio.sleep(0)
    assert wire.seen == [b"last words", "closed"]
