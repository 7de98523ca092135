"""Clients of the npm ecosystem: the inspector's command line, and the conformance suite of the protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from gieok import Settings
from gieok.memory.canon.records import PersonaDraft
from tests.cli.conftest import program
from tests.clients import FOLDER, run_node, version_of
from tests.docs.generated import DOCS
from tests.mcp.clients import MODES
from tests.rest.conftest import GENEROUS, Server, serving
from tests.service.process import Place

INSPECTOR = "@modelcontextprotocol/inspector"
CONFORMANCE = "@modelcontextprotocol/conformance"

FIXTURE = "fixture"
"""The check calls a tool or a resource that only the suite's own test server has."""
NOT_OFFERED = "not offered"
"""The check needs an optional feature of the protocol that Gieok does not offer and does not announce."""
UNMET: dict[str, dict[str, str]] = {
    "completion-complete": {"completion-complete": NOT_OFFERED},
    "logging-set-level": {"logging-set-level": NOT_OFFERED},
    "prompts-list": {"prompts-list": NOT_OFFERED},
    "prompts-get-simple": {"prompts-get-simple": NOT_OFFERED},
    "prompts-get-with-args": {"prompts-get-with-args": NOT_OFFERED},
    "prompts-get-embedded-resource": {"prompts-get-embedded-resource": NOT_OFFERED},
    "prompts-get-with-image": {"prompts-get-with-image": NOT_OFFERED},
    "resources-subscribe": {"resources-subscribe": NOT_OFFERED},
    "resources-unsubscribe": {"resources-unsubscribe": NOT_OFFERED},
    "caching": {"sep-2549-prompts-list-caching-hints": NOT_OFFERED},
    "tools-call-simple-text": {"tools-call-simple-text": FIXTURE},
    "tools-call-image": {"tools-call-image": FIXTURE},
    "tools-call-audio": {"tools-call-audio": FIXTURE},
    "tools-call-embedded-resource": {"tools-call-embedded-resource": FIXTURE},
    "tools-call-mixed-content": {"tools-call-mixed-content": FIXTURE},
    "tools-call-with-logging": {"tools-call-with-logging": FIXTURE},
    "tools-call-error": {"tools-call-error": FIXTURE},
    "tools-call-with-progress": {"tools-call-with-progress": FIXTURE},
    "tools-call-sampling": {"tools-call-sampling": FIXTURE},
    "tools-call-elicitation": {"tools-call-elicitation": FIXTURE},
    "json-schema-2020-12": {"json-schema-2020-12-tool-found": FIXTURE},
    "elicitation-sep1034-defaults": {"elicitation-sep1034-general": FIXTURE},
    "elicitation-sep1330-enums": {"elicitation-sep1330-general": FIXTURE},
    "resources-read-text": {"resources-read-text": FIXTURE},
    "resources-read-binary": {"resources-read-binary": FIXTURE},
    "resources-templates-read": {"resources-templates-read": FIXTURE},
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": FIXTURE,
        "sep-2575-missing-capability-http-400": FIXTURE,
        "sep-2575-http-server-no-independent-requests-on-stream": FIXTURE,
        "sep-2575-server-no-log-without-loglevel": FIXTURE,
    },
    "http-custom-header-server-validation": {
        "sep-2243-server-no-xmcp-tool": FIXTURE,
        "sep-2243-server-decode-base64": FIXTURE,
        "sep-2243-server-validate-param-match": FIXTURE,
        "sep-2243-server-reject-invalid-param-chars": FIXTURE,
        "sep-2243-server-reject-param-mismatch": FIXTURE,
    },
    "input-required-result-basic-elicitation": {"sep-2322-elicitation-incomplete": FIXTURE},
    "input-required-result-basic-sampling": {"sep-2322-sampling-incomplete": FIXTURE},
    "input-required-result-basic-list-roots": {"sep-2322-list-roots-incomplete": FIXTURE},
    "input-required-result-request-state": {"sep-2322-request-state-incomplete": FIXTURE},
    "input-required-result-multiple-input-requests": {"sep-2322-multiple-inputs-incomplete": FIXTURE},
    "input-required-result-multi-round": {"sep-2322-multi-round-r1": FIXTURE},
    "input-required-result-non-tool-request": {"sep-2322-non-tool-incomplete": NOT_OFFERED},
    "input-required-result-result-type": {"sep-2322-result-type-included": FIXTURE},
    "input-required-result-tampered-state": {"sep-2322-reject-tampered-state": FIXTURE},
    "input-required-result-capability-check": {"sep-2322-respect-client-capabilities": FIXTURE},
}
"""The checks of each scenario that Gieok does not meet, with the reason. Every other check must pass."""
MET = {
    "2025-11-25": {"server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"},
    "2026-07-28": {
        "tools-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "http-header-validation",
    },
}
"""Scenarios that pass as a whole."""


