"""Settings that use a cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gieok import Settings
from tests.redis_server import RedisServer


@pytest.fixture
def cached(settings: Settings, redis_server: RedisServer) -> Settings:
    """The settings with the cache."""
    return replace(settings, cache_url=redis_server.url)
