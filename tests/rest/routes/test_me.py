"""Export, import and erasure over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import replace
from uuid import uuid4

import pytest

from gieok import Settings
from gieok.app.owner_data import OwnerData
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api


@pytest.mark.req("OPS-3")
def test_an_export_can_be_imported(shared: Server, api: Api) -> None:
    """By another owner. Importing twice changes nothing."""
    memory = api.memory(api.persona(), "내일 중요한 면접이 있음")
    exported = api.http.get("/api/v1/me/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert lines[0]["kind"] == "gieok"
    assert lines[-1] == {"kind": "end", "records": len(lines) - 2}
    assert "내일 중요한 면접이 있음" in exported.text
    with shared.client(f"heir-{uuid4()}") as client:
        heir = Api(client)
        previewed = heir.call("POST", "/me/import?dryRun=true", content=exported.content)
        assert heir.call("GET", f"/memory/{memory['id']}", 404)
        taken = heir.call("POST", "/me/import", content=exported.content)
        assert taken == previewed
        assert (taken["imported"]["memory"], taken["unchanged"]) == (1, 0)
        assert heir.get(f"/memory/{memory['id']}")["memory"] == memory
        again = heir.call("POST", "/me/import", content=exported.content)
        assert (sum(again["imported"].values()), again["unchanged"]) == (0, len(lines) - 2)


@pytest.mark.parametrize("content", [b"", b"nonsense\n", b'{"kind":"gieok","format":99}\n'])
def test_an_invalid_import_is_refused(api: Api, content: bytes) -> None:
    assert api.call("POST", "/me/import", 422, content=content)["error"] == "VALIDATION_FAILED"


def test_a_truncated_import_changes_nothing(shared: Server, api: Api) -> None:
    api.memory("hana", "이야기")
    whole = api.http.get("/api/v1/me/export").content
    with shared.client(f"heir-{uuid4()}") as client:
        heir = Api(client)
        heir.call("POST", "/me/import", 422, content=whole[: whole.rindex(b"\n", 0, -1) + 1])
        assert heir.get("/memory/list")["total"] == 0


@pytest.mark.req("OPS-3")
def test_erasure_deletes_all_data(shared: Server) -> None:
    """The receipt counts the deleted rows. The token is refused from then on."""
    with shared.client(f"owner-{uuid4()}") as client:
        api = Api(client)
        api.memory(api.persona(), "이야기")
        receipt = api.call("DELETE", "/me")
        assert receipt["keyDestroyed"] is True
        assert (receipt["erased"]["memories"], receipt["erased"]["auditEntries"] > 0) == (1, True)
        assert not [name for name in receipt["erased"] if "_" in name]
        assert api.get("/memory/list", 401)["error"] == "UNAUTHENTICATED"


def test_export_import_and_erasure_need_the_scope_owner(shared: Server) -> None:
    """The scopes read and write are not enough."""
    token = shared.token(f"owner-{uuid4()}", scopes=frozenset({"read", "write"}))
    with shared.client(None) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        api = Api(client)
        api.memory("hana", "이야기")
        for method, path in (("GET", "/me/export"), ("POST", "/me/import"), ("DELETE", "/me")):
            refused = api.call(method, path, 403)
            assert (refused["error"], "owner" in refused["message"]) == ("FORBIDDEN", True)
        assert api.get("/memory/list")["total"] == 1


def test_exports_of_one_owner_do_not_block_others(
    embedded: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as there are request slots and more: one runs, some wait, the rest is refused."""
    release = threading.Event()

    async def export(_: OwnerData) -> AsyncIterator[bytes]:
        await asyncio.to_thread(release.wait, 60)
        yield b""

    monkeypatch.setattr(OwnerData, "export", export)
    with (
        serving(embedded, replace(GENEROUS, wait_seconds=0.2)) as server,
        server.client("ben") as ben,
        ExitStack() as held,
    ):
        token = server.token("ana")
        head = f"GET /api/v1/me/export HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n"
        exports = [
            held.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            for _ in range(300)
        ]
        for connection in exports:
            connection.sendall(head.encode())
        assert ben.get("/api/v1/memory/list").status_code == 200
        refused = sum(connection.recv(100).startswith(b"HTTP/1.1 429") for connection in exports[1:])
        release.set()
        assert exports[0].recv(100).startswith(b"HTTP/1.1 200")
    assert refused == 299


@pytest.mark.req("MIND-7")
def test_a_profile_keeps_what_is_not_given(api: Api) -> None:
    assert api.get("/me/profile") == {"success": True}
    api.call("PUT", "/me/profile", json={"displayName": "민수", "timezone": "Asia/Seoul"})
    changed = api.call("PUT", "/me/profile", json={"language": "ko", "timezone": "Europe/Berlin"})
    assert changed == api.get("/me/profile")
    assert changed == {
        "success": True,
        "displayName": "민수",
        "timezone": "Europe/Berlin",
        "language": "ko",
    }
    assert "displayName" not in api.call("PUT", "/me/profile", json={"displayName": None})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timezone", "Mars/Olympus"),
        ("timezone", ""),
        ("timezone", "../../etc/passwd"),
        ("timezone", 9),
        ("language", "fr"),
        ("displayName", "  "),
        ("displayName", "가" * 129),
        ("nickname", "민수"),
    ],
)
def test_an_invalid_profile_is_refused_and_changes_nothing(api: Api, field: str, value: object) -> None:
    before = api.get("/me/profile")
    refused = api.call("PUT", "/me/profile", 422, json={"language": "en", field: value})
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", field)
    assert api.get("/me/profile") == before
