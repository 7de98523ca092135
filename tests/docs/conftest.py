"""A running service for the pages that call it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import program


@dataclass(frozen=True)
class Service:
    """A `gieok serve` process and its home folder."""

    home: Path
    url: str

    def token(self, user: str) -> str:
        """Create a token for a user on the command line."""
        made = subprocess.run(
            [program(), "token", "create", "--user", user],
            env=_environ(self.home),
            capture_output=True,
            check=True,
        )
        return re.findall(r"gk_[\w-]{43}", made.stdout.decode())[0]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all pages, started on first use."""
    home = tmp_path_factory.mktemp("service")
    started = subprocess.Popen(
        [program(), "serve", "--port", "0", "--lang", "en"],
        env=_environ(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with started:
        try:
            assert started.stdout is not None
            (url,) = re.findall(r"http://\S+?:\d+(?= )", started.stdout.readline())
            yield Service(home, url)
        finally:
            started.terminate()


def _environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
