"""A bar for whatever takes long, where someone watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import click


@contextmanager
def watched(label: str) -> Generator[Callable[[int, int], None]]:
    """What moves the bar: how much is done, and how much there is."""
    with click.progressbar(
        length=1,
        label=label,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_pos=True,
        update_min_steps=0,
    ) as bar:

        def report(done: int, there_is: int) -> None:
            bar.length = max(there_is, 1)
            bar.update(done - bar.pos)

        yield report
