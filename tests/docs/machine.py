"""A machine on which a reader follows a page from its top to its end."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.docs.blocks import Block

SERVICE = "127.0.0.1:8377"
"""Where the pages find the service; a test has it on a port of its own."""
SERVER = "postgresql://gieok@localhost/gieok"
"""Where they find PostgreSQL."""


class Machine:
    """A home folder, and what the page says of places. What a block exports is there for the next ones."""

    def __init__(self, home: Path, places: Mapping[str, str], exported: Path) -> None:
        self.home = home
        self._places = places
        self._exported = exported

    def run(self, block: Block) -> str:
        """What a block of commands or a whole program prints. It fails the test where the block fails."""
        text = self._here(block.text)
        if block.language == "console":
            text = "".join(f"{line[2:]}\n" for line in text.splitlines() if line.startswith("$ "))
        if block.language == "python":
            name = block.said if block.mark == "file" else "program.py"
            self.put(str(name), text)
            text = f"python {name}\n"
        return self._shell(text, block.place)

    def put(self, name: str, text: str) -> None:
        """Save a block as the file that the page says it is."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _here(self, text: str) -> str:
        for written, real in self._places.items():
            text = text.replace(written, real)
        return text

    def _shell(self, text: str, place: str) -> str:
        programs = str(Path(sys.executable).parent)
        environ = {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUTF8": "1",
        }
        kept = shlex.quote(str(self._exported))
        script = f"set -euo pipefail\n[ ! -f {kept} ] || . {kept}\n{text}\nexport -p > {kept}\n"
        ran = subprocess.run(
            ["bash", "-c", script], env=environ, cwd=self.home, capture_output=True, timeout=100, check=False
        )
        printed, errors = (stream.decode("utf-8", "replace") for stream in (ran.stdout, ran.stderr))
        assert ran.returncode == 0, f"{place}: exit status {ran.returncode}\n{printed}\n{errors}"
        assert '"success":false' not in printed.replace(" ", ""), f"{place}: {printed}"
        return printed
