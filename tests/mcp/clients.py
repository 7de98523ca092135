"""The official Python client (package `mcp`), connected to the service or to `gieok mcp`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from tests.cli.conftest import program
from tests.rest.conftest import Server
from tests.service.process import Place

MODES = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
"""The client's mode for each revision of the protocol."""


@asynccontextmanager
async def over_http(server: Server, token: str, revision: str, **headers: str) -> AsyncGenerator[Client]:
    """A client of `/mcp` with this token."""
    sent = {"Authorization": f"Bearer {token}", **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=30, verify=False) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=MODES[revision]) as client,
    ):
        yield client


def over_stdio(place: Place, revision: str, *options: str) -> Client:
    """A client that starts `gieok mcp` in this place."""
    started = StdioServerParameters(
        command=program(), args=["mcp", "--lang", "en", *options], env=place.environ, cwd=place.folder
    )
    return Client(started, mode=MODES[revision])


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a call that must succeed. The client checks it against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    structured: dict[str, Any] = result.structured_content
    return structured


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a call that must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
