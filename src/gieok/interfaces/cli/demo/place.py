"""Where a demo happens: a database, a keystore and a key of its own, opened anew for each act."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from gieok.app import Gieok
from gieok.settings import Settings

_BETWEEN_CALLS = timedelta(seconds=20)


@dataclass(frozen=True)
class Place:
    """A folder that belongs to the demo. The settings of the machine play no part in it."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "data" / "gieok.db"

    async def open(self, at: datetime) -> Gieok:
        """Open it at a time of the story. The clock is all that is not as in service."""
        settings = Settings(
            database_url=f"sqlite:///{self.database}",
            keystore_url=f"sqlite:///{self.database}.keys",
            root_key_file=None,
            own_key_file=self.folder / "key" / "root.key",
            model="offline",
        )
        calls = count()
        return await Gieok.open(settings, clock=lambda: at + next(calls) * _BETWEEN_CALLS)
