"""No route shows data of one owner to another, not even that it exists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route

from gieok.interfaces.console import PAGES
from gieok.interfaces.rest.app import create_app
from tests.rest.conftest import GENEROUS, Server
from tests.rest.routes.conftest import Api, shared

__all__ = ["shared"]

SECRET = "비밀이야기"
PERSONA = {"name": SECRET, "systemPrompt": SECRET}
DECISION = {"statement": SECRET, "strength": "axis", "scope": "domain", "domain": "wms"}
COMPLETION = {"model": "gieok/{persona}", "messages": [{"role": "user", "content": "x"}]}
SAID = {"id": "m1", "role": "user", "content": SECRET}


@dataclass(frozen=True)
class Call:
    """A request with ids of another owner's things in its path, query or body.

    `status` is the expected answer: 404, or the status for the caller's own (empty) data.
    """

    route: str
    status: int
    body: Any = None
    query: str = ""

    def send(self, client: httpx.Client, ids: dict[str, str]) -> httpx.Response:
        method, path = self.route.split(" ")
        url = f"{_whole(path)}{self.query}".format(**ids)
        return client.request(method, url, json=_fill(self.body, ids))


def _whole(path: str) -> str:
    """The path with its prefix."""
    return path if path.startswith("/v1/") else f"/api/v1{path}"


def _fill(value: Any, ids: dict[str, str]) -> Any:
    """The body with the ids in place of the placeholders."""
    text = json.dumps(value)
    for kind, id_ in ids.items():
        text = text.replace(f"{{{kind}}}", id_)
    return json.loads(text)


CALLS = [
    Call("POST /chat/send", 404, {"personaId": "{persona}", "message": "x"}),
    Call("POST /chat/send", 404, {"personaId": "{persona}", "sessionId": "{session}", "message": "x"}),
    Call("POST /chat/regenerate", 404, {"sessionId": "{session}"}),
    Call("POST /context", 404, {"personaId": "{persona}", "message": "x"}),
    Call("POST /context", 404, {"personaId": "{persona}", "sessionId": "{session}"}),
    Call("POST /sessions", 404, {"personaId": "{persona}"}),
    Call("GET /sessions", 200, query="?personaId={persona}"),
    Call("GET /sessions/{session}", 404),
    Call("GET /sessions/{session}/messages", 404),
    Call("GET /sessions/{session}/cycles", 404, query="?turnId={turn}"),
    Call("DELETE /sessions/{session}", 404, query="?cascade=true"),
    Call("DELETE /sessions/{session}/turns/last", 404),
    Call("DELETE /sessions/{session}/turns/{turn}", 404),
    Call("POST /sessions/{session}/messages", 404, {"messages": [SAID]}),
    Call("POST /sessions/{session}/resume", 404, {"plan": "chat_turn"}),
    Call("POST /sessions/{session}/plan", 404, {"plan": "chat_turn"}),
    Call("POST /sessions/{session}/close", 404, {"wait": True}),
    Call("GET /jobs/{job}", 404),
    Call("GET /jobs", 200),
    Call("GET /jobs", 404, query="?cursor={job}"),
    Call("POST /jobs/{job}/retry", 404),
    Call("POST /memory/summarize", 404, {"sessionId": "{session}", "personaId": "{persona}"}),
    Call("POST /memory/create", 201, {"personaId": "{persona}", "summary": "x"}),
    Call("POST /memory/batch", 201, {"memories": [{"personaId": "{persona}", "summary": "x"}]}),
    Call("GET /memory/load", 200, query="?personaId={persona}"),
    Call("GET /memory/list", 200, query="?personaId={persona}&includeArchived=true"),
    Call("GET /memory/list", 200),
    Call("GET /memory/search", 200, query=f"?personaId={{persona}}&q={SECRET}"),
    Call("GET /memory/{memory}", 404),
    Call("PATCH /memory/{memory}", 404, {"importance": 1}),
    Call("GET /memory/{memory}/history", 404),
    Call("DELETE /memory/{memory}", 404),
    Call("DELETE /memory", 200, query="?personaId={persona}"),
    Call("POST /memory/{memory}/archive", 404),
    Call("POST /memory/{memory}/restore", 404),
    Call("POST /personas", 201, {"name": "x"}),
    Call("POST /personas/import", 404, {"name": "x"}, query="?personaId={persona}"),
    Call("GET /personas", 200),
    Call("GET /personas", 404, query="?after={persona}"),
    Call("GET /personas/{persona}", 404),
    Call("PUT /personas/{persona}", 404, {"name": "x"}),
    Call("DELETE /personas/{persona}", 404),
    Call("GET /personas/{persona}/versions", 404),
    Call("GET /personas/{persona}/moments", 404),
    Call("GET /personas/{persona}/memory-config", 404),
    Call("PUT /personas/{persona}/memory-config", 404, {"recall": False}),
    Call("GET /personas/{persona}/state", 404),
    Call("PUT /personas/{persona}/state", 404, {"category": "GOAL", "key": "k", "value": "v"}),
    Call("GET /personas/{persona}/state/{fact}/history", 404),
    Call("DELETE /personas/{persona}/state/{fact}", 404),
    Call("POST /decisions/proposals", 404, {**DECISION, "statement": "x", "rootId": "{decision}"}),
    Call("POST /decisions", 404, {**DECISION, "statement": "x", "rootId": "{decision}"}),
    Call("POST /decisions", 404, {**DECISION, "statement": "x", "evidenceIds": ["{evidence}"]}),
    Call("GET /decisions", 200, query="?domain=wms"),
    Call("GET /decisions/context", 200, query=f"?domain=wms&q={SECRET}&sessionId={{session}}"),
    Call("GET /decisions/context", 404, query="?domain=wms&focus={decision}"),
    Call("GET /decisions/policy", 200),
    Call("PUT /decisions/policy", 200, {"principles": ["x"]}),
    Call("GET /decisions/policy/history", 200),
    Call("POST /decisions/compact", 404, {"sessionId": "{session}"}),
    Call("POST /decisions/walks", 404, {"rootId": "{decision}"}),
    Call("GET /decisions/{decision}", 404),
    Call("GET /decisions/{decision}/history", 404),
    Call("GET /decisions/{decision}/impact", 404),
    Call("GET /decisions/{decision}/relations", 404),
    Call("POST /decisions/{decision}/relations", 404, {"type": "REFINES", "target": "{other}"}),
    Call("DELETE /decisions/{decision}/relations/{relation}", 404),
    Call("POST /evidence", 201, {"title": "x", "content": SECRET}),
    Call("GET /evidence/{evidence}", 404),
    Call(
        "POST /anchors",
        404,
        {"sessionId": "s", "hint": "x", "targets": [{"kind": "evidence", "id": "{evidence}"}]},
    ),
    Call("GET /anchors", 200, query="?sessionId={session}"),
    Call("PUT /documents", 200, {"namespace": ["{document}"], "key": "{document}", "value": {"x": 1}}),
    Call("GET /documents", 404, query="?namespace={document}&key={document}"),
    Call("GET /documents/history", 404, query="?namespace={document}&key={document}"),
    Call("GET /documents/namespaces", 200, query="?prefix={document}"),
    Call("POST /documents/search", 200, {"namespace": ["{document}"], "query": SECRET}),
    Call("POST /documents/search", 200, {"filter": {"text": SECRET}}),
    Call(
        "POST /documents/batch",
        200,
        {"operations": [{"op": "get", "namespace": ["{document}"], "key": "{document}"}, {"op": "search"}]},
    ),
    Call("DELETE /documents", 404, query="?namespace={document}&key={document}"),
    Call("POST /webhooks", 201, {"url": "https://hooks.invalid/"}),
    Call("GET /webhooks", 200),
    Call("DELETE /webhooks/{webhook}", 404),
    Call("GET /webhooks/{webhook}/dead-letters", 404),
    Call("POST /webhooks/{webhook}/retry", 404),
    Call("GET /me/profile", 200),
    Call("PUT /me/profile", 200, {"displayName": "다른 사람"}),
    Call("GET /me/export", 200),
    Call("POST /me/import", 422),
    Call("DELETE /me", 200),
    Call("GET /operator/jobs", 403),
    Call("GET /v1/models", 200),
    Call("GET /v1/models/gieok/{persona}", 404),
    Call("POST /v1/chat/completions", 404, COMPLETION),
]
IDS = [f"{call.route}{call.query}-{number}" for number, call in enumerate(CALLS)]


def create_one_of_each(api: Api, content: str = SECRET) -> dict[str, str]:
    """Create one thing of each kind with secret content. Returns their ids by kind."""
    persona = api.post("/personas", PERSONA, 201)["persona"]["id"]
    api.memory(persona, f"{SECRET} 하나", topics=[SECRET])
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    api.post(f"/sessions/{session}/messages", {"messages": [SAID]})
    job = api.call("POST", f"/sessions/{session}/close", 202)["jobId"]
    fact = {"category": "GOAL", "key": SECRET, "value": SECRET}
    decision, other = (api.post("/decisions", DECISION, 201)["decision"]["rootId"] for _ in range(2))
    relation = {"type": "DEPENDS_ON", "target": other}
    api.call("PUT", "/decisions/policy", json={"principles": [SECRET]})
    evidence = api.post("/evidence", {"title": SECRET, "content": content}, 201)["evidence"]["id"]
    target = {"kind": "evidence", "id": evidence}
    api.post("/anchors", {"sessionId": session, "hint": SECRET, "targets": [target]}, 201)
    document = str(uuid4())
    written = {"namespace": [document], "key": document, "value": {"text": SECRET}}
    api.call("PUT", "/documents", json=written)
    hook = {"url": f"https://hooks.invalid/{SECRET.encode().hex()}", "events": ["document.deleted"]}
    return {
        "webhook": api.post("/webhooks", hook, 201)["webhook"]["id"],
        "persona": persona,
        "document": document,
        "session": session,
        "turn": SAID["id"],
        "job": job,
        "memory": api.memory(persona, f"{SECRET} 둘")["id"],
        "fact": api.call("PUT", f"/personas/{persona}/state", json=fact)["fact"]["rootId"],
        "decision": decision,
        "other": other,
        "relation": api.post(f"/decisions/{decision}/relations", relation, 201)["relation"]["id"],
        "evidence": evidence,
    }


@pytest.fixture(scope="module")
def world(shared: Server) -> Iterator[tuple[Api, dict[str, str]]]:
    """An owner with secret data, and the ids of their things."""
    with shared.client(f"owner-{uuid4()}") as client:
        api = Api(client)
        yield api, create_one_of_each(api)


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_another_owners_data_is_invisible(
    shared: Server, world: tuple[Api, dict[str, str]], call: Call
) -> None:
    """Another owner's thing is answered exactly like one that does not exist."""
    owner, ids = world
    before = stored(owner)
    with shared.client(f"other-{uuid4()}") as client:
        answer = call.send(client, ids)
        assert answer.status_code == call.status
        if call.status == 404:
            unknown = {kind: str(uuid4()) for kind in ids}
            assert _replace_ids(answer.text, ids, unknown) == call.send(client, unknown).text
        sent = f"{call.route}{call.body}{call.query}"
        leaked = [kind for kind, id_ in ids.items() if id_ in answer.text and f"{{{kind}}}" not in sent]
        assert leaked == []
        assert SECRET not in answer.text
    assert stored(owner) == before


