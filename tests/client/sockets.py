"""Services that break: sockets that answer, or do not, as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from gieok.client import GieokClient, Retries

AT_ONCE = Retries(first_wait=0.001)
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def answering(*answers: Answer) -> AsyncGenerator[tuple[GieokClient, list[int]]]:
    """A client of a service that does this with its first connection, that with its second, and so on."""
    came: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(len(came))
        await reader.readuntil(b"\r\n\r\n")
        await answers[min(len(came), len(answers)) - 1](reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server, GieokClient(f"http://{host}:{port}", "token", retries=AT_ONCE) as client:
        yield client, came


def saying(status: int, body: str, *headers: str) -> Answer:
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


async def hanging_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
