"""One service for all pages that call it, with the home folder of whoever runs it."""

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
    """`gieok serve`, as a real process."""

    home: Path
    url: str

    def token(self, user: str) -> str:
        """A new token of a user, made as an operator makes one."""
        made = subprocess.run(
            [program(), "token", "create", "--user", user],
            env=_environ(self.home),
            capture_output=True,
            check=True,
        )
        return re.findall(r"gk_[\w-]{43}", made.stdout.decode())[0]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Started when the first page asks for it."""
    home = tmp_path_factory.mktemp("served")
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
