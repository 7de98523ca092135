"""Runs the commands and programs of a page in an empty home folder."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.docs.blocks import Block

SERVICE = "127.0.0.1:8377"
"""The address of the service in the pages. A test replaces it by the real one."""
SERVER = "postgresql://gieok@localhost/gieok"
"""The PostgreSQL URL in the pages, replaced in the same way."""


class Machine:
    """A home folder and a shell. Variables that a block exports are set for the next blocks."""

    def __init__(self, home: Path, replacements: Mapping[str, str], exported: Path) -> None:
        self.home = home
        self._replacements = replacements
        self._exported = exported

    def run(self, block: Block) -> str:
        """Run a block of commands or a program and return its output. Fails if the block fails."""
        text = self._replace_addresses(block.text)
        if block.language == "console":
            text = "".join(f"{line[2:]}\n" for line in text.splitlines() if line.startswith("$ "))
        if block.language == "python":
            name = block.argument if block.mark == "file" else "program.py"
            self.save_file(str(name), text)
            text = f"python {name}\n"
        return self._shell(text, block.location)

    def save_file(self, name: str, text: str) -> None:
        """Save a block under its file name."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _replace_addresses(self, text: str) -> str:
        for written, actual in self._replacements.items():
            text = text.replace(written, actual)
        return text

    def _shell(self, text: str, location: str) -> str:
        programs = str(Path(sys.executable).parent)
        environ = {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUTF8": "1",
        }
        variables = shlex.quote(str(self._exported))
        script = (
            f"set -euo pipefail\n[ ! -f {variables} ] || . {variables}\n{text}\nexport -p > {variables}\n"
        )
        ran = subprocess.run(
            ["bash", "-c", script], env=environ, cwd=self.home, capture_output=True, timeout=100, check=False
        )
        output, errors = (stream.decode("utf-8", "replace") for stream in (ran.stdout, ran.stderr))
        assert ran.returncode == 0, f"{location}: exit status {ran.returncode}\n{output}\n{errors}"
        assert '"success":false' not in output.replace(" ", ""), f"{location}: {output}"
        return output
