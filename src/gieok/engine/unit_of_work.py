"""The writes of a cycle, kept until the whole cycle has succeeded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Write = Callable[[Any], Any]
"""A write that waits. It is given whatever the scope opens for a commit, and what it returns is reported."""


class Scope(Protocol):
    """Where a cycle's writes go. All of them take effect together, or none."""

    async def commit(self, writes: Sequence[Write]) -> list[Any]:
        """Apply the writes in order in one transaction and return what each returned."""
        ...


class UnitOfWork:
    """Collects the writes of one cycle. Nothing is open while it waits, so a slow step holds no lock."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._writes: list[tuple[str, Write]] = []

    def stage(self, step: str, write: Write) -> None:
        """Keep a write of a step for the commit."""
        if len(self._writes) >= self._limit:
            raise ValueError(f"a cycle may stage at most {self._limit} writes")
        self._writes.append((step, write))

    async def commit(self, scope: Scope) -> dict[str, list[Any]]:
        """Flush everything at once. Returns, by step, what its writes returned."""
        if not self._writes:
            return {}
        results = await scope.commit([write for _, write in self._writes])
        by_step: dict[str, list[Any]] = {}
        for (step, _), result in zip(self._writes, results, strict=True):
            by_step.setdefault(step, []).append(result)
        return by_step
