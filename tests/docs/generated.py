"""A page of which the part below its mark is written by the program, and the part above it by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class GeneratedPage:
    """Where a page is, which module writes it, and what it should say."""

    path: Path
    module: str
    lines: Callable[[], Iterable[str]]

    @property
    def mark(self) -> str:
        return f"<!-- From here on generated: python -m {self.module} -->\n"

    @property
    def current(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def as_it_should_be(self) -> str:
        """With the hand-written part of the current one."""
        return self.current.partition(self.mark)[0] + self.mark + "\n".join(["", *self.lines()]) + "\n"

    def write(self) -> None:
        self.path.write_text(self.as_it_should_be(), encoding="utf-8")
