"""The command line in a home of its own, as the tests of the commands have it."""

from __future__ import annotations

from tests.cli.conftest import home, run, url

__all__ = ["home", "run", "url"]
