"""No page shows data of one owner to another, not even that it exists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from starlette.routing import Route

from gieok.interfaces.console import PAGES
from tests.console.conftest import Browser
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import SECRET, stored, world

__all__ = ["world"]


@dataclass(frozen=True)
class Visit:
    """A request with ids of another owner's things in its path, query or form."""

    route: str
    status: int
    form: dict[str, str] = field(default_factory=dict[str, str])
    query: str = ""

    def send(self, browser: Browser, ids: dict[str, str]) -> tuple[int, str]:
        method, path = self.route.split(" ")
        url = f"/console{path}{self.query}".format(**ids)
        if method == "GET":
            answer = browser.http.get(url)
        else:
            form = {name: value.format(**ids) for name, value in self.form.items()}
            answer = browser.http.post(url, data={"csrf": browser.csrf, **form})
        return answer.status_code, answer.text


EDIT = {"version": "1", "summary": "x", "importance": "5", "emotion": "calm", "topics": "", "tags": ""}
DECISION = {"statement": "x", "strength": "normal", "domain": "wms"}
RECORD = "---\nrelations: [REFINES {decision}]\n---\n# x"
VISITS = [
    Visit("GET /personas", 200),
    Visit("POST /personas", 303, {"name": "x"}),
    Visit("POST /personas/import", 422),
    Visit("GET /personas/{persona}/export", 404),
    Visit("POST /personas/{persona}/memory", 404, {"recall": "off"}),
    Visit("GET /personas/{persona}/delete", 404),
    Visit("POST /personas/{persona}/delete", 404),
    Visit("GET /facts", 200),
    Visit("GET /facts/{persona}", 404),
    Visit("POST /facts/{persona}", 404, {"category": "GOAL", "key": "k", "value": "v"}),
    Visit("POST /facts/{persona}/{fact}/retire", 404),
    Visit("GET /sessions", 200),
    Visit("GET /sessions", 200, query="?persona={persona}"),
    Visit("GET /sessions/{session}", 404),
    Visit("GET /sessions/{session}/turns/{turn}", 404),
    Visit("GET /sessions/{session}/delete", 404),
    Visit("POST /sessions/{session}/delete", 404, {"cascade": "yes"}),
    Visit("POST /sessions/jobs/{job}/retry", 404),
    Visit("GET /chat", 200),
    Visit("GET /chat/{persona}", 404),
    Visit("POST /chat/{persona}", 404, {"message": "x"}),
    Visit("POST /chat/{persona}/stream", 404, {"message": "x"}),
    Visit("POST /chat/{persona}/regenerate", 404, {"session": "{session}"}),
    Visit("POST /chat/{persona}/undo", 404, {"session": "{session}"}),
    Visit("POST /chat/{persona}/close", 404, {"session": "{session}"}),
    Visit("GET /memories", 200),
    Visit("GET /memories", 200, query="?persona={persona}&status=all"),
    Visit("POST /memories", 200, {"persona": "{persona}", "q": SECRET}),
    Visit("POST /memories/bulk", 303, {"id": "{memory}", "action": "archive"}),
    Visit("POST /memories/bulk", 303, {"id": "{memory}", "action": "delete", "confirmed": "yes"}),
    Visit("GET /memories/{memory}", 404),
    Visit("GET /memories/{memory}/edit", 404),
    Visit("GET /memories/{memory}/row", 404),
    Visit("POST /memories/{memory}", 404, EDIT),
    Visit("POST /memories/{memory}/why", 404, {"q": "x"}),
    Visit("POST /memories/{memory}/archive", 404),
    Visit("POST /memories/{memory}/restore", 404),
    Visit("POST /memories/{memory}/delete", 404),
    Visit("GET /decisions", 200),
    Visit("POST /decisions", 200, {"domain": "wms", "q": SECRET}),
    Visit("GET /decisions/new", 200),
    Visit("GET /decisions/import", 200),
    Visit("POST /decisions/import", 422),
    Visit("POST /decisions/import", 422, {"text": RECORD, "confirmed": "yes"}),
    Visit("POST /decisions/proposals", 404, {**DECISION, "root": "{decision}"}),
    Visit("POST /decisions/proposals", 422, {**DECISION, "type": "REFINES", "target": "{decision}"}),
    Visit("POST /decisions/save", 404, {**DECISION, "root": "{decision}"}),
    Visit("POST /decisions/save", 422, {**DECISION, "evidence": "{evidence}"}),
    Visit("GET /decisions/{decision}", 404),
    Visit("GET /decisions/{decision}/edit", 404),
    Visit("POST /decisions/{decision}/relations", 404, {"type": "REFINES", "target": "{other}"}),
    Visit("POST /decisions/{decision}/relations/{relation}/delete", 404),
    Visit("GET /decisions/evidence/{evidence}", 404),
    Visit("GET /operator", 403),
    Visit("GET /data", 200),
    Visit("POST /data/export", 200),
    Visit("POST /data/import", 422),
    Visit("POST /data/erase", 422, {"name": "x"}),
]
IDS = [f"{visit.route}{visit.query}-{number}" for number, visit in enumerate(VISITS)]
WITHOUT_OWNER = {
    "GET ",
    "GET /sign-in",
    "POST /sign-in",
    "POST /sign-out",
    "POST /preferences",
    "GET /static/{}/{}",
    "GET /plans",
    "GET /plans/{}",
    "GET /plans/diff",
    "POST /plans/diff",
}
"""Routes that show no owner's data."""


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize("visit", VISITS, ids=IDS)
def test_another_owners_data_is_invisible(
    shared: Server, world: tuple[Api, dict[str, str]], browse: Callable[..., Browser], visit: Visit
) -> None:
    owner, ids = world
    before = stored(owner)
    browser = browse(shared.token(f"other-{uuid4()}"))
    status, page = visit.send(browser, ids)
    assert status == visit.status, page
    shown = page.replace(browser.csrf, "")
    sent = f"{visit.route}{visit.form}{visit.query}"
    assert [kind for kind, id_ in ids.items() if id_ in shown and f"{{{kind}}}" not in sent] == []
    assert SECRET not in (page if SECRET not in sent else page.replace(f'value="{SECRET}"', ""))
    assert stored(owner) == before


@pytest.mark.parametrize("visit", VISITS, ids=IDS)
def test_every_page_needs_a_token(
    world: tuple[Api, dict[str, str]], browse: Callable[..., Browser], visit: Visit
) -> None:
    method, path = visit.route.split(" ")
    answer = browse().http.request(method, f"/console{path}{visit.query}".format(**world[1]))
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/console/sign-in")


def test_every_route_is_in_the_table() -> None:
    """A new page fails this test until it has a row in VISITS."""
    routes: set[str] = set()
    for page in PAGES:
        for route in page.router.routes:
            assert isinstance(route, Route)
            methods: set[Any] = set(route.methods or ()) - {"HEAD", "OPTIONS"}
            routes |= {f"{method} {_shape(route.path)}" for method in methods}
    covered = {_shape(visit.route) for visit in VISITS}
    assert routes - covered == WITHOUT_OWNER
    assert covered <= routes


def _shape(path: str) -> str:
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))
