"""What the doctor finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from gieok.errors import GieokError

Level = Literal["ok", "warning", "failed"]


@dataclass(frozen=True)
class Finding:
    """One line. An error of Gieok names its remedy itself, so that its finding has no other."""

    name: str
    level: Level
    text: str
    remedy: str | None = None


def guarded(name: str, examine: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """What `examine` finds. An error of Gieok ends it and becomes the last finding."""
    try:
        yield from examine()
    except GieokError as error:
        yield Finding(name, "failed", f"{error} [{error.code}]")
