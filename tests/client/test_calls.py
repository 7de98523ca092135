"""Every call of the HTTP API, made by the client on a real service."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import httpx
from pydantic_core import to_jsonable_python

from gieok.client import GieokClient
from tests.client.world import CASES, build
from tests.rest.conftest import Server

PREFIX = "/api/v1"


def test_every_route_of_the_service_has_a_method(shared: Server) -> None:
    """A route that is added to the service is added to the client, and to the table of this test."""
    paths = httpx.get(f"{shared.url}/openapi.json").json()["paths"]
    routes = {
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, methods in paths.items()
        if path.startswith(PREFIX)
        for method in methods
    }
    assert {case.route for case in CASES} == routes


async def test_every_call_reaches_its_route_and_loses_nothing(
    client: GieokClient, answers: list[httpx.Response]
) -> None:
    """Every field that the service answers is a field of what the client gives."""
    world = await build(client)
    for case in CASES:
        result = await case.call(world)
        assert is_at(answers[-1].request, case.route), case.route
        if result is not None:
            told = json.loads(answers[-1].content)
            assert told.pop("success") is True
            given = to_jsonable_python(result, by_alias=True)
            lost = names(told if case.part is None else told[case.part]) - names(given)
            assert not lost, case.route


def is_at(request: httpx.Request, route: str) -> bool:
    """Whether this is a request of that route."""
    method, template = route.split(" ")
    pattern = re.sub(r"\{\w+\}", "[^/]+", PREFIX + template)
    return request.method == method and re.fullmatch(pattern, request.url.path) is not None


def names(document: Any, place: str = "") -> set[str]:
    """The place of every field in a document."""
    if isinstance(document, dict):
        items = cast(dict[str, Any], document)
        below = [names(value, f"{place}.{name}") for name, value in items.items()]
        return set[str]().union({f"{place}.{name}" for name in items}, *below)
    if isinstance(document, list):
        return set[str]().union(*(names(value, f"{place}[]") for value in cast(list[Any], document)))
    return set()
