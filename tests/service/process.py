"""A real `gieok serve` process with its own folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

from gieok import Gieok, Settings
from gieok.memory.fields import AccountPlan
from gieok.testing.settings import settings_for
from tests.cli.conftest import program


class Place:
    """The folder of a service: data, keys, log and temporary files."""

    def __init__(self, folder: Path, database_url: str, **variables: str) -> None:
        """`variables` are further settings of its processes, such as GIEOK_CACHE_URL."""
        self.folder = folder
        self._variables = variables
        self.settings: Settings = settings_for(
            database_url, folder / "config" / "gieok" / "keys" / "root.key"
        )
        self.log = folder / "log"
        for each in ("config", "tmp"):
            (folder / each).mkdir(parents=True, exist_ok=True)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a `gieok` process. It contains none of the tester's own settings."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("GIEOK_", "XDG_"))}
        return own | {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "TMPDIR": str(self.folder / "tmp"),
            "GIEOK_DATABASE_URL": self.settings.database_url,
            "GIEOK_RATE_PER_SECOND": "1e6",
            "GIEOK_RATE_BURST": "1000000",
            **self._variables,
        }

    def run(self, *command: str) -> str:
        """Run a command, which must succeed. Returns its output."""
        ran = subprocess.run(
            [program(), *command], env=self.environ, capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    async def tokens(self, *owners: str, plan: AccountPlan = "free") -> dict[str, str]:
        """Create a token for each owner."""
        async with await Gieok.open(self.settings) as gieok:
            return {owner: (await gieok.tokens.create(owner, account_plan=plan)).token for owner in owners}


class Service:
    """A running `gieok serve`, killed at the end of the block. Its log is in the place."""

    def __init__(self, place: Place, *, workers: int = 1) -> None:
        with place.log.open("ab") as log:
            self._process = subprocess.Popen(
                [program(), "serve", "--port", "0", "--workers", str(workers)],
                env=place.environ,
                cwd=place.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        found = re.search(r"http://\S+?:\d+", self._process.stdout.readline())
        if found is None:
            self._wait()
            raise AssertionError(place.log.read_text())
        self.url = found[0]

    def kill(self) -> None:
        """Kill the process, as a power cut would."""
        self._process.kill()
        self._wait()

    def stop(self) -> None:
        """Stop the process gracefully."""
        self._process.send_signal(signal.SIGTERM)
        self._wait()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _wait(self) -> None:
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()
