"""The record of a cycle: ids, counts and times, never content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import ConfigDict

from gieok.engine.data import Data

Note = int | float | str | Sequence[str | UUID]
"""A count, a time, or identifiers."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}")

Outcome = Literal["succeeded", "failed", "cancelled"]


@dataclass(frozen=True)
class StepRecord:
    """One step that ran."""

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    id: str
    type: str
    stage: str
    started_ms: float
    duration_ms: float
    notes: Mapping[str, Note]


@dataclass(frozen=True)
class CycleRecord:
    """One run of a plan."""

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    cycle_id: UUID
    plan_name: str
    plan_hash: str
    started_at: datetime
    duration_ms: float
    commit_ms: float
    outcome: Outcome
    failed_step: str | None
    steps: tuple[StepRecord, ...]


def check_note(name: str, value: Note) -> Note:
    """Refuse text that is not an identifier, so that no content gets into a record."""
    kept = value if isinstance(value, int | float | str) else tuple(value)
    for each in (name, *(kept if isinstance(kept, tuple) else (kept,))):
        if not isinstance(each, int | float | UUID) and not _IDENTIFIER.fullmatch(each):
            raise ValueError("a note may have numbers and identifiers, not content")
    return kept
