"""The TypeScript client: generated types, build, and both entry points against the service."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gieok import Settings
from tests.clients import NODE
from tests.rest.conftest import GENEROUS, Server, embedded, serving
from tests.typescript.generate import ROOT, SCHEMA, generate, is_installed, openapi

__all__ = ["embedded"]
pytestmark = [
    pytest.mark.req("INT-5"),
    pytest.mark.xdist_group("typescript"),  # they share one build
    pytest.mark.skipif(not is_installed(), reason="needs the packages that `make clients` installs"),
]


@pytest.fixture(scope="module")
def service(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS) as running:
        yield running


@pytest.fixture(scope="module")
def built() -> None:
    """Compile the client."""
    ran = subprocess.run(
        [NODE, "node_modules/typescript/bin/tsc"], cwd=ROOT, capture_output=True, check=False, timeout=100
    )
    assert ran.returncode == 0, ran.stdout.decode()


def run(script: str, service: Server, user: str) -> dict[str, Any]:
    """What a script of the client prints."""
    command = [NODE, f"test/{script}", service.url, service.token(user)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=100)
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


async def test_the_types_are_those_of_the_service(tmp_path: Path) -> None:
    """After a change of the API, run `python -m tests.typescript.generate`."""
    assert SCHEMA.read_text(encoding="utf-8") == generate(await openapi(tmp_path), tmp_path)


@pytest.mark.usefixtures("built")
def test_the_client(service: Server) -> None:
    seen = run("client.mjs", service, "typescript")
    assert "Momo" in seen["changes"][0]["fact"]["value"]
    assert len(set(seen["turns"])) == 1
    assert "Momo" in seen["text"]
    assert (seen["reply"], seen["log"][-1]) == (seen["text"], seen["text"])
    assert seen["found"] >= 1
    assert len(seen["log"]) == 4
    assert seen["failures"] == [
        [True, 404, "NOT_FOUND", None],
        [True, 422, "VALIDATION_FAILED", "message"],
        [True, 401, "UNAUTHENTICATED", None],
    ]


@pytest.mark.usefixtures("built")
def test_the_middleware_of_the_ai_sdk(service: Server) -> None:
    """Both messages are saved, and another conversation recalls them; its own system message stays."""
    seen = run("ai.mjs", service, "ai-sdk")
    first, second, _ = seen["systems"]
    assert "You are Hana." in first[0]
    assert "Momo" in second[0]
    assert second[1] == "Be brief."
    assert seen["streamed"] == ["Of course.", "Of course."]
    assert seen["log"] == ["I have a cat called Momo.", "I see."]
    assert seen["later"] == [["I am back.", "Of course."]]
