"""A text that is sent through every field is found nowhere afterwards: on no disk, in no log, in no error.

The fields come from the OpenAPI document, so that a new one is covered by itself.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.behind import Behind
from tests.postgres import Postgres
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import things
from tests.service.fields import Attempt, Fields
from tests.service.forms import forms_of, found_in
from tests.service.process import Place, Service

WORD = f"qz{secrets.token_hex(8)}"
OWNER = f"ana-{secrets.token_hex(8)}"
HANGUL = "".join(chr(0xAC00 + secrets.randbelow(11_172)) for _ in range(6))
TEXT = f"{HANGUL} {WORD} {{}}."
"""With a space and a full stop: no name may have them, so where a name belongs it is refused."""
STORED = 28
"""So many fields keep what they are given, at least: a text that goes nowhere is found nowhere."""
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": """
        SELECT '"' || table_schema || '"."' || table_name || '"' FROM information_schema.tables
        WHERE table_schema NOT IN ('pg_catalog', 'information_schema')""",
}


@pytest.fixture
def place(database_url: str, tmp_path: Path) -> Place:
    return Place(tmp_path, database_url)


@pytest.mark.req("OPS-2")
@pytest.mark.timeout(300)
async def test_what_was_sent_is_found_nowhere(
    place: Place, database_url: str, request: pytest.FixtureRequest
) -> None:
    """In no form, while the service runs and after it has ended."""
    server: Postgres | None = None
    if database_url.startswith("postgresql:"):
        server = request.getfixturevalue("postgres")
    behind = Behind(place.settings, server, place.folder)
    if server is not None:
        behind.run(f"ALTER DATABASE {database_url.rsplit('/', 1)[1]} SET log_statement = 'all'")
    token, other = (await place.tokens(OWNER, "bora", plan="premium")).values()
    with Service(place) as service, _client(service, token) as ana, _client(service, other) as bora:
        told = list(_send_everywhere(ana))
        export = ana.get("/api/v1/me/export").content
        assert bora.post("/api/v1/me/import", content=export).status_code == 200
        told += _send_broken_imports(bora, export)
        assert told == []
        assert _stored(export) >= STORED
        if server is None:
            place.run("backup", str(place.folder / "backup"))
        assert _left(behind, server, WORD, HANGUL) == []
        service.end()
    assert _left(behind, server, WORD, HANGUL) == []
    assert _left(behind, server, OWNER), "names lie in clear, so one that is not found was not looked for"
    assert place.log.stat().st_size > 0


@pytest.mark.parametrize("before", range(3))
def test_every_form_is_recognised(before: int) -> None:
    """The search itself: it finds the text in the midst of other things, and not what was never there."""
    content = "가" * before + TEXT
    for form in forms_of(content).values():
        assert found_in(b"\x07" + form + b"\x08", [WORD])
    assert found_in(b"\x07" * 100, [WORD, HANGUL]) == []


def _client(service: Service, token: str) -> httpx.Client:
    return httpx.Client(
        base_url=service.url, headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=False
    )


def _send_everywhere(client: httpx.Client) -> Iterator[str]:
    """Send the text in each place; the places where an error told it."""
    api = Api(client)
    names = things(api)
    names["session"] = api.post("/sessions", {"personaId": names["persona"]}, 201)["sessionId"]
    for attempt in Fields(api.http.get("/openapi.json").json(), names).attempts(TEXT):
        answer = _send(client, attempt)
        assert answer.status_code < 500, (attempt.place, answer.text)
        if answer.status_code >= 400 and found_in(answer.content, [WORD, HANGUL]):
            yield f"{attempt.place}: {answer.text}"
    for name in ("Accept-Language", "User-Agent", "X-Request-Id", "Cookie", "Content-Type", "Authorization"):
        attempt = Attempt(name, "POST", "/api/v1/memory/create", headers={name: TEXT}, body={})
        if found_in(_send(client, attempt).content, [WORD, HANGUL]):
            yield name
    if found_in(client.get(f"/{TEXT}?{TEXT}={TEXT}").content, [WORD, HANGUL]):
        yield "a path that does not exist"


def _send(client: httpx.Client, attempt: Attempt) -> httpx.Response:
    headers = {name.encode(): value.encode() for name, value in attempt.headers.items()}
    return client.request(
        attempt.method, attempt.path, params=attempt.query, headers=headers, json=attempt.body
    )


def _send_broken_imports(client: httpx.Client, export: bytes) -> Iterator[str]:
    """Streams that are cut off, or hold what no record has: their error names a line and no word of it."""
    first, *rest = export.splitlines(keepends=True)
    lines = (b"".join(rest[:-1]), TEXT.encode(), json.dumps({"kind": TEXT}).encode())
    for stream in (first + each for each in lines):
        answer = client.post("/api/v1/me/import", content=stream)
        assert answer.status_code == 422
        if found_in(answer.content, [WORD, HANGUL]):
            yield answer.text


def _stored(export: bytes) -> int:
    """How many of the numbered texts are among what the owner has."""
    text = export.decode()
    return sum(TEXT.format(number) in text for number in range(1_000))


def _left(behind: Behind, server: Postgres | None, *texts: str) -> list[str]:
    """Where a text is found: in the values of each table, and in the bytes of each file."""
    found = [
        f"{table}: {form}"
        for (table,) in behind.run(_TABLES["postgresql" if server else "sqlite"])
        for row in behind.run(f"SELECT * FROM {table}")
        for value in row
        for form in found_in(_bytes(value), texts)
    ]
    logs = [server.folder / "log"] if server else []  # of every statement, with its parameters
    for path in {*behind.files(), *logs}:
        found += [f"{path.name}: {form}" for form in found_in(path.read_bytes(), texts)]
    return found


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
