"""Where a crash happens, and what was promised there before it did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from gieok.settings import Settings
from gieok.testing.settings import settings_for


@dataclass(frozen=True)
class Place:
    """A database, its keystore and its root key. A process that is started for it gets it as its argument."""

    url: str
    key_file: Path
    admin_url: str | None
    """PostgreSQL only: a login that sees the rows of every owner."""

    @property
    def settings(self) -> Settings:
        return settings_for(self.url, self.key_file)


@dataclass(frozen=True)
class Ready:
    """Everything is imported; what comes next is the work."""


@dataclass(frozen=True)
class Saved:
    """A turn was answered: this memory has to be there from now on, and its word finds it."""

    owner: str
    session: str
    memory: UUID
    word: str


@dataclass(frozen=True)
class Erasing:
    """An erasure was asked for. It may have begun or not; it is never half done for good."""

    owner: str


@dataclass(frozen=True)
class Erased:
    """An erasure was answered: nothing of the owner may be left."""

    owner: str


Told = Ready | Saved | Erasing | Erased


@dataclass
class Story:
    """Everything that was told about one place, over all the processes that died there."""

    saved: list[Saved] = field(default_factory=list[Saved])
    erasing: set[str] = field(default_factory=set[str])
    erased: set[str] = field(default_factory=set[str])

    def hear(self, tidings: Iterable[Told]) -> None:
        for told in tidings:
            match told:
                case Saved():
                    self.saved.append(told)
                case Erasing(owner):
                    self.erasing.add(owner)
                case Erased(owner):
                    self.erased.add(owner)
                case Ready():
                    pass
