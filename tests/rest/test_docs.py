"""The API documentation: complete, and available without internet access."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gieok import Settings
from tests.rest.conftest import GENEROUS, Server, serving

ANYWHERE = {"401", "403", "413", "422", "429", "431", "500", "503"}


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS) as running:
        yield running


@pytest.fixture(scope="module")
def schema(server: Server) -> dict[str, Any]:
    return httpx.get(server.url + "/openapi.json", timeout=30).json()


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_the_page_loads_all_assets_from_the_service(server: Server) -> None:
    page = httpx.get(server.url + "/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    no_icon, *links = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert no_icon == "data:,"
    assert len(links) == 3
    for link in links:
        assert link.startswith("/docs/")
        assert httpx.get(server.url + link).status_code == 200
    assert httpx.get(server.url + "/docs/nothing.js").status_code == 404


def test_swagger_ui_supports_the_openapi_version(server: Server, schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1.")
    bundle = httpx.get(server.url + "/docs/swagger-ui-bundle.js").text
    (version,) = re.findall(r'PACKAGE_VERSION:"(\d+)\.', bundle)
    assert int(version) >= 5, "Swagger UI supports OpenAPI 3.1 from version 5 on"


def test_every_operation_needs_a_token(schema: dict[str, Any]) -> None:
    assert schema["security"] == [{"token": []}]
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert all("security" not in operation for _, operation in operations(schema))


def test_every_operation_has_a_summary_and_its_errors(schema: dict[str, Any]) -> None:
    found = list(operations(schema))
    assert len(found) > 30
    for name, operation in found:
        assert operation.get("summary"), name
        assert set(operation["responses"]) >= ANYWHERE, name
        for status in ANYWHERE:
            content = operation["responses"][status]["content"]["application/json"]
            assert content["schema"]["$ref"].endswith("/Failure"), (name, status)


def test_every_body_and_answer_has_an_example(schema: dict[str, Any]) -> None:
    without = [
        f"{name}: {reference}"
        for name, operation in operations(schema)
        for reference in _references(operation)
        if not _has_example(schema["components"]["schemas"][reference.rsplit("/", 1)[1]])
    ]
    assert without == []


def _references(operation: dict[str, Any]) -> Iterator[str]:
    parts = [operation.get("requestBody", {}), *operation["responses"].values()]
    for part in parts:
        reference = part.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref")
        if reference:
            yield reference


def _has_example(model: dict[str, Any]) -> bool:
    own = set(model.get("properties", {})) - {"success"}
    return bool(model.get("examples")) or not own
