"""Query parameters of the reading routes: what is refused, also a repeated one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api, shared

__all__ = ["shared"]

API = "/api/v1"
Query = dict[str, str]
MINA: Query = {"personaId": "mina"}
READS: list[tuple[str, Query]] = [
    ("/memory/load", MINA),
    ("/memory/search", {**MINA, "q": "film"}),
    ("/memory/list", {}),
    ("/personas", {}),
    ("/decisions/context", {"domain": "wms"}),
    ("/anchors", {"sessionId": "talk"}),
]
REFUSED: list[tuple[str, Query]] = [
    ("/memory/load", {}),
    ("/memory/load", {"personaId": ""}),
    ("/memory/load", {**MINA, "limit": "0"}),
    ("/memory/load", {**MINA, "limit": "many"}),
    ("/memory/search", MINA),
    ("/memory/search", {**MINA, "q": ""}),
    ("/memory/search", {**MINA, "q": "x" * 4_001}),
    ("/memory/list", {"includeArchived": "perhaps"}),
    ("/memory/list", {"offset": "-1"}),
    ("/decisions/context", {}),
]


@pytest.fixture(scope="module")
def client(shared: Server) -> Iterator[httpx.Client]:
    """A client of an owner with one persona and two memories."""
    with shared.client(f"owner-{uuid4()}") as client:
        api = Api(client)
        api.persona("미나")
        for summary in ("내일 면접이 있다고 함", "Went to see a film"):
            api.memory("mina", summary)
        yield client


@pytest.mark.parametrize(("path", "query"), READS)
def test_unknown_parameters_are_refused(client: httpx.Client, path: str, query: Query) -> None:
    """A misspelt filter would otherwise return everything."""
    assert client.get(API + path, params=query).status_code == 200
    answer = client.get(API + path, params={**query, "tagg": "parameter"})
    assert answer.status_code == 422
    assert (answer.json()["error"], answer.json()["at"]) == ("VALIDATION_FAILED", "tagg")
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.req("COMP-9")
def test_every_call_refuses_unknown_parameters(client: httpx.Client) -> None:
    """Also calls without any, with a body or with a stream."""
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method in methods if path.startswith(API) else ():
            place = re.sub(r"\{\w+\}", "7b0f9a4e-3c1d-4a55-9e0e-2f6d1c8b7a90", path)
            content = b"{}" if method in ("post", "put", "patch") else None
            headers = {"Content-Type": "application/json"} if content else None
            answer = client.request(method, place, params={"unknown": "1"}, content=content, headers=headers)
            assert (answer.status_code, answer.json()["at"]) == (422, "unknown"), f"{method} {path}"


@pytest.mark.parametrize(("path", "query"), REFUSED)
def test_an_invalid_query_is_refused(client: httpx.Client, path: str, query: Query) -> None:
    answer = client.get(API + path, params=query)
    assert (answer.status_code, answer.json()["error"]) == (422, "VALIDATION_FAILED")


def test_a_repeated_parameter_is_refused_unless_it_is_a_list(client: httpx.Client) -> None:
    """Client, proxy and service may each read another one of the values."""
    answer = client.get(f"{API}/memory/load?personaId=mina&limit=3&limit=1")
    assert (answer.status_code, answer.json()["at"]) == (422, "limit")
    focus = "&".join(f"focus={uuid4()}" for _ in range(2))
    assert client.get(f"{API}/decisions/context?domain=wms&{focus}").status_code == 404


@pytest.mark.parametrize(("path", "query"), READS)
def test_a_token_without_the_scope_read_is_refused(shared: Server, path: str, query: Query) -> None:
    headers = {"Authorization": f"Bearer {shared.token(f'owner-{uuid4()}', scopes=['write'])}"}
    answer = httpx.get(shared.url + API + path, params=query, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (403, "FORBIDDEN")
