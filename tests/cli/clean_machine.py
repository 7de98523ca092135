"""A machine on which the program runs for the first time: an empty home folder and no settings."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GIEOK = (sys.executable, "-c", "from gieok.interfaces.cli import main; main()")


@dataclass(frozen=True)
class CleanMachine:
    """A home folder, a folder for temporary files, and an environment without settings or locale."""

    folder: Path

    def __post_init__(self) -> None:
        self.home.mkdir()
        self.temporary.mkdir()

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def environment(self, **more: str) -> dict[str, str]:
        foreign = ("GIEOK_", "XDG_", "LC_", "LANG", "NO_COLOR")
        own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        places = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**own, **places, "PYTHONIOENCODING": "utf-8", **more}

    def run(self, command: Sequence[str], **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, cwd=self.home, env=self.environment(**more), capture_output=True, timeout=60, check=False
        )

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """Start the program with pipes."""
        return subprocess.Popen(
            (*GIEOK, *args),
            cwd=self.home,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def demo(self, *options: str, **more: str) -> str:
        done = self.run((*GIEOK, "demo", *options), **more)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def demo_on_terminal(self, *options: str, **more: str) -> str:
        """Run the demo with a terminal as standard output."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            (*GIEOK, "demo", *options), cwd=self.home, env=self.environment(**more), stdout=theirs
        ) as process:
            os.close(theirs)
            output = b"".join(iter(lambda: _read(ours), b""))
            assert process.wait(timeout=60) == 0
        os.close(ours)
        return output.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # what Linux raises when the other side is closed
        return b""
