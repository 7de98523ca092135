"""`/mcp` behind the gateway: token, limits, methods, origins, logs and metrics."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import httpx
import pytest

from gieok import Settings
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from tests.mcp.clients import call, over_http
from tests.rest.conftest import Server, serving

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
SECRET = "비밀이야기"


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Any:
    with serving(embedded, ServiceOptions(rate_per_second=0.001, rate_burst=12, body_bytes=4_000)) as running:
        yield running


def post(client: httpx.Client, body: Any = LIST, **headers: str) -> httpx.Response:
    return client.post("/mcp", json=body, headers=HEADERS | headers)


@pytest.mark.req("INT-2", "OPS-4")
def test_it_needs_a_token(server: Server) -> None:
    with server.client(None) as client:
        answer = post(client)
    assert (answer.status_code, answer.json()["error"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.req("INT-2")
def test_it_has_the_limits_of_every_route(server: Server) -> None:
    with server.client("ben") as client:
        assert post(client).status_code == 200
        large = post(client, LIST | {"params": {"cursor": "x" * 4_000}})
        assert (large.status_code, large.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")
        twice = client.post(
            "/mcp", content='{"id": 1, "id": 2}', headers={"Content-Type": "application/json"}
        )
        assert (twice.status_code, twice.json()["error"]) == (422, "VALIDATION_FAILED")
        limited = [post(client) for _ in range(12)][-1]
        assert (limited.status_code, limited.json()["error"]) == (429, "RATE_LIMITED")
        assert int(limited.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_streams_and_no_sessions(server: Server, method: str) -> None:
    with server.client("cho") as client:
        answer = client.request(method, "/mcp", headers={"Accept": "text/event-stream"})
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
        assert "mcp-session-id" not in post(client).headers


def test_a_web_page_may_not_call_it(server: Server) -> None:
    """It could otherwise reach a service on the user's machine under a name of its own (DNS rebinding)."""
    with server.client("dan") as client:
        for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://[", ""):
            answer = post(client, Origin=origin)
            assert (answer.status_code, answer.json()["error"]) == (403, "FORBIDDEN")
        for origin in ("http://localhost:6274", "http://127.0.0.1:6274", "http://[::1]:6274"):
            assert post(client, Origin=origin).status_code == 200


@pytest.mark.req("INT-2")
async def test_logs_and_metrics_name_the_route_and_no_content(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with over_http(server, server.token("eve"), "2025-11-25") as client:
        await call(client, "remember", text=SECRET, personaId="p")
        await client.call_tool("recall", {"query": SECRET, "personaId": "p", SECRET: SECRET})
    served = [record for record in caplog.records if record.name in ("gieok.access", "mcp.server", "gieok")]
    assert {getattr(record, "fields", {}).get("route") for record in served} == {"/mcp"}
    logged = "".join(record.getMessage() for record in caplog.records if record.levelno >= logging.INFO)
    assert SECRET not in logged
    metrics = server.metrics.exposition(0).decode()
    assert 'route="/mcp",status="200"' in metrics
    assert 'gieok_cycles_total{outcome="succeeded",plan="create_memory"}' in metrics


def test_the_package_is_loaded_by_the_first_request_only() -> None:
    """A service that nobody asks over MCP does not pay for it."""
    code = "import sys, gieok.interfaces.rest.app; print('mcp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
