"""The log: its format, and no secret content in it."""

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
def restore_logging() -> Iterator[None]:
    """Restore the logging configuration after the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines_about(settings: Settings, stream: io.StringIO) -> str:
    """The log of some requests that contain secrets."""
    configure_logging(stream)
    with serving(settings, GENEROUS) as server, server.client("secret-ana") as client:
        client.get("/api/v1/memory/search", params={"personaId": "mina", "q": "secret-words"})
        client.post("/api/v1/memory/create", json={"personaId": "mina", "manualSummary": "secret-words"})
        client.get("/secret-path", headers={"X-Request-Id": "mine"})
        token = str(client.headers["authorization"]).removeprefix("Bearer ")
    assert token not in stream.getvalue()
    return stream.getvalue()


@pytest.mark.usefixtures("restore_logging")
def test_a_request_is_one_json_line_without_secrets(embedded: Settings) -> None:
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


@pytest.mark.usefixtures("restore_logging")
def test_a_request_is_one_text_line_on_a_terminal(embedded: Settings) -> None:
    text = lines_about(embedded, Terminal())
    assert "secret" not in text
    assert "GET /api/v1/memory/search 200" in text


@pytest.mark.usefixtures("restore_logging")
@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_an_exception_is_logged_with_its_type_and_place(stream: io.StringIO) -> None:
    configure_logging(stream)
    try:
        int("secret-words")
    except ValueError:
        logging.getLogger("any").exception("it went wrong")
    assert "it went wrong" in stream.getvalue()
    assert "ValueError at test_logs.py" in stream.getvalue()
    assert "secret" not in stream.getvalue()
