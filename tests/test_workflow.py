"""The GitHub workflow: valid YAML that runs the whole check on every Python that the package names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))


def test_the_workflow_runs_on_every_python_that_the_package_names() -> None:
    """The matrix has exactly the versions of the classifiers, as strings: 3.10 must not become 3.1."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text) for text in project["classifiers"]
    ]
    assert WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"] == [found[1] for found in named if found]


def test_the_workflow_runs_the_check_of_the_repository_and_may_only_read() -> None:
    """No second list of checks: `.ci/run`, with the Python of the matrix and a read-only token."""
    (run,) = [step for step in WORKFLOW["jobs"]["test"]["steps"] if "run" in step]
    assert run["run"] == ".ci/run"
    assert run["env"] == {"PYTHON": "python"}
    assert (ROOT / ".ci/run").stat().st_mode & 0o100
    assert WORKFLOW["permissions"] == {"contents": "read"}
