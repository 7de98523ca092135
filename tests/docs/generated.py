"""A page that is generated below a marker line and written by hand above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 140


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Wrap a text to lines. `first` and `rest` are the indentation of the first line and of the others."""
    return wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


@dataclass(frozen=True)
class GeneratedPage:
    """The path of a page, the module that generates it, and its generated lines."""

    path: Path
    module: str
    lines: Callable[[], Iterable[str]]

    @property
    def marker(self) -> str:
        return f"<!-- From here on generated: python -m {self.module} -->\n"

    @property
    def current(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def expected(self) -> str:
        """The current hand-written part with the generated part."""
        return self.current.partition(self.marker)[0] + self.marker + "\n".join(["", *self.lines()]) + "\n"

    def write(self) -> None:
        self.path.write_text(self.expected(), encoding="utf-8")
