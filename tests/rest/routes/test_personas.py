"""Personas, facts and memory settings over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest.routes.conftest import Api

NOBODYS = "7b0f9a4e-3c1d-4a55-9e0e-2f6d1c8b7a90"
HANA = {
    "name": "하나",
    "systemPrompt": "너는 하나, 사용자의 다정한 친구다.",
    "card": "스물여섯 살",
    "lorebook": ["서울에 산다"],
    "boundaries": ["의학적 조언을 하지 않는다"],
    "relationships": ["오랜 친구"],
}


@pytest.mark.req("CANON-1")
def test_a_persona_is_stored_as_written(api: Api) -> None:
    persona = api.post("/personas", HANA, 201)["persona"]
    assert {name: persona[name] for name in HANA} == HANA
    assert (persona["version"], persona["language"]) == (1, "ko")
    assert persona["createdAt"].endswith("Z")
    assert api.get(f"/personas/{persona['id']}")["persona"] == persona
    assert api.get("/personas")["personas"] == [persona]


def test_a_persona_may_have_a_given_id(api: Api) -> None:
    """An id in use is 409, unless the request is a retry with the same idempotency key."""
    body = HANA | {"id": "hana"}
    made = api.post("/personas", body, 201, **{"Idempotency-Key": "p1"})["persona"]
    assert made["id"] == "hana"
    assert api.post("/personas", body, 201, **{"Idempotency-Key": "p1"})["persona"] == made
    assert api.post("/personas", body, 409)["error"] == "CONFLICT"


def test_an_edit_is_a_new_version(api: Api) -> None:
    """The expected version is checked, by If-Match or in the body."""
    persona = api.post("/personas", HANA, 201)["persona"]
    path = f"/personas/{persona['id']}"
    edited = api.call("PUT", path, json=HANA | {"card": "스물일곱 살", "expectedVersion": 1})["persona"]
    assert (edited["version"], edited["card"]) == (2, "스물일곱 살")
    refused = api.call("PUT", path, 409, json=HANA, headers={"If-Match": '"1"'})
    assert refused["error"] == "CONFLICT"
    assert refused["message"].startswith("this is at version 2, and version 1 was expected")
    assert api.call("PUT", path, json=HANA, headers={"If-Match": '"2"'})["persona"]["version"] == 3
    versions = api.get(f"{path}/versions")["versions"]
    assert [each["card"] for each in versions] == ["스물여섯 살", "스물일곱 살", "스물여섯 살"]
    assert [each["version"] for each in api.get(f"{path}/versions", after=2)["versions"]] == [3]


def test_a_page_says_whether_there_are_more(api: Api) -> None:
    """Personas, their versions and those of a fact. A full last page has `hasMore: false`."""
    first, second = api.persona(), api.persona()
    api.call("PUT", f"/personas/{first}", json=HANA | {"card": "스물일곱 살"})
    goal = {"category": "GOAL", "key": "취업"}
    for value in ("준비 중", "합격"):
        fact = api.call("PUT", f"/personas/{first}/state", json=goal | {"value": value})["fact"]
    lists = {
        "/personas": ("personas", second),
        f"/personas/{first}/versions": ("versions", 2),
        f"/personas/{first}/state/{fact['rootId']}/history": ("versions", 2),
    }
    for path, (name, last) in lists.items():
        beginning = api.get(path, limit=1)
        after = beginning[name][0]["id" if name == "personas" else "version"]
        rest = api.get(path, limit=1, after=after)
        assert (beginning["hasMore"], rest["hasMore"]) == (True, False)
        assert rest[name][0]["id" if name == "personas" else "version"] == last
        assert (len(api.get(path)[name]), api.get(path)["hasMore"]) == (2, False)


@pytest.mark.req("CANON-2", "CANON-6")
def test_a_fact_supersedes_the_previous_one(api: Api) -> None:
    """State facts are in the block, ordinary facts are not. Old versions stay in the history."""
    path = f"/personas/{api.persona()}/state"
    goal = {"category": "GOAL", "key": "취업", "value": "면접 준비 중", "importance": 8}
    first = api.call("PUT", path, json=goal)
    second = api.call("PUT", path, json=goal | {"value": "합격함"})
    api.call("PUT", path, json={"category": "PREFERENCE", "key": "커피", "value": "라떼"})
    assert (first["outcome"], second["outcome"]) == ("added", "superseded")
    assert (second["fact"]["rootId"], second["fact"]["version"]) == (first["fact"]["rootId"], 2)
    state = api.get(path)
    assert [(each["category"], each["value"]) for each in state["facts"]] == [("GOAL", "합격함")]
    assert [each["value"] for each in state["ordinary"]] == ["라떼"]
    assert state["block"].startswith("[현재 상태(캐논)]")
    assert state["chars"] == len(state["block"])
    assert "라떼" not in state["block"]
    versions = api.get(f"{path}/{first['fact']['rootId']}/history")["versions"]
    assert [(each["value"], each["isActive"]) for each in versions] == [
        ("면접 준비 중", False),
        ("합격함", True),
    ]


def test_a_retired_fact_keeps_its_history(api: Api) -> None:
    path = f"/personas/{api.persona()}/state"
    root = api.call("PUT", path, json={"category": "HABIT", "key": "운동", "value": "매일 달리기"})["fact"][
        "rootId"
    ]
    assert api.call("DELETE", f"{path}/{root}")["outcome"] == "retired"
    assert api.get(path)["facts"] == []
    assert [each["isActive"] for each in api.get(f"{path}/{root}/history")["versions"]] == [False]
    assert api.call("DELETE", f"{path}/{root}", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("COMP-8")
def test_memory_settings_are_per_persona(api: Api) -> None:
    """Omitted settings stay. Without recall nothing is loaded, but everything is listed."""
    persona = api.persona()
    path = f"/personas/{persona}/memory-config"
    api.memory(persona, "이야기")
    assert api.get(path)["config"] == {"recall": True, "activeLimit": None}
    assert api.call("PUT", path, json={"activeLimit": 1})["config"] == {"recall": True, "activeLimit": 1}
    answer = api.call("PUT", path, json={"recall": False})
    assert answer["config"] == {"recall": False, "activeLimit": 1}
    assert answer["counts"] == {"active": 1, "archived": 0}
    assert api.get("/memory/load", personaId=persona)["memories"] == []
    assert api.get("/memory/list", personaId=persona)["total"] == 1
    assert api.call("PUT", path, 422, json={"activeLimit": 0})["at"] == "activeLimit"


FACT = {"category": "GOAL", "key": "k", "value": "v"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PUT", "", HANA),
        ("GET", "/versions", None),
        ("GET", "/memory-config", None),
        ("PUT", "/memory-config", {"recall": True}),
        ("GET", "/state", None),
        ("PUT", "/state", FACT),
        ("GET", f"/state/{NOBODYS}/history", None),
        ("DELETE", f"/state/{NOBODYS}", None),
        ("GET", "/state/7/history", None),
        ("DELETE", "/state/7", None),
    ],
)
@pytest.mark.parametrize("name", ["nobody", "no%20body"])
def test_every_route_of_an_unknown_persona_is_not_found(
    api: Api, name: str, method: str, path: str, body: dict[str, Any] | None
) -> None:
    options = {} if body is None else {"json": body}
    assert api.call(method, f"/personas/{name}{path}", 404, **options)["error"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x", "lorebook": "y"}, "lorebook"),
        ({"name": "x", "lorebook": ["y", 1]}, "lorebook[1]"),
        ({"name": "x", "language": "jp"}, "language"),
        ({"name": "x", "id": "a b"}, "id"),
        ({"name": "x", "version": 1}, "version"),
    ],
)
def test_an_invalid_persona_is_refused(api: Api, body: dict[str, Any], at: str) -> None:
    refused = api.post("/personas", body, 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"category": "MOOD"}, "category"),
        ({"key": ""}, "key"),
        ({"value": "x" * 1001}, "value"),
        ({"importance": 0}, "importance"),
    ],
)
def test_an_invalid_fact_is_refused(api: Api, change: dict[str, Any], at: str) -> None:
    path = f"/personas/{api.persona()}/state"
    assert api.call("PUT", path, 422, json=FACT | change)["at"] == at


def test_a_repeated_idempotency_key_sets_a_fact_once(api: Api) -> None:
    persona, key = api.persona(), {"Idempotency-Key": "k1"}
    body = {"category": "PERSONAL_INFO", "key": "직업", "value": "간호사"}
    path = f"/personas/{persona}/state"
    first = api.call("PUT", path, json=body, headers=key)
    assert api.call("PUT", path, json=body, headers=key) == first
    assert api.call("PUT", path, 409, json=body | {"value": "의사"}, headers=key)["error"] == "CONFLICT"
    other = api.persona("두나")
    assert api.call("PUT", f"/personas/{other}/state", 409, json=body, headers=key)["error"] == "CONFLICT"
    assert len(api.get(f"{path}/{first['fact']['rootId']}/history")["versions"]) == 1


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/personas"), ("GET", "/memory/list"), ("DELETE", "/me")]
)
def test_an_idempotency_key_is_refused_where_it_is_not_supported(api: Api, method: str, path: str) -> None:
    """Ignored, it would let a client repeat a request that then takes effect twice."""
    refused = api.call(method, path, 422, headers={"Idempotency-Key": "k1"})
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", "Idempotency-Key")


@pytest.mark.req("MIND-7")
def test_the_state_of_a_moment_and_the_days_of_a_fact(api: Api) -> None:
    persona = api.persona()
    body = {
        "category": "EVENT",
        "key": "wedding",
        "value": "Gaz marries",
        "subject": "person:Gaz",
        "when": "2020-08-22",
        "until": "2020-08-23",
    }
    fact = api.call("PUT", f"/personas/{persona}/state", json=body)["fact"]
    assert {name: fact[name] for name in body} == body
    assert api.get(f"/personas/{persona}/state")["facts"] == []  # it ended long ago
    before = api.get(f"/personas/{persona}/state?asOf=2020-08-22T12:00:00Z")
    assert (before["facts"], before["ordinary"]) == ([], [])  # it was not recorded yet


@pytest.mark.parametrize(
    ("path", "at"), [("?asOf=yesterday", "asOf"), ("?asOf=2020-08-22", "asOf"), ("?asof=x", "asof")]
)
def test_an_invalid_moment_is_refused(api: Api, path: str, at: str) -> None:
    refused = api.call("GET", f"/personas/{api.persona()}/state{path}", 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.parametrize(
    ("field", "value"), [("when", "2026-02-30"), ("until", "soon"), ("when", 5), ("subject", "somebody")]
)
def test_an_invalid_day_or_subject_is_refused(api: Api, field: str, value: object) -> None:
    body = {"category": "EVENT", "key": "k", "value": "v", field: value}
    refused = api.call("PUT", f"/personas/{api.persona()}/state", 422, json=body)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", field)
