"""The engine knows plans, stages, steps and the unit of work, and nothing of memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gieok.engine
from gieok.app import build_registry, offline_model

SOURCES = sorted(Path(gieok.engine.__file__).parent.glob("*.py"))
FOREIGN = re.compile(
    r"memor|summar|keyword|search|retriev|\bsql|sqlite|postgres|database|vault|encrypt|embedding"
    r"|persona|session|feature flag",
    re.IGNORECASE,
)


@pytest.mark.req("ENG-2")
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_source_of_the_engine_has_no_word_of_memory(source: Path) -> None:
    assert FOREIGN.findall(source.read_text(encoding="utf-8")) == []


@pytest.mark.req("ENG-5")
def test_no_step_has_a_default_for_its_policy() -> None:
    """Every field of every registered step's metadata must be given by the plan."""
    defaults = [
        f"{step.type}.{name}"
        for step in build_registry(offline_model()).steps()
        for name, field in step.metadata_model.model_fields.items()
        if not field.is_required()
    ]
    assert defaults == []