@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_every_route_needs_a_token(shared: Server, world: tuple[Api, dict[str, str]], call: Call) -> None:
    with shared.client(None) as client:
        answer = call.send(client, world[1])
        error = answer.json()["error"]
        code = error["code"] if call.route.split(" ")[1].startswith("/v1/") else error
        assert (answer.status_code, code) in ((401, "UNAUTHENTICATED"), (401, "invalid_api_key"))
        assert SECRET not in answer.text


WITHOUT_OWNER = {
    "GET /healthz": "says whether the process lives",
    "GET /readyz": "says whether it can serve",
    "GET /metrics": "for operators only, counts without owners (tests/rest/test_metrics.py)",
    "GET /docs": "the documentation of the API",
    "GET /docs/{}": "its files",
    "GET /openapi.json": "the description of the API",
    "GET /v1/openapi.json": "the description of the API",
    "POST /mcp": "tests/mcp/test_isolation.py has a row for each tool and resource",
    "GET /mcp": "answers 405",
    "DELETE /mcp": "answers 405",
}
"""Routes that show no owner's data, each with the reason."""


def test_every_route_is_in_the_table(shared: Server) -> None:
    """A new route, documented or not, fails this test until it has a row in CALLS or a reason."""
    routes: set[str] = set()
    for prefix, route in routes_of(create_app(shared.gieok, GENEROUS)):
        assert isinstance(route, Route), "a mounted application needs isolation tests of its own"
        methods = set(route.methods or ()) - {"HEAD", "OPTIONS"}
        routes |= {f"{method} {shape(prefix + route.path)}" for method in methods}
    covered = {shape(f"{method} {_whole(path)}") for method, path in (each.route.split() for each in CALLS)}
    assert routes - covered == set(WITHOUT_OWNER)
    assert covered <= routes


def routes_of(app: FastAPI) -> Iterator[tuple[str, Any]]:
    """Every route of the application itself, with the prefix of the router that it is in. The pages of the
    console have a table of their own, tests/console/test_isolation.py."""
    console = {id(page.router) for page in PAGES}
    for route in app.routes:
        included: Any = route
        router = getattr(included, "original_router", None)
        if id(router) in console:
            continue
        if router is None:
            yield "", route
        else:
            prefix = included.include_context.prefix
            yield from ((prefix, each) for each in included.original_router.routes)


def _replace_ids(text: str, ids: dict[str, str], others: dict[str, str]) -> str:
    for kind, id_ in ids.items():
        text = text.replace(id_, others[kind])
    return text


def shape(path: str) -> str:
    """The path with `{}` for each parameter."""
    path = path.replace("/gieok/{persona}", "/{model}")
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))


def stored(owner: Api) -> list[str]:
    """All exported records of the owner, without audit entries: the export itself adds one."""
    records = owner.http.get("/api/v1/me/export").text.splitlines()[1:-1]
    return [record for record in records if not record.startswith('{"kind":"audit')]
