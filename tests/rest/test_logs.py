"""What the service writes about itself, and what it must not."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from gieok import Settings
from gieok.interfaces.rest.gateway.logs import configure_logging, short_hash
from tests.rest.conftest import GENEROUS, serving


@pytest.fixture
def kept_as_it_was() -> Iterator[None]:
    """Logging goes on after the test as it was before."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines_about(settings: Settings, stream: io.StringIO) -> str:
    """What is logged about some requests of a user whose name and words are secret."""
    configure_logging(stream)
    with serving(settings, GENEROUS) as server, server.client("secret-ana") as client:
        client.get("/api/v1/memory/search", params={"personaId": "mina", "q": "secret-words"})
        client.post("/api/v1/memory/create", json={"personaId": "mina", "manualSummary": "secret-words"})
        client.get("/secret-path", headers={"X-Request-Id": "mine"})
        token = str(client.headers["authorization"]).removeprefix("Bearer ")
    assert token not in stream.getvalue()
    return stream.getvalue()


@pytest.mark.usefixtures("kept_as_it_was")
def test_a_request_is_one_line_of_json_without_a_secret(embedded: Settings) -> None:
    text = lines_about(embedded, io.StringIO())
    assert "secret" not in text
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    requests = [line for line in lines if line["logger"] == "gieok.access"]
    assert [line["route"] for line in requests] == [
        "/api/v1/memory/search",
        "/api/v1/memory/create",
        "unmatched",
    ]
    last = requests[-1]
    assert (last["requestId"], last["method"], last["status"]) == ("mine", "GET", 404)
    assert last["owner"] == short_hash("secret-ana")
    assert last["ms"] >= 0
    assert last["time"].endswith("Z")
    assert last["level"] == "info"


@pytest.mark.usefixtures("kept_as_it_was")
def test_on_a_terminal_it_is_a_line_for_a_person(embedded: Settings) -> None:
    text = lines_about(embedded, Terminal())
    assert "secret" not in text
    assert "GET /api/v1/memory/search 200" in text


@pytest.mark.usefixtures("kept_as_it_was")
@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_an_exception_is_told_by_its_kind_and_place(stream: io.StringIO) -> None:
    configure_logging(stream)
    try:
        int("secret-words")
    except ValueError:
        logging.getLogger("any").exception("it went wrong")
    assert "it went wrong" in stream.getvalue()
    assert "ValueError at test_logs.py" in stream.getvalue()
    assert "secret" not in stream.getvalue()
