"""What is written to a client in one turn of the loop leaves in one piece."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from gieok.interfaces.rest.connection import InOnePiece


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


async def test_what_was_written_leaves_before_the_end() -> None:
    wire, transport = pieces()
    transport.write(b"last words")
    transport.close()
    assert wire.seen == [b"last words", "closed"]
    assert transport.is_closing()
    await asyncio.sleep(0)
    assert wire.seen == [b"last words", "closed"]
