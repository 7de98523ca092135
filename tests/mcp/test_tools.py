"""The tools and resources, called by the official Python client over HTTP and stdio, in both revisions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client, MCPError
from mcp_types import TextContent, TextResourceContents

from gieok.interfaces.mcp.tools import TOOLS
from gieok.memory.canon.records import PersonaDraft
from tests.mcp.clients import MODES, call, failure, over_http, over_stdio
from tests.rest.conftest import Server
from tests.service.process import Place

Story = Callable[[Client, str], Awaitable[None]]
READ = {"recall", "state", "decisions_context", "impact", "propose_decision"}
WRITE = {"remember", "forget", "save_decision"}
MOVED = "지수는 3월에 부산으로 이사했다."
UNKNOWN = ("gieok://personas/nobody", "gieok://personas/nobody/state", "gieok://tokens", "file:///etc/passwd")
RULE = {"statement": "재고는 이동 기록에서만 계산한다", "strength": "axis", "domain": "wms"}


async def a_client_speaks_its_revision_and_finds_every_tool(client: Client, revision: str) -> None:
    assert client.protocol_version == revision
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == READ | WRITE
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (name in READ)
        assert tool.output_schema is not None
        described = tool.input_schema["properties"].values()
        assert tool.description
        assert all(each.get("description") for each in described)


async def what_is_remembered_is_recalled_and_can_be_forgotten(client: Client, _revision: str) -> None:
    """In Korean and English, with the words that matched. The client checks each result's schema."""
    moved = await call(
        client, "remember", text="지수는 3월에 부산으로 이사했다.", topics=["이사"], importance=8
    )
    await call(client, "remember", text="Jisu is allergic to peanuts.", emotion="stress")

    found = await call(client, "recall", query="부산으로 이사한 게 언제야?")
    best = found["hits"][0]
    assert (best["id"], best["kind"]) == (moved["memory"]["id"], "memory")
    assert "부산" in best["matchedWords"]
    assert 0 < best["confidence"] <= 1
    english = await call(client, "recall", query="What is Jisu allergic to?", limit=1, kinds=["memory"])
    assert english["hits"][0]["text"] == "Jisu is allergic to peanuts."

    assert await call(client, "forget", id=best["id"]) == {"kind": "memory", "id": best["id"]}
    again = await call(client, "recall", query="부산으로 이사한 게 언제야?")
    assert best["id"] not in {hit["id"] for hit in again["hits"]}
    assert (await failure(client, "forget", id=best["id"])).startswith("NOT_FOUND: ")


async def a_decision_is_proposed_saved_loaded_and_followed(client: Client, _revision: str) -> None:
    proposed = await call(client, "propose_decision", **RULE)
    assert proposed["replaces"] is None
    assert (await call(client, "decisions_context", domain="wms"))["layers"][3]["items"] == []

    root = (await call(client, "save_decision", **RULE, idempotencyKey="k1"))["rootId"]
    assert (await call(client, "save_decision", **RULE, idempotencyKey="k1"))["rootId"] == root
    needs = {"statement": "입고는 바코드로만 한다", "strength": "normal", "domain": "wms"}
    relation = [{"type": "DEPENDS_ON", "target": root}]
    scan = (await call(client, "save_decision", **needs, relations=relation))["rootId"]

    layers = (await call(client, "decisions_context", domain="WMS"))["layers"]
    assert [layer["name"] for layer in layers][3:6] == ["domain+axis", "domain+lock", "domain+normal"]
    assert [item["rootId"] for item in layers[3]["items"]] == [root]
    assert [node["rootId"] for node in (await call(client, "impact", rootId=root))["nodes"]] == [scan]

    changed = {**RULE, "rootId": root, "expectedVersion": 1, "statement": "재고는 매일 계산한다"}
    assert (await call(client, "save_decision", **changed))["version"] == 2
    assert (await failure(client, "save_decision", **changed)).startswith("CONFLICT: ")


async def the_persona_and_its_state_are_resources(client: Client, _revision: str) -> None:
    resources = (await client.list_resources()).resources
    card, state = [await _read(client, resource.uri) for resource in resources]
    persona = card["id"]
    assert resources[0].title == card["name"]
    assert state == {"facts": [], "block": "", "chars": 0, "ordinary": []}
    assert (await call(client, "state")) == {"personaId": persona, **state}
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        "gieok://personas/{personaId}",
        "gieok://personas/{personaId}/state",
    ]


async def an_error_says_what_to_do(client: Client, revision: str) -> None:
    """A wrong call is a result that the model reads; a call that no model makes is a JSON-RPC error."""
    assert await failure(client, "recall") == "VALIDATION_FAILED: query: is required"
    refused = await failure(client, "recall", query="면접", owner="eve")
    assert refused.startswith("VALIDATION_FAILED: owner: is not a field of this request")
    assert (await failure(client, "impact", rootId="x")).startswith(
        "VALIDATION_FAILED: rootId: must be a UUID"
    )
    unknown = await failure(client, "state", personaId="nobody")
    assert unknown == "NOT_FOUND: no such persona"
    with pytest.raises(MCPError, match="Unknown tool: erase_everything"):
        await client.call_tool("erase_everything", {})
    codes = {"2025-11-25": -32002, "2026-07-28": -32602}
    for uri in (
        "gieok://personas/nobody",
        "gieok://personas/nobody/state",
        "gieok://tokens",
        "file:///etc/passwd",
    ):
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert raised.value.error.code == codes[revision]
        assert raised.value.error.data == {"error": "NOT_FOUND", "uri": uri}


