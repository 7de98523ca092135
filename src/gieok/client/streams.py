"""A stream of bytes as lines, and lines as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import NamedTuple


class Event(NamedTuple):
    """One event of a stream: its name, and its data, which is JSON."""

    name: str
    data: bytes


async def lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Each line with its end. Only a line feed ends one: JSON may hold what others take for line ends."""
    rest: list[bytes] = []
    async for piece in pieces:
        *whole, last = piece.split(b"\n")
        for line in whole:
            yield b"".join((*rest, line, b"\n"))
            rest.clear()
        if last:
            rest.append(last)
    if rest:
        yield b"".join(rest)


async def events(pieces: AsyncIterable[bytes]) -> AsyncIterator[Event]:
    """The events of a stream. One that was cut off is not among them."""
    name, data = "", b""
    async for line in lines(pieces):
        field, _, value = line.removesuffix(b"\n").removesuffix(b"\r").partition(b":")
        if line.strip() == b"" and data:
            yield Event(name, data)
            name, data = "", b""
        elif field == b"event":
            name = value.strip().decode()
        elif field == b"data":
            data += value.removeprefix(b" ")
