"""What `gieok doctor` reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "failed"]


@dataclass(frozen=True)
class Finding:
    """Result of one check. Messages of GieokError contain their remedy, so `remedy` is None for them."""

    name: str
    level: Level
    text: str
    remedy: str | None = None


@dataclass(frozen=True)
class Setting:
    """A setting in use, and where its value comes from. Secrets are masked."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True)
class Report:
    """Output of `gieok doctor --json`."""

    versions: dict[str, str]
    settings: list[Setting]
    checks: list[Finding]

    @property
    def ok(self) -> bool:
        return all(each.level != "failed" for each in self.checks)