async def the_text_of_a_result_is_its_json(client: Client, _revision: str) -> None:
    """For clients that read no structured results."""
    result = await client.call_tool("remember", {"text": "지수는 고양이를 키운다."})
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert json.loads(content.text) == result.structured_content
    assert "지수는 고양이를 키운다." in content.text


STORIES = (
    a_client_speaks_its_revision_and_finds_every_tool,
    what_is_remembered_is_recalled_and_can_be_forgotten,
    a_decision_is_proposed_saved_loaded_and_followed,
    the_persona_and_its_state_are_resources,
    an_error_says_what_to_do,
    the_text_of_a_result_is_its_json,
)


@pytest.mark.req("INT-2")
@pytest.mark.parametrize("revision", sorted(MODES))
@pytest.mark.parametrize("story", STORIES)
async def test_over_http(shared: Server, story: Story, revision: str) -> None:
    """Each story has an owner of its own, with one persona."""
    owner = f"owner-{uuid4()}"
    shared.run(shared.gieok.user(owner).personas.create(PersonaDraft(name="하나")))
    async with over_http(shared, shared.token(owner), revision) as client:
        await story(client, revision)


@pytest.mark.req("INT-2")
@pytest.mark.parametrize("revision", sorted(MODES))
async def test_over_stdio(tmp_path: Path, revision: str) -> None:
    """All stories in one process, which makes the persona by itself."""
    place = Place(tmp_path, f"sqlite:///{tmp_path / 'gieok.db'}")
    async with over_stdio(place, revision) as client:
        for story in STORIES:
            await story(client, revision)


async def test_a_fact_can_be_retired(shared: Server) -> None:
    owner = f"owner-{uuid4()}"
    user = shared.gieok.user(owner)
    persona = shared.run(user.personas.create(PersonaDraft(name="하나"))).id
    fact = shared.run(user.canon.set_fact(persona, "PREFERENCE", "음식", "매운 떡볶이")).fact
    async with over_http(shared, shared.token(owner), "2026-07-28") as client:
        (hit,) = (await call(client, "recall", query="떡볶이", kinds=["fact"]))["hits"]
        assert fact is not None
        assert hit["id"] == str(fact.root_id)
        await call(client, "forget", id=hit["id"], kind="fact")
        assert (await call(client, "recall", query="떡볶이", kinds=["fact"]))["hits"] == []


@pytest.mark.req("INT-2")
@pytest.mark.parametrize(("scope", "offered"), [("read", READ), ("write", WRITE)])
async def test_a_token_gets_the_tools_of_its_scope(shared: Server, scope: Any, offered: set[str]) -> None:
    owner = f"owner-{uuid4()}"
    token = shared.token(owner, scopes=frozenset({scope}))
    arguments = {"recall": {"query": "x", "personaId": "p"}, "remember": {"text": "x", "personaId": "p"}}
    async with over_http(shared, token, "2026-07-28") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == offered
        for tool in TOOLS:
            if tool.name not in offered:
                assert (await failure(client, tool.name)).startswith("FORBIDDEN: this token lacks the scope")
        if scope == "write":
            with pytest.raises(MCPError, match="lacks the scope 'read'"):
                await client.list_resources()
        for name in offered & set(arguments):
            await call(client, name, **arguments[name])


async def test_read_only_stdio_offers_nothing_that_changes(tmp_path: Path) -> None:
    place = Place(tmp_path, f"sqlite:///{tmp_path / 'gieok.db'}")
    async with over_stdio(place, "2026-07-28", "--read-only") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READ


async def test_several_personas_must_be_named(shared: Server) -> None:
    owner = f"owner-{uuid4()}"
    names = {"하나", "두리"}
    made = [shared.run(shared.gieok.user(owner).personas.create(PersonaDraft(name=name))) for name in names]
    token = shared.token(owner)
    async with over_http(shared, token, "2026-07-28") as client:
        refused = await failure(client, "recall", query="면접")
        assert refused.startswith("VALIDATION_FAILED: personaId: there are several personas, so name one: ")
        assert all(f"{card.id} ({card.name})" in refused for card in made)
        found = await call(client, "recall", query="면접", personaId=made[1].id)
        assert found["personaId"] == made[1].id
    async with over_http(shared, token, "2025-11-25", **{"X-Gieok-Persona": made[0].id}) as client:
        assert (await call(client, "recall", query="면접"))["personaId"] == made[0].id


async def _read(client: Client, uri: str) -> dict[str, Any]:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    return json.loads(content.text)
