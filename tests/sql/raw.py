"""A bare connection to a SQLite file, that bypasses `SqliteDatabase`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import apsw

from gieok.adapters.sql.driver.sqlite_file import Connection


def raw(path: Path) -> Connection:
    return cast(Connection, apsw.Connection(str(path)))
