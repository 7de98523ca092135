"""A fake service on a local socket, for answers and failures that the real service does not produce."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from gieok.client import GieokClient, Retries

FAST_RETRIES = Retries(first_wait=0.001)
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def fake_service(*answers: Answer) -> AsyncGenerator[tuple[GieokClient, list[int]]]:
    """A client, and the list of connections that it made.

    Each connection gets the next of `answers`; further ones get the last.
    """
    connections: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(len(connections))
        await reader.readuntil(b"\r\n\r\n")
        await answers[min(len(connections), len(answers)) - 1](reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server, GieokClient(f"http://{host}:{port}", "token", retries=FAST_RETRIES) as client:
        yield client, connections


def respond(status: int, body: str, *headers: str) -> Answer:
    """Send this response."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = [
            f"HTTP/1.1 {status} x",
            f"Content-Length: {len(body.encode())}",
            "Connection: close",
            *headers,
        ]
        writer.write("\r\n".join([*lines, "", body]).encode())
        await writer.drain()

    return answer


async def disconnect(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the connection without a response."""
