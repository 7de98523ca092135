"""The database of a crash test, and what was acknowledged before the crash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from gieok.settings import Settings
from gieok.testing.settings import settings_for


@dataclass(frozen=True)
class Place:
    """A database, its keystore and its root key. Passed to the writer process."""

    url: str
    key_file: Path
    admin_url: str | None
    """PostgreSQL only: a login that sees the rows of every owner."""
    ahead: timedelta = timedelta()
    """How far the clock of its processes is ahead, so that they see the leases of killed ones as expired."""

    @property
    def kind(self) -> str:
        """ "sqlite" or "postgres"."""
        return "postgres" if self.admin_url else "sqlite"

    def now(self) -> datetime:
        """The time for its processes."""
        return datetime.now(UTC) + self.ahead

    @property
    def settings(self) -> Settings:
        return settings_for(self.url, self.key_file)


@dataclass(frozen=True)
class Ready:
    """The writer has imported everything and begins its work."""


@dataclass(frozen=True)
class Saved:
    """A turn was acknowledged: this memory must exist from now on and be found by its word."""

    owner: str
    session: str
    memory: UUID
    word: str


@dataclass(frozen=True)
class Answered:
    """A chat turn was answered: its messages are in the log, and it will be remembered exactly once."""

    owner: str
    word: str


@dataclass(frozen=True)
class Erasing:
    """An erasure was requested. It may have begun or not, but it never stays unfinished."""

    owner: str


@dataclass(frozen=True)
class Erased:
    """An erasure was acknowledged: nothing of the owner may be left."""

    owner: str


Event = Ready | Saved | Answered | Erasing | Erased


@dataclass
class Story:
    """Everything that was acknowledged on one database, by all processes that were killed there."""

    saved: list[Saved] = field(default_factory=list[Saved])
    answered: list[Answered] = field(default_factory=list[Answered])
    erasing: set[str] = field(default_factory=set[str])
    erased: set[str] = field(default_factory=set[str])

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case Saved():
                    self.saved.append(event)
                case Answered():
                    self.answered.append(event)
                case Erasing(owner):
                    self.erasing.add(owner)
                case Erased(owner):
                    self.erased.add(owner)
                case Ready():
                    pass
