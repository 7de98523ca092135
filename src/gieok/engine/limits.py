"""A limit on everything that a plan or a step could make large."""

from __future__ import annotations

from dataclasses import dataclass

PLAN_BYTES = 256 * 1024
PLAN_DEPTH = 32
PLAN_STEPS = 64


@dataclass(frozen=True)
class Limits:
    """What a running step may use. Generous for honest steps, fatal for runaway ones."""

    step_seconds: float = 120.0
    output_bytes: int = 4 * 1024 * 1024
