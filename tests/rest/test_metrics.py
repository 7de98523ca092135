"""Metrics: what is counted, and who may read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gieok import Settings
from gieok.access import ALL_SCOPES
from gieok.app.background.worker import Worker
from gieok.memory.canon.records import PersonaDraft
from tests.rest.conftest import GENEROUS, Server, serving


@pytest.fixture
def plain(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    """A client with all scopes, on each kind of database."""
    with server.client(scopes=ALL_SCOPES) as made:
        yield made


def value(client: httpx.Client, name: str, **labels: str) -> float | None:
    """The value of a metric on /metrics."""
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                return sample.value
    return None


def test_requests_are_counted_by_route_template(plain: Server) -> None:
    with plain.client(scopes=ALL_SCOPES) as client:
        for number in range(3):
            client.get(f"/api/v1/sessions/nothing-{number}")
        client.get("/no/such/path")
        route = {"method": "GET", "route": "/api/v1/sessions/{id}"}
        assert value(client, "gieok_requests_total", **route, status="404") == 3
        assert value(client, "gieok_request_seconds_count", **route) == 3
        assert value(client, "gieok_requests_total", route="unmatched", status="404") == 1
        assert "nothing-1" not in client.get("/metrics").text


def test_cycles_are_counted_by_plan_and_outcome(server: Server, client: httpx.Client) -> None:
    server.run(server.gieok.user("ana").companion.load("mina"))
    assert value(client, "gieok_cycles_total", plan="load_memories", outcome="succeeded") == 1


def test_finished_and_due_jobs_are_counted(server: Server, client: httpx.Client) -> None:
    user = server.gieok.user("ana")
    server.run(user.personas.create(PersonaDraft(name="미나"), persona_id="mina"))
    server.run(user.chat.send("mina", "내일 면접이 있어", session_ref="s1"))
    server.run(user.sessions.close("s1"))
    assert value(client, "gieok_jobs_due")
    worker = Worker(server.gieok, on_job=server.metrics.job)
    server.run(worker.run_once(server.gieok.engine.clock()))
    assert value(client, "gieok_jobs_due") == 0
    assert value(client, "gieok_jobs_total", kind="summary", outcome="done") == 1


def test_metrics_need_the_scope_operator(plain: Server) -> None:
    """They are about all owners, so the token of one of them is not enough."""
    with plain.client() as owner, plain.client(scopes={"operator"}) as operator:
        refused = owner.get("/metrics")
        assert (refused.status_code, refused.json()["error"]) == (403, "FORBIDDEN")
        assert operator.get("/metrics").status_code == 200
        assert operator.get("/api/v1/memory/list").status_code == 403


def test_metrics_open_allows_local_clients_without_a_token(embedded: Settings) -> None:
    with serving(embedded, replace(GENEROUS, metrics_open=True)) as server:
        here = httpx.get(server.url + "/metrics")
        assert here.status_code == 200
        assert here.headers["content-type"].startswith("text/plain")
        elsewhere = httpx.get(server.url + "/metrics", headers={"X-Forwarded-For": "203.0.113.9"})
        assert elsewhere.status_code == 401