LACKS = (
    "Unknown tool: test_",
    "Tool 'json_schema_2020_12_tool' not found",
    "Method not found",
    "no such resource",
    "does not list the diagnostic tool",
    "exposes no tool with x-mcp-header",
    "Expected InputRequiredResult",
    "could not get initial InputRequiredResult",
)
"""What the suite says of a server without its fixtures."""
GIVEN = ("GIEOK_", "HOME", "PYTHONPATH", "XDG_")
"""Variables that `gieok mcp` needs here. The inspector passes only what it is told to."""


class WithToken:
    """Adds a token to each request: the suite cannot send one."""

    token = ""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {self.token}".encode())]
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    """A service that anybody may call as ana, who has one persona."""

    def extend(app: FastAPI) -> None:
        app.add_middleware(WithToken)

    with serving(embedded, GENEROUS, extend=extend) as running:
        WithToken.token = running.token("ana")
        running.run(running.gieok.user("ana").personas.create(PersonaDraft(name="하나")))
        yield running


@pytest.mark.req("INT-2")
@pytest.mark.parametrize("revision", sorted(MODES))
def test_conformance(server: Server, revision: str, tmp_path: Path) -> None:
    """All scenarios of a revision. Failures are exactly those of UNMET, and each for its reason."""
    run = run_node(
        CONFORMANCE,
        "dist/index.js",
        *("server", "--url", f"{server.url}/mcp", "--suite", "all", "--spec-version", revision),
        *("-o", str(tmp_path)),
    )
    checks = {_scenario(file): json.loads(file.read_text("utf-8")) for file in tmp_path.glob("*/checks.json")}
    assert len(checks) > 30, run.stderr
    for scenario, results in checks.items():
        failed = {each["id"]: each.get("errorMessage", "") for each in results if each["status"] == "FAILURE"}
        assert set(failed) == set(UNMET.get(scenario, ())), (scenario, failed)
        assert all(_is_because(UNMET[scenario][check], message) for check, message in failed.items()), failed
    passed = {
        name for name, results in checks.items() if any(each["status"] == "SUCCESS" for each in results)
    }
    assert passed - set(UNMET) >= MET[revision]


def _scenario(file: Path) -> str:
    """The name of the folder is `server-NAME-TIME`."""
    return re.sub(r"-\d{4}-\d\d-\d\dT[\dZ-]+$", "", file.parent.name).removeprefix("server-")


def _is_because(reason: str, message: str) -> bool:
    """Whether the message of a failure says that the server lacks something, rather than doing it wrongly."""
    if reason == NOT_OFFERED:
        return "Method not found" in message
    return any(sign in message for sign in LACKS)


def test_the_page_lists_what_is_not_met() -> None:
    text = (DOCS / "howto/mcp.md").read_text("utf-8")
    assert [scenario for scenario in UNMET if f"`{scenario}`" not in text] == []


@pytest.mark.parametrize("page", ["howto/mcp.md", "howto/mcp.ko.md"])
def test_the_page_names_the_versions(page: str) -> None:
    packages = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    text = (DOCS / page).read_text("utf-8")
    for package in (INSPECTOR, CONFORMANCE):
        assert f"`{package}` | {packages[package]} |" in text


def inspect(*arguments: str, place: Place | None = None) -> Any:
    """The answer that the inspector prints."""
    folder = place.folder if place else None
    run = run_node(INSPECTOR, "clients/launcher/build/index.js", "--cli", *arguments, cwd=folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout)


@pytest.mark.req("INT-2")
def test_the_inspector_over_http(server: Server) -> None:
    url = f"{server.url}/mcp"
    tools = inspect(url, "--method", "tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools][:2] == ["recall", "remember"]
    _remember_and_recall(url)
    (card, _state) = inspect(url, "--method", "resources/list")["resources"]
    read = inspect(url, "--method", "resources/read", "--uri", card["uri"])
    assert json.loads(read["contents"][0]["text"])["name"] == "하나"


@pytest.mark.req("INT-2")
def test_the_inspector_over_stdio(tmp_path: Path) -> None:
    version_of(INSPECTOR)
    place = Place(tmp_path, f"sqlite:///{tmp_path / 'gieok.db'}")
    given = {name: value for name, value in place.environ.items() if name.startswith(GIVEN)}
    settings = [part for name, value in given.items() for part in ("-e", f"{name}={value}")]
    _remember_and_recall(*settings, program(), "mcp", place=place)


def _remember_and_recall(*target: str, place: Place | None = None) -> None:
    call = ("--method", "tools/call", "--tool-name")
    text = "지수는 3월에 부산으로 이사했다."
    saved = inspect(*target, *call, "remember", "--tool-arg", f"text={text}", "importance=7", place=place)
    assert saved["structuredContent"]["memory"]["importance"] == 7
    found = inspect(*target, *call, "recall", "--tool-arg", "query=부산 이사", place=place)
    assert found["structuredContent"]["hits"][0]["text"] == text
