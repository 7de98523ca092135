"""No tool and no resource shows data of one owner to another, not even that it exists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from mcp import MCPError

from gieok.interfaces.mcp.tools import TOOLS
from tests.mcp.clients import over_http
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import SECRET, create_one_of_each

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("recall", {"query": SECRET, "personaId": "{persona}"}),
    ("remember", {"text": "x", "personaId": "{persona}"}),
    ("forget", {"id": "{memory}"}),
    ("forget", {"id": "{fact}", "kind": "fact", "personaId": "{persona}"}),
    ("state", {"personaId": "{persona}"}),
    ("decisions_context", {"domain": "wms", "query": SECRET}),
    ("decisions_context", {"domain": "wms", "focus": ["{decision}"]}),
    ("impact", {"rootId": "{decision}"}),
    ("propose_decision", {"statement": "x", "strength": "lock", "domain": "wms", "rootId": "{decision}"}),
    ("save_decision", {"statement": "x", "strength": "lock", "domain": "wms", "rootId": "{decision}"}),
    ("save_decision", {"statement": "x", "strength": "lock", "evidenceIds": ["{evidence}"]}),
]
"""Each tool, with ids of another owner's things."""
RESOURCES = ["gieok://personas/{persona}", "gieok://personas/{persona}/state"]


@pytest.fixture(scope="module")
def world(shared: Server) -> Iterator[tuple[Api, dict[str, str]]]:
    """An owner with secret data, and the ids of their things."""
    with shared.client(f"owner-{uuid4()}") as client:
        api = Api(client)
        yield api, create_one_of_each(api)


def test_every_tool_is_in_the_table() -> None:
    assert {tool for tool, _ in CALLS} == {tool.name for tool in TOOLS}


@pytest.mark.req("INT-2", "OPS-4")
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_another_owners_data_is_invisible_to_a_tool(
    shared: Server, world: tuple[Api, dict[str, str]], tool: str, arguments: dict[str, Any]
) -> None:
    """Another owner's thing is answered exactly like one that does not exist, and is not changed."""
    owner, ids = world
    before = _stored(owner)
    unknown = {kind: str(uuid4()) for kind in ids}
    async with over_http(shared, shared.token(f"other-{uuid4()}"), "2026-07-28") as client:
        answer = await client.call_tool(tool, _fill(arguments, ids))
        other = await client.call_tool(tool, _fill(arguments, unknown))
    text = answer.model_dump_json()
    assert SECRET not in text
    assert [id_ for kind, id_ in ids.items() if id_ in text and f"{{{kind}}}" not in str(arguments)] == []
    assert answer.is_error == other.is_error
    if answer.is_error:
        assert "NOT_FOUND: " in text
        for kind, id_ in ids.items():
            text = text.replace(id_, unknown[kind])
        assert text == other.model_dump_json()
    assert _stored(owner) == before


@pytest.mark.req("INT-2", "OPS-4")
@pytest.mark.parametrize("uri", RESOURCES)
async def test_another_owners_resource_does_not_exist(
    shared: Server, world: tuple[Api, dict[str, str]], uri: str
) -> None:
    async with over_http(shared, shared.token(f"other-{uuid4()}"), "2026-07-28") as client:
        assert (await client.list_resources()).resources == []
        for persona in (world[1]["persona"], str(uuid4())):
            with pytest.raises(MCPError, match=r"^no such persona$"):
                await client.read_resource(uri.format(persona=persona))


def _fill(arguments: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    text = json.dumps(arguments)
    for kind, id_ in ids.items():
        text = text.replace(f"{{{kind}}}", id_)
    return json.loads(text)


def _stored(owner: Api) -> list[str]:
    records = owner.http.get("/api/v1/me/export").text.splitlines()[1:-1]
    return [record for record in records if not record.startswith('{"kind":"audit')]
