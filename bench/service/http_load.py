"""A load generator: keep-alive connections that each send the next request after the previous answer.

Written by hand, because a client library takes longer for a request than the service.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

CONNECTIONS = 8
MCP_REVISION = "2026-07-28"


class _Connection(asyncio.Protocol):
    """Sends the next request after each answer, and records the latency."""

    def __init__(self, requests: Iterator[bytes], latencies: list[float]) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._latencies = latencies
        self._sent = 0.0
        self._response = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._response += data
        head, found, body = self._response.partition(b"\r\n\r\n")
        if not found or len(body) < content_length(head):
            return
        self._latencies.append(perf_counter() - self._sent)
        if not head.startswith(b"HTTP/1.1 2"):
            self._fail(RuntimeError(self._response.decode()))
            return
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self._fail(exc or ConnectionError("the service closed the connection"))

    def _next(self) -> None:
        self._response = b""
        request = next(self._requests, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._sent = perf_counter()
        self._transport.write(request)

    def _fail(self, error: Exception) -> None:
        self.done.set_exception(error)
        self._transport.close()


async def load(
    url: str, requests: Sequence[bytes], *, connections: int = CONNECTIONS
) -> tuple[float, list[float]]:
    """Send all requests, one at a time per connection. Returns the total time and the latencies."""
    address, remaining, latencies = urlsplit(url), iter(requests), list[float]()
    assert address.hostname
    assert address.port
    loop, started = asyncio.get_running_loop(), perf_counter()
    opened = [
        await loop.create_connection(
            lambda: _Connection(remaining, latencies), address.hostname, address.port
        )
        for _ in range(connections)
    ]
    await asyncio.gather(*(connection.done for _, connection in opened))
    return perf_counter() - started, latencies


def request(method: str, path: str, token: str = "", body: Any = None, **headers: str) -> bytes:
    """One request as bytes."""
    content = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: gieok", f"Content-Length: {len(content)}"]
    head += [f"Authorization: Bearer {token}"] if token else []
    head += ["Content-Type: application/json"] if content else []
    head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode() + content


def mcp_call(token: str, tool: str, arguments: Mapping[str, Any]) -> bytes:
    """A call of a tool in the stateless revision of MCP."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MCP_REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: dict[str, Any] = {"name": tool, "arguments": dict(arguments), "_meta": meta}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = "application/json, text/event-stream"
    headers = {"MCP_Protocol_Version": MCP_REVISION, "Mcp_Method": "tools/call", "Mcp_Name": tool}
    return request("POST", "/mcp", token, body, Accept=accept, **headers)


def content_length(head: bytes) -> int:
    """The number in the header of this name."""
    lines = head.lower().split(b"\r\n")
    return next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
