"""The configuration files of the how-to pages: each entry is started or called as a client would do it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.cli.conftest import program
from tests.docs.blocks import blocks_of
from tests.rest.conftest import Server
from tests.service.process import Place

PAGES = ("howto/mcp.md", "howto/mcp.ko.md")
ENTRIES: dict[str, dict[str, Any]] = {
    f"{block.location} {name}": entry
    for block in blocks_of(PAGES[0])
    if block.language == "json"
    for name, entry in json.loads(block.text)["mcpServers"].items()
}


@pytest.mark.req("INT-2")
@pytest.mark.parametrize("name", ENTRIES)
async def test_an_entry_gives_the_client_the_tools(name: str, shared: Server, tmp_path: Path) -> None:
    """With the program, the address, the token and the database of this test in place of the reader's."""
    entry = ENTRIES[name]
    if "command" in entry:
        assert Path(entry["command"]).name == "gieok"
        place = Place(tmp_path, f"sqlite:///{tmp_path / 'gieok.db'}")
        assert set(entry.get("env", {})) <= {"GIEOK_DATABASE_URL"}
        started = StdioServerParameters(command=program(), args=entry["args"], env=place.environ)
        async with Client(started) as client:
            assert len((await client.list_tools()).tools) == 8
    else:
        url = entry["url"].replace("http://127.0.0.1:8377", shared.url)
        value = re.sub(r"\$\{(env:)?GIEOK_TOKEN\}", shared.token("kim"), entry["headers"]["Authorization"])
        async with (
            httpx2.AsyncClient(headers={"Authorization": value}, verify=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            assert len((await client.list_tools()).tools) == 8


def test_both_pages_show_the_same_configuration() -> None:
    english, korean = (
        [block.text for block in blocks_of(page) if block.language in ("json", "sh")] for page in PAGES
    )
    assert english == korean
    assert len(ENTRIES) == 4
