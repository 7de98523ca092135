"""Decisions, relations, evidence and anchors over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from gieok import Worker
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api

STOCK = {
    "statement": "재고는 이동 기록에서만 계산한다",
    "strength": "axis",
    "scope": "domain",
    "domain": "WMS",
}
TIERS = ["policy", "structural", "global+axis", "domain+axis", "domain+lock", "domain+normal", "anchors"]


def save(api: Api, statement: str, strength: str = "normal", **fields: Any) -> str:
    """Save a decision. Returns its root id."""
    body = STOCK | {"statement": statement, "strength": strength} | fields
    return api.post("/decisions", body, 201)["decision"]["rootId"]


@pytest.mark.req("DEC-2")
def test_a_proposal_is_not_stored(api: Api) -> None:
    """It reports what it would replace, affect and conflict with. The list of decisions does not change."""
    root = save(api, "이동 기록은 지우지 않는다", "lock")
    change = STOCK | {
        "rootId": root,
        "relations": [{"type": "DEPENDS_ON", "target": save(api, "단위는 개다")}],
    }
    answer = api.post("/decisions/proposals", change)
    assert answer["proposal"]["domain"] == "wms"
    assert answer["replaces"]["rootId"] == root
    assert set(answer["impact"]) == {"origin", "nodes", "truncated", "visited"}
    assert set(answer["guardian"]) == {"constrainedBy", "conflicts", "lapsing", "truncated"}
    assert api.get(f"/decisions/{root}")["decision"]["version"] == 1


@pytest.mark.req("DEC-3", "DEC-4")
def test_a_change_appends_a_version(api: Api) -> None:
    """A stale version is 409. The history has both versions."""
    evidence = api.post("/evidence", {"title": "회의록", "content": "…"}, 201)["evidence"]["id"]
    made = api.post("/decisions", STOCK | {"evidenceIds": [evidence]}, 201)["decision"]
    assert made | {"id": 0, "rootId": 0, "createdAt": 0} == STOCK | {
        "id": 0,
        "rootId": 0,
        "version": 1,
        "isActive": True,
        "domain": "wms",
        "rationale": None,
        "evidenceIds": [evidence],
        "createdAt": 0,
    }
    change = STOCK | {"rootId": made["rootId"], "statement": "재고는 실사로 고친다", "expectedVersion": 1}
    assert api.post("/decisions", change, 201)["decision"]["version"] == 2
    assert api.post("/decisions", change, 409)["error"] == "CONFLICT"
    assert api.get(f"/decisions/{made['rootId']}")["decision"]["statement"] == "재고는 실사로 고친다"
    versions = api.get(f"/decisions/{made['rootId']}/history")["versions"]
    assert [(each["version"], each["isActive"]) for each in versions] == [(1, False), (2, True)]
    assert [
        each["version"] for each in api.get(f"/decisions/{made['rootId']}/history", after=1)["versions"]
    ] == [2]


def test_a_long_history_is_returned_completely(api: Api) -> None:
    """The active version is the last one. A shorter page has `hasMore`."""
    root = api.post("/decisions", STOCK, 201)["decision"]["rootId"]
    for number in range(100):
        api.post("/decisions", STOCK | {"rootId": root, "statement": f"재고 규칙 {number}"}, 201)
    told = api.get(f"/decisions/{root}/history")
    assert [each["version"] for each in told["versions"]] == list(range(1, 102))
    assert (told["versions"][-1]["isActive"], told["hasMore"]) == (True, False)
    assert api.get(f"/decisions/{root}/history", limit=100)["hasMore"] is True
    assert api.get(f"/decisions/{root}/history", after=1, limit=100)["hasMore"] is False


def test_an_idempotency_key_saves_once(api: Api) -> None:
    first = api.post("/decisions", STOCK, 201, **{"Idempotency-Key": "d1"})
    assert api.post("/decisions", STOCK, 201, **{"Idempotency-Key": "d1"}) == first
    assert len(api.get("/decisions")["decisions"]) == 1


def test_decisions_are_listed_by_a_cursor(api: Api) -> None:
    """Strongest first. The last page has no cursor."""
    roots = [save(api, f"결정 {strength}", strength) for strength in ("normal", "lock", "axis")]
    save(api, "모두에게", "axis", scope="global", domain=None)
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = api.get("/decisions", domain="wms", limit=1, **({"cursor": cursor} if cursor else {}))
        seen += [each["rootId"] for each in page["decisions"]]
        cursor = page["nextCursor"]
    assert (seen, cursor) == (roots[::-1], None)
    assert len(api.get("/decisions", scope="global")["decisions"]) == 1
    assert [each["rootId"] for each in api.get("/decisions", strength="lock")["decisions"]] == [roots[1]]
    for broken in ("nonsense", "e30=", "가", "A"):
        assert api.get("/decisions", 422, cursor=broken)["at"] == "cursor"


@pytest.mark.req("DEC-8")
def test_impact_follows_relations(api: Api) -> None:
    """A dependent decision is found with its path. A deleted relation is not followed."""
    stock, count = save(api, "재고는 계산한다"), save(api, "실사는 한 달에 한 번")
    relation = api.post(f"/decisions/{count}/relations", {"type": "DEPENDS_ON", "target": stock}, 201)[
        "relation"
    ]
    assert (relation["source"], relation["type"], relation["target"]) == (count, "DEPENDS_ON", stock)
    reached = api.get(f"/decisions/{stock}/impact", depth=3, limit=10)
    assert (reached["origin"], reached["truncated"]) == (stock, False)
    assert reached["nodes"] == [
        {"rootId": count, "distance": 1, "path": [{"from": count, "type": "DEPENDS_ON", "to": stock}]}
    ]
    assert api.get(f"/decisions/{stock}/relations")["relations"] == [relation]
    assert api.call("DELETE", f"/decisions/{uuid4()}/relations/{relation['id']}", 404)["error"] == "NOT_FOUND"
    assert api.call("DELETE", f"/decisions/{stock}/relations/{relation['id']}")["relation"] == relation
    assert api.get(f"/decisions/{stock}/impact")["nodes"] == []


@pytest.mark.req("DEC-10", "DEC-12")
def test_the_loading_order_has_seven_layers(api: Api) -> None:
    """Also if all of them are empty. The phase is returned and filters nothing."""
    empty = api.get("/decisions/context", domain="wms")
    assert [(layer["tier"], layer["name"]) for layer in empty["layers"]] == list(enumerate(TIERS, start=1))
    axis = save(api, "재고는 계산한다", "axis")
    loaded = api.get("/decisions/context", domain="WMS", phase="design", q="재고", budget=4000)
    assert (loaded["domain"], loaded["phase"]) == ("wms", "design")
    assert [each["rootId"] for each in loaded["layers"][3]["items"]] == [axis]


@pytest.mark.req("DEC-10", "DEC-8")
def test_the_focus_selects_the_relations_of_the_second_layer(api: Api) -> None:
    """Related decisions are named by id and path. Those of another domain stay without their statement."""
    stock, count = save(api, "재고는 계산한다", "axis"), save(api, "실사는 한 달에 한 번", "lock")
    screen = save(api, "화면에 재고를 보인다", domain="ui")
    for root in (count, screen):
        api.post(f"/decisions/{root}/relations", {"type": "DEPENDS_ON", "target": stock}, 201)
    target = {"kind": "decision", "id": screen}
    api.post("/anchors", {"sessionId": "s", "hint": "화면 이야기", "targets": [target]}, 201)
    around = api.get("/decisions/context", domain="wms")["layers"]
    assert [item["rootId"] for item in around[1]["items"]] == [screen]
    focused = api.get("/decisions/context", domain="wms", focus=[screen, count])["layers"]
    assert [item["rootId"] for item in focused[1]["items"]] == [stock]
    assert around[1]["items"][0]["path"] == [{"from": screen, "type": "DEPENDS_ON", "to": stock}]
    assert "화면에 재고를 보인다" not in str(around)
    assert api.get("/decisions/context", 404, domain="wms", focus=str(uuid4()))["error"] == "NOT_FOUND"
    assert api.get("/decisions/context", 422, domain="wms", focus="7")["at"] == "focus[0]"


@pytest.mark.req("DEC-10")
def test_the_policy_can_be_set_and_read(api: Api) -> None:
    """It is versioned, and the first layer of every context."""
    assert api.get("/decisions/policy") == {
        "success": True,
        "version": 0,
        "principles": [],
        "createdAt": None,
    }
    first = api.call("PUT", "/decisions/policy", json={"principles": ["모르면 모른다고 말한다"]})
    assert (first["version"], first["principles"]) == (1, ["모르면 모른다고 말한다"])
    changed = {"principles": ["적어 둔다"], "expectedVersion": 1}
    assert api.call("PUT", "/decisions/policy", json=changed)["version"] == 2
    assert api.call("PUT", "/decisions/policy", 409, json=changed | {"principles": []})["error"] == "CONFLICT"
    assert api.get("/decisions/policy")["principles"] == ["적어 둔다"]
    history = api.get("/decisions/policy/history", limit=1)
    assert (history["versions"], history["hasMore"]) == (
        [{key: first[key] for key in ("version", "principles", "createdAt")}],
        True,
    )
    loaded = api.get("/decisions/context", domain="wms")["layers"][0]
    assert [item["statement"] for item in loaded["items"]] == ["적어 둔다"]


@pytest.mark.req("DEC-1", "DEC-14")
def test_a_conversation_is_compacted(api: Api) -> None:
    """Its messages, or a stored session. The anchors lead to the oldest messages, word for word."""
    persona = api.persona()
    said = [{"id": f"m{n}", "role": "user", "content": f"{n}: " + "긴 이야기 " * 100} for n in range(12)]
    given = api.post("/decisions/compact", {"messages": said, "budget": 1_200})
    assert given["anchors"][0]["sessionId"] == given["sessionId"]
    assert len(given["anchors"]) == len(given["evidence"]) > 0
    assert 0 < given["kept"] < 12
    again = {"messages": said, "budget": 1_200, "sessionId": given["sessionId"]}
    assert api.post("/decisions/compact", again)["anchors"] == given["anchors"]
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    api.post(f"/sessions/{session}/messages", {"messages": said})
    stored = api.post("/decisions/compact", {"sessionId": session, "budget": 1_200})
    assert (stored["sessionId"], stored["kept"]) == (session, given["kept"])
    content = api.get(f"/evidence/{stored['evidence'][0]['id']}")["evidence"]["content"]
    assert content.startswith(f"user: {said[0]['content']}\n\n")
    assert api.post("/decisions/compact", {"sessionId": "unknown"}, 404)["error"] == "NOT_FOUND"
    assert api.post("/decisions/compact", {"messages": said, "budget": 1}, 422)["at"] == "budget"
    assert api.post("/decisions/compact", {"budget": 2_000}, 422)["error"] == "VALIDATION_FAILED"


@pytest.mark.req("DEC-15", "DEC-8")
def test_a_walk_runs_in_the_background(api: Api, shared: Server) -> None:
    """`GET /jobs/{id}` has its result once a worker has run it."""
    stock, count = save(api, "재고는 계산한다", "axis"), save(api, "실사는 한 달에 한 번", "lock")
    api.post(f"/decisions/{count}/relations", {"type": "DEPENDS_ON", "target": stock}, 201)
    target = {"kind": "decision", "id": stock}
    anchor = api.post("/anchors", {"sessionId": "s", "hint": "재고", "targets": [target]}, 201)["anchor"]
    started = [
        api.post("/decisions/walks", origin, 202)["jobId"]
        for origin in ({"rootId": stock, "depth": 1}, {"anchorId": anchor["id"], "depth": 1})
    ]
    assert api.get(f"/jobs/{started[0]}")["job"].keys() == {"id", "kind", "status", "attempts"}

    async def work() -> None:
        while await Worker(shared.gieok).run_once(shared.gieok.engine.clock()):
            pass

    shared.run(work())
    from_root, from_anchor = [api.get(f"/jobs/{job}")["job"] for job in started]
    assert (from_root["kind"], from_root["status"]) == ("walk", "done")
    assert [item["rootId"] for item in from_root["result"]["items"]] == [stock, count]
    assert from_root["result"]["items"][1]["path"] == [{"from": count, "type": "DEPENDS_ON", "to": stock}]
    assert [item["rootId"] for item in from_anchor["result"]["items"]] == [stock]
    for body in ({}, {"rootId": stock, "anchorId": anchor["id"]}, {"rootId": stock, "depth": 0}):
        assert api.post("/decisions/walks", body, 422)["error"] == "VALIDATION_FAILED"
    assert api.post("/decisions/walks", {"anchorId": str(uuid4())}, 404)["error"] == "NOT_FOUND"


@pytest.mark.req("DEC-1", "DEC-14")
def test_an_anchor_refers_to_evidence(api: Api) -> None:
    """The same content is stored once, with its first title. An anchor refers to it."""
    body = {"title": "창고 회의록", "content": "재고를 두 곳에 적지 않기로 함", "source": "회의 12"}
    made = api.post("/evidence", body, 201)["evidence"]
    assert len(made["sha256"]) == 64
    assert api.post("/evidence", body | {"title": "다른 제목"}, 200)["evidence"] == made
    assert api.get(f"/evidence/{made['id']}")["evidence"] == made | {"content": body["content"]}
    target = {"kind": "evidence", "id": made["id"]}
    anchor = api.post("/anchors", {"sessionId": "s1", "hint": "재고 이유", "targets": [target]}, 201)[
        "anchor"
    ]
    assert (anchor["sessionId"], anchor["targets"]) == ("s1", [target])
    assert api.get("/anchors", sessionId="s1")["anchors"] == [anchor]
    assert api.get("/anchors", sessionId="s2")["anchors"] == []
    unknown = {"kind": "decision", "id": str(uuid4())}
    assert api.post("/anchors", {"sessionId": "s1", "hint": "x", "targets": [unknown]}, 404)


@pytest.mark.parametrize("name", ["7b0f9a4e-3c1d-4a55-9e0e-2f6d1c8b7a90", "7", "no%20such"])
def test_an_unknown_id_is_not_found(api: Api, name: str) -> None:
    root = save(api, "있는 결정")
    for path in ("", "/history", "/impact", "/relations"):
        assert api.get(f"/decisions/{name}{path}", 404)["error"] == "NOT_FOUND"
    assert api.post(f"/decisions/{name}/relations", {"type": "REFINES", "target": root}, 404)
    assert api.call("DELETE", f"/decisions/{root}/relations/{name}", 404)["error"] == "NOT_FOUND"
    assert api.get(f"/evidence/{name}", 404)["error"] == "NOT_FOUND"
    missing = str(uuid4())
    assert api.post(f"/decisions/{root}/relations", {"type": "REFINES", "target": missing}, 404)
    for fields in (
        {"rootId": missing},
        {"evidenceIds": [missing]},
        {"relations": [{"type": "REFINES", "target": missing}]},
    ):
        assert api.post("/decisions", STOCK | fields, 404)["error"] == "NOT_FOUND"
        assert api.post("/decisions/proposals", STOCK | fields, 404)["error"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"statement": " "}, "statement"),
        ({"strength": "hard"}, "strength"),
        ({"scope": "global"}, "domain"),
        ({"domain": None}, "domain"),
        ({"domain": "global"}, "domain"),
        ({"rootId": "7"}, "rootId"),
        ({"evidenceIds": ["7"]}, "evidenceIds[0]"),
        ({"relations": [{"type": "LIKES", "target": str(uuid4())}]}, "relations[0].type"),
        ({"expectedVersion": -1}, "expectedVersion"),
        ({"expectedVersion": 2**31}, "expectedVersion"),
        ({"version": 1}, "version"),
    ],
)
def test_an_invalid_decision_is_refused(api: Api, change: dict[str, Any], at: str) -> None:
    refused = api.post("/decisions", STOCK | change, 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.parametrize(
    ("path", "query", "at"),
    [
        ("", {"limit": 0}, "limit"),
        ("", {"strength": "hard"}, "strength"),
        ("", {"scope": "mine"}, "scope"),
        ("", {"domain": "a b"}, "domain"),
        ("/context", {}, "domain"),
        ("/context", {"domain": "wms", "budget": -1}, "budget"),
        ("/context", {"domain": "wms", "phase": "x" * 65}, "phase"),
        ("/context", {"domain": "wms", "sessionId": "a b"}, "sessionId"),
    ],
)
def test_an_invalid_query_is_refused(api: Api, path: str, query: dict[str, Any], at: str) -> None:
    assert api.get(f"/decisions{path}", 422, **query)["at"] == at


@pytest.mark.parametrize(
    ("path", "body", "at"),
    [
        ("/evidence", {"title": "x"}, "content"),
        ("/evidence", {"title": "", "content": "x"}, "title"),
        ("/anchors", {"sessionId": "s", "hint": "x", "targets": []}, "targets"),
        (
            "/anchors",
            {"sessionId": "s", "hint": "x", "targets": [{"kind": "memory", "id": str(uuid4())}]},
            "targets[0].kind",
        ),
        ("/anchors", {"sessionId": "a b", "hint": "x", "targets": []}, "sessionId"),
    ],
)
def test_invalid_evidence_and_anchors_are_refused(api: Api, path: str, body: dict[str, Any], at: str) -> None:
    assert api.post(path, body, 422)["at"] == at
