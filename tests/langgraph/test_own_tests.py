"""The store tests in LangGraph's source package, with `GieokStore` in place of its InMemoryStore."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gieok import Settings

pytest.importorskip("pytest_mock", reason="LangGraph's tests are not installed: make adapters")
FOLDERS = sorted(Path(sys.prefix).glob("langgraph_checkpoint-*/tests"))


@pytest.mark.req("INT-3")
@pytest.mark.timeout(300)
def test_all_store_tests_of_langgraph_pass(settings: Settings, tmp_path: Path) -> None:
    """None is skipped: vectors with an index config, fields of an item, filters, namespaces, batches."""
    (tests,) = FOLDERS
    assert settings.own_key_file is not None
    report = tmp_path / "report.xml"
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        "STORE_DATABASE_URL": settings.database_url,
        "STORE_KEY_FILE": str(settings.own_key_file),
    }
    options = ["-q", "-p", "as_memory_store", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", "tests/test_store.py"],
        cwd=tests.parent,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    (suite,) = ElementTree.parse(report).getroot()
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts["tests"] > 100
    assert counts == {"tests": counts["tests"], "failures": 0, "errors": 0, "skipped": 0}
