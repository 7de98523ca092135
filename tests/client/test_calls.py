"""Every call of the client, on a real service."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import httpx
from pydantic_core import to_jsonable_python

from gieok.client import GieokClient
from tests.client.cases import CASES, seed
from tests.rest.conftest import Server

PREFIX = "/api/v1"


def test_every_route_of_the_service_has_a_method(shared: Server) -> None:
    """Fails for a new route until the client and the table of this test have it too."""
    paths = httpx.get(f"{shared.url}/openapi.json").json()["paths"]
    routes = {
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, methods in paths.items()
        if path.startswith(PREFIX)
        for method in methods
    }
    assert {case.route for case in CASES} == routes


async def test_every_call_reaches_its_route_and_returns_the_whole_answer(
    client: GieokClient, answers: list[httpx.Response]
) -> None:
    """The record that the client returns, serialised in the language of the request, is the answer."""
    owner = await seed(client)
    for case in CASES:
        result = await case.call(owner)
        assert is_at(answers[-1].request, case.route), case.route
        if result is not None:
            answer = json.loads(answers[-1].content)
            assert answer.pop("success") is True
            returned = to_jsonable_python(result, by_alias=True, context={"language": "ko"})
            lost = values(answer if case.field is None else answer[case.field]) - values(returned)
            assert not lost, case.route


def is_at(request: httpx.Request, route: str) -> bool:
    """Whether a request belongs to this route."""
    method, template = route.split(" ")
    pattern = re.sub(r"\{\w+\}", "[^/]+", PREFIX + template)
    return request.method == method and re.fullmatch(pattern, request.url.path) is not None


def values(document: Any, place: str = "") -> set[tuple[str, str]]:
    """The place and the value of every field in a JSON document."""
    if isinstance(document, dict):
        parts = cast(dict[str, Any], document).items()
    elif isinstance(document, list):
        parts = enumerate(cast(list[Any], document))
    else:
        return {(place, json.dumps(document))}
    return set[tuple[str, str]]().union(*(values(value, f"{place}.{name}") for name, value in parts))
