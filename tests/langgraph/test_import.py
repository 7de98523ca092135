"""The error of an import without LangGraph."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("missing", ["langgraph", "langchain_core"])
def test_a_missing_extra_is_named(missing: str) -> None:
    program = f"import sys; sys.modules['{missing}'] = None; import gieok.interfaces.langgraph"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("which is not installed: pip install 'gieok[langgraph]'")
