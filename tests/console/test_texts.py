"""Texts of the console, in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import gieok.interfaces.console
from gieok.interfaces.console.navigation import NAVIGATION
from gieok.interfaces.console.texts import TEXTS
from gieok.memory.audit import AuditAction
from gieok.memory.canon.records import FactReason, Outcome, Provenance
from gieok.memory.companion.hits import HIT_KINDS
from gieok.memory.companion.records import Emotion, Origin
from gieok.memory.companion.store import MemoryStatus
from gieok.memory.conversation.records import PartKind
from gieok.memory.decisions.exchange import Outcome as ImportOutcome
from gieok.memory.decisions.loading.layers import TIERS, Through
from gieok.memory.decisions.records import STRENGTHS, Scope
from gieok.memory.jobs.records import JobKind, JobStatus
from gieok.memory.observations import Category, Reason
from gieok.plans import load_plan
from tests.cli.test_texts import names_in

FOLDER = Path(gieok.interfaces.console.__file__).parent
SOURCES = "\n".join(
    file.read_text(encoding="utf-8")
    for file in [*FOLDER.rglob("*.py"), *FOLDER.rglob("*.html")]
    if "texts" not in file.parts
)
COMPUTED = {
    "nav": [item.name for item in NAVIGATION],
    "emotion": [each.value for each in Emotion],
    "memories.origin": get_args(Origin),
    "memories.status": get_args(MemoryStatus),
    "signal": [
        name for step in load_plan("search_memories").steps for name in step.metadata.get("weights", {})
    ],
    "chat.kind": HIT_KINDS,
    "chat.part": get_args(PartKind),
    "chat.outcome": get_args(Outcome),
    "chat.reason": [each.value for each in Reason],
    "category": [each.value for each in Category],
    "provenance": get_args(Provenance),
    "facts.reason": get_args(FactReason),
    "job": get_args(JobKind),
    "job.status": get_args(JobStatus),
    "theme": ["auto", "light", "dark"],
    "said": ["user", "assistant"],
    "strength": STRENGTHS,
    "scope": get_args(Scope),
    "through": [each for each in get_args(Through) if each != "scope"],
    "tier": [*TIERS, *(f"{name}.text" for name in TIERS)],
    "outcome": get_args(ImportOutcome),
    "audit": get_args(AuditAction),
    "plan.kind": ["added", "removed", "changed", "same"],
    "error": ["403", "404", "409", "422", "429", "503"],
}
"""Keys that templates compute: a prefix, and every value that can follow it."""


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_have_a_text_with_the_same_values(key: str) -> None:
    english, korean = TEXTS[key]
    assert english
    assert korean
    assert names_in(english) == names_in(korean)


def test_every_computed_key_has_a_text() -> None:
    expected = {f"{prefix}.{value}" for prefix, values in COMPUTED.items() for value in values}
    assert expected <= set(TEXTS)


def test_every_text_is_used() -> None:
    computed = {f"{prefix}.{value}" for prefix, values in COMPUTED.items() for value in values}
    done = {f"done.{name}" for name in re.findall(r'["\'](\w+)["\']', SOURCES)}
    unused = [
        key
        for key in TEXTS
        if key not in computed | done and not re.search(rf"""["']{re.escape(key)}["']""", SOURCES)
    ]
    assert unused == []


def test_every_key_in_a_template_exists() -> None:
    used = set(re.findall(r"""\bt\(["']([\w.]+)["']\s*[,)]""", SOURCES))
    assert used <= set(TEXTS)
