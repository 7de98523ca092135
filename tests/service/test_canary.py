"""A text that is sent in every field must not appear in clear on disk, in a log or in an error.

The fields come from the OpenAPI document, so that a new field is covered automatically.
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
from tests.rest.test_isolation import create_one_of_each
from tests.service.encodings import encodings_of, occurrences
from tests.service.fields import Attempt, Fields
from tests.service.process import Place, Service

WORD = f"qz{secrets.token_hex(8)}"
OWNER = f"ana-{secrets.token_hex(8)}"
HANGUL = "".join(chr(0xAC00 + secrets.randbelow(11_172)) for _ in range(6))
TEXT = f"{HANGUL} {WORD} {{}}."
"""A space and a full stop are not allowed in an id, so the text is refused as one."""
STORED = 28
"""Fields that store the text, at least. Without this the test could pass by storing nothing."""
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
async def test_no_sent_text_is_found_in_clear(
    place: Place, database_url: str, request: pytest.FixtureRequest
) -> None:
    """In no encoding, while the service runs and after it has stopped."""
    server: Postgres | None = None
    if database_url.startswith("postgresql:"):
        server = request.getfixturevalue("postgres")
    behind = Behind(place.settings, server, place.folder)
    if server is not None:
        behind.run(f"ALTER DATABASE {database_url.rsplit('/', 1)[1]} SET log_statement = 'all'")
    token, other = (await place.tokens(OWNER, "bora", plan="premium")).values()
    with Service(place) as service, _client(service, token) as ana, _client(service, other) as bora:
        leaks = list(_send_everywhere(ana))
        export = ana.get("/api/v1/me/export").content
        assert bora.post("/api/v1/me/import", content=export).status_code == 200
        leaks += _send_broken_imports(bora, export)
        assert leaks == []
        assert _stored(export) >= STORED
        if server is None:
            place.run("backup", str(place.folder / "backup"))
        assert _occurrences(behind, server, WORD, HANGUL) == []
        service.stop()
    assert _occurrences(behind, server, WORD, HANGUL) == []
    assert _occurrences(behind, server, OWNER), "an owner's name is in clear, so the check must find it"
    assert place.log.stat().st_size > 0


@pytest.mark.parametrize("before", range(3))
def test_every_encoding_is_recognised(before: int) -> None:
    """The check itself finds the text inside other bytes, and nothing in unrelated bytes."""
    content = "가" * before + TEXT
    for encoded in encodings_of(content).values():
        assert occurrences(b"\x07" + encoded + b"\x08", [WORD])
    assert occurrences(b"\x07" * 100, [WORD, HANGUL]) == []


def _client(service: Service, token: str) -> httpx.Client:
    return httpx.Client(
        base_url=service.url, headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=False
    )


def _send_everywhere(client: httpx.Client) -> Iterator[str]:
    """Send the text in each place. Yields the places where an error repeated it."""
    api = Api(client)
    ids = create_one_of_each(api)
    ids["session"] = api.post("/sessions", {"personaId": ids["persona"]}, 201)["sessionId"]
    for attempt in Fields(api.http.get("/openapi.json").json(), ids).attempts(TEXT):
        answer = _send(client, attempt)
        assert answer.status_code < 500, (attempt.place, answer.text)
        if answer.status_code >= 400 and occurrences(answer.content, [WORD, HANGUL]):
            yield f"{attempt.place}: {answer.text}"
    for name in ("Accept-Language", "User-Agent", "X-Request-Id", "Cookie", "Content-Type", "Authorization"):
        attempt = Attempt(name, "POST", "/api/v1/memory/create", headers={name: TEXT}, body={})
        if occurrences(_send(client, attempt).content, [WORD, HANGUL]):
            yield name
    if occurrences(client.get(f"/{TEXT}?{TEXT}={TEXT}").content, [WORD, HANGUL]):
        yield "a path that does not exist"


def _send(client: httpx.Client, attempt: Attempt) -> httpx.Response:
    headers = {name.encode(): value.encode() for name, value in attempt.headers.items()}
    return client.request(
        attempt.method, attempt.path, params=attempt.query, headers=headers, json=attempt.body
    )


def _send_broken_imports(client: httpx.Client, export: bytes) -> Iterator[str]:
    """Send truncated and invalid imports. Yields the errors that repeat their text."""
    first, *rest = export.splitlines(keepends=True)
    lines = (b"".join(rest[:-1]), TEXT.encode(), json.dumps({"kind": TEXT}).encode())
    for stream in (first + each for each in lines):
        answer = client.post("/api/v1/me/import", content=stream)
        assert answer.status_code == 422
        if occurrences(answer.content, [WORD, HANGUL]):
            yield answer.text


def _stored(export: bytes) -> int:
    """The number of the texts that are in the export."""
    text = export.decode()
    return sum(TEXT.format(number) in text for number in range(1_000))


def _occurrences(behind: Behind, server: Postgres | None, *texts: str) -> list[str]:
    """Where the texts occur: in the values of each table and the bytes of each file."""
    found = [
        f"{table}: {form}"
        for (table,) in behind.run(_TABLES["postgresql" if server else "sqlite"])
        for row in behind.run(f"SELECT * FROM {table}")
        for value in row
        for form in occurrences(_bytes(value), texts)
    ]
    logs = [server.folder / "log"] if server else []  # it logs every statement with its parameters
    for path in {*behind.files(), *logs}:
        found += [f"{path.name}: {form}" for form in occurrences(path.read_bytes(), texts)]
    return found


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
