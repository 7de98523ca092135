"""A provider on this machine, and Gieok on SQLite with a model that asks it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gieok import Settings
from gieok.testing.model_server import ModelServer, Wire
from gieok.testing.settings import settings_for


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as listening:
        yield listening


@pytest.fixture(params=["openai", "anthropic", "google"])
def wire(request: pytest.FixtureRequest) -> Wire:
    """Each protocol in turn."""
    return request.param


@pytest.fixture
def remote(server: ModelServer, wire: Wire, tmp_path: Path) -> Settings:
    """Settings that name a model of this provider, at the server on this machine."""
    return replace(
        settings_for(f"sqlite:///{tmp_path / 'data' / 'gieok.db'}", tmp_path / "config" / "root.key"),
        model=f"{wire}:test-model",
        model_base_url=server.url(wire),
        secrets={"GIEOK_MODEL_API_KEY": "k3y"},
    )
