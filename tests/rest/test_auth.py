"""Authentication and scopes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from gieok import Settings
from tests.rest.conftest import GENEROUS, Server, serving


@pytest.fixture(scope="module")
def plain(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS) as running:
        yield running


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/docs", "/docs/swagger-ui.css", "/openapi.json", "/v1/openapi.json"]
)
def test_public_paths_need_no_token(plain: Server, path: str) -> None:
    assert httpx.get(plain.url + path, timeout=60).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/memory/list", "/metrics", "/nothing", "/docsx", "/healthz/x"])
def test_every_other_path_needs_a_token(plain: Server, path: str) -> None:
    answer = httpx.get(plain.url + path)
    assert (answer.status_code, answer.json()["error"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_authentication_comes_before_the_body(plain: Server) -> None:
    answer = httpx.post(plain.url + "/api/v1/memory/create", content=b"{broken")
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"token",
        b"Bearer",
        b"Basic YTpi",
        b"Bearer nonsense",
        b"Bearer a b c",
        b"Bearer \xff\xfe",
        b"Bearer " + b"x" * 5000,
        b"Bearer gk_" + b"A" * 43,
    ],
)
def test_an_invalid_token_is_refused_without_a_reason(plain: Server, header: bytes) -> None:
    answers = [
        httpx.get(plain.url + "/api/v1/memory/list", headers={b"Authorization": header}),
        httpx.get(plain.url + "/api/v1/memory/list"),
    ]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()


def test_the_scheme_is_case_insensitive(plain: Server) -> None:
    headers = {"Authorization": f"bearer {plain.token()}"}
    assert httpx.get(plain.url + "/api/v1/memory/list", headers=headers).status_code == 200


def test_a_revoked_token_is_refused_at_once(server: Server) -> None:
    made = server.run(server.gieok.tokens.create("ana"))
    headers = {"Authorization": f"Bearer {made.token}"}
    with httpx.Client(base_url=server.url, headers=headers) as client:
        assert client.get("/api/v1/memory/list").status_code == 200
        server.run(server.gieok.tokens.revoke(made.record.id))
        assert client.get("/api/v1/memory/list").status_code == 401


def test_the_token_of_an_erased_owner_is_refused(server: Server, client: httpx.Client) -> None:
    assert client.get("/api/v1/memory/list").status_code == 200
    server.run(server.gieok.user("ana").data.erase())
    answer = client.get("/api/v1/memory/list")
    assert (answer.status_code, answer.json()["error"]) == (401, "UNAUTHENTICATED")


def test_an_expired_token_is_refused(plain: Server) -> None:
    soon = datetime.now(UTC) + timedelta(milliseconds=200)
    headers = {"Authorization": f"Bearer {plain.token('cem', expires_at=soon)}"}
    with httpx.Client(base_url=plain.url, headers=headers) as client:
        while client.get("/api/v1/memory/list").status_code == 200:
            pass
        assert client.get("/api/v1/memory/list").status_code == 401


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("read", "GET", "/api/v1/memory/list"),
        ("write", "POST", "/api/v1/sessions"),
        ("owner", "DELETE", "/api/v1/me"),
    ],
)
def test_a_token_without_the_scope_is_refused(plain: Server, scope: str, method: str, path: str) -> None:
    others = {"read", "write", "owner"} - {scope}
    headers = {"Authorization": f"Bearer {plain.token('dana', scopes=others)}"}
    body = {"personaId": "mina"} if method == "POST" else None
    answer = httpx.request(method, plain.url + path, headers=headers, json=body)
    assert (answer.status_code, answer.json()["error"]) == (403, "FORBIDDEN")
    assert f"lacks the scope '{scope}'" in answer.json()["message"]


def test_two_authorization_headers_are_refused(server: Server) -> None:
    """A proxy in front of the service may have checked the other one."""
    bearer = ("Authorization", f"Bearer {server.token()}")
    with server.client(None) as client:
        assert client.get("/api/v1/memory/list", headers=[bearer]).status_code == 200
        assert client.get("/api/v1/memory/list", headers=[bearer, bearer]).status_code == 401
