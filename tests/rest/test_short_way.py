"""The short way answers as the long way does: the same bytes, the same refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urlencode
from uuid import uuid4

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from gieok import Gieok
from gieok.access import Principal
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.caller import PRINCIPAL
from gieok.interfaces.rest.short_way import ShortWay
from tests.rest.conftest import GENEROUS, Server
from tests.rest.routes.conftest import Api, shared

__all__ = ["shared"]

API = "/api/v1"
Query = dict[str, str]
MINA: Query = {"personaId": "mina"}
SHORT: dict[str, tuple[Query, ...]] = {
    "/memory/load": (MINA, {**MINA, "limit": "1"}),
    "/memory/search": (
        {**MINA, "q": "면접이 100%?"},
        {**MINA, "q": "film", "limit": "1"},
    ),
    "/memory/list": ({}, {**MINA, "includeArchived": "true", "limit": "1", "offset": "1"}),
    "/personas": ({}, {"limit": "1"}),
    "/decisions/context": (
        {"domain": "wms"},
        {"domain": "wms", "phase": "design", "q": "재고", "budget": "400"},
    ),
    "/anchors": ({"sessionId": "talk"},),
}
"""Every call that the short way leads to, with queries that it takes."""
MOVING = frozenset({"ageDays", "score", "recency"})
QUERIES = [(path, query) for path, queries in SHORT.items() for query in queries]
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
    """A client of somebody who has a little of everything."""
    with shared.client(f"owner-{uuid4()}") as client:
        api = Api(client)
        api.persona("미나")
        api.persona("하나")
        for summary in ("내일 면접이 있다고 함", "Went to see a film", "면접을 봤다고 함"):
            api.memory("mina", summary, sessionId="talk", topics=[summary], emotion="joy")
        for statement in ("재고는 한 곳에서만 바꾼다", "Reports are read nightly"):
            body = {"statement": statement, "strength": "axis", "scope": "domain", "domain": "wms"}
            api.post("/decisions", body, 201)
        yield client


def ask(client: httpx.Client, path: str, query: Query, way: str = "short") -> httpx.Response:
    """An unknown parameter says nothing, but only the framework passes over it: that is the long way."""
    more = {} if way == "short" else {"unheard": "of"}
    return client.get(API + path, params={**query, **more}, headers={"Accept-Language": "en"})


def settled(value: Any) -> Any:
    """A body without what changes from one moment to the next."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: settled(each) for key, each in fields.items() if key not in MOVING}
    return [settled(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def headers_of(answer: httpx.Response) -> dict[str, str]:
    own = {"x-request-id", "date", "content-length"}
    return {name: value for name, value in answer.headers.items() if name not in own}


def test_it_leads_to_every_call_that_only_reads_and_has_a_fixed_path(shared: Server) -> None:
    """A new one is to stand in the table above."""
    app = create_app(shared.gieok, GENEROUS)
    found = ShortWay(app, shared.gieok, app.routes).paths
    assert {path.removeprefix(API) for path in found} == SHORT.keys()


@pytest.mark.parametrize("path", SHORT)
async def test_it_does_not_enter_the_framework(gieok: Gieok, path: str) -> None:
    """Or else the tests below would compare the long way with itself."""

    async def framework(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("this was to be answered before")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("there is nothing to be read")

    user = Principal("ana", "free", frozenset({"read"}), None)
    query = urlencode(SHORT[path][0]).encode()
    scope: Scope = {"type": "http", "method": "GET", "path": API + path, "query_string": query, "headers": []}
    way = ShortWay(framework, gieok, create_app(gieok, GENEROUS).routes)
    await way({**scope, PRINCIPAL: user}, receive, send)
    assert sent[0]["status"] == 200
    assert json.loads(sent[1]["body"])["success"]


@pytest.mark.parametrize(("path", "query"), QUERIES)
def test_both_ways_answer_the_same(client: httpx.Client, path: str, query: Query) -> None:
    short, long = ask(client, path, query), ask(client, path, query, "long")
    assert short.status_code == long.status_code == 200
    assert settled(short.json()) == settled(long.json())
    assert list(short.json()) == list(long.json())
    assert headers_of(short) == headers_of(long)
    assert int(short.headers["content-length"]) == len(short.content)


@pytest.mark.parametrize(("path", "query"), REFUSED)
def test_both_ways_refuse_the_same(client: httpx.Client, path: str, query: Query) -> None:
    short, long = ask(client, path, query), ask(client, path, query, "long")
    assert short.status_code == long.status_code == 422
    assert short.json() == long.json()


def test_a_parameter_that_is_given_twice_is_read_as_the_framework_reads_it(client: httpx.Client) -> None:
    """The last one counts, as ever."""
    answer = client.get(f"{API}/memory/load?personaId=mina&limit=3&limit=1")
    assert len(answer.json()["memories"]) == 1


def test_a_token_that_may_not_read_is_refused(shared: Server) -> None:
    token = shared.token(f"owner-{uuid4()}", scopes=["write"])
    with httpx.Client(base_url=shared.url, headers={"Authorization": f"Bearer {token}"}) as client:
        for path, (query, *_) in SHORT.items():
            short, long = ask(client, path, query), ask(client, path, query, "long")
            assert short.status_code == long.status_code
            assert short.json() == long.json()
            assert not short.json()["success"]


def test_requests_are_counted_under_the_template_of_their_route(shared: Server, client: httpx.Client) -> None:
    ask(client, "/memory/load", {"personaId": "mina"})
    assert f'route="{API}/memory/load"' in client.get("/metrics").text
