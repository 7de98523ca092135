"""A local model server, and settings of Gieok on SQLite with a model on that server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gieok import Settings
from gieok.testing.model_server import Api, ModelServer
from gieok.testing.settings import settings_for


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as listening:
        yield listening


@pytest.fixture(params=["openai", "anthropic", "google"])
def api(request: pytest.FixtureRequest) -> Api:
    """Each API in turn."""
    return request.param


@pytest.fixture
def remote(server: ModelServer, api: Api, tmp_path: Path) -> Settings:
    """Settings with a model of this API on the local server."""
    return replace(
        settings_for(f"sqlite:///{tmp_path / 'data' / 'gieok.db'}", tmp_path / "config" / "root.key"),
        model=f"{api}:test-model",
        model_base_url=server.url(api),
        secrets={"GIEOK_MODEL_API_KEY": "k3y"},
    )
