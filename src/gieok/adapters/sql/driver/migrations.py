"""Numbered migrations, and the ledger of those that were applied to a database.

Pure rules and portable SQL. `sqlite_file.py` and `postgres.py` run them, each with its own lock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gieok.adapters.sql.driver.queries import Dialect
from gieok.errors import SchemaMismatch

CREATE_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version    INTEGER NOT NULL PRIMARY KEY CHECK (version >= 1),
    name       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    applied_at TEXT NOT NULL
)"""
READ_LEDGER = "SELECT version, name, sha256 FROM schema_migrations ORDER BY version"

SCHEMA_VERSION = "SELECT max(version) FROM schema_migrations"

_FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One change of the schema. Once released, its text never changes: its hash is in every ledger."""

    version: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Applied:
    """A row of the ledger."""

    version: int
    name: str
    sha256: str


@cache
def load_migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """All migrations of this version of Gieok, oldest first, numbered 1, 2, 3 without a gap."""
    found: list[Migration] = []
    for file in (files("gieok.adapters.sql") / "migrations" / dialect).iterdir():
        if match := _FILE_NAME.fullmatch(file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    found.sort(key=lambda migration: migration.version)
    numbers = [migration.version for migration in found]
    if numbers != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations/{dialect} must be numbered 1, 2, 3 without a gap, not {numbers}")
    return tuple(found)


def pending(known: Sequence[Migration], ledger: Sequence[Applied], place: str) -> tuple[Migration, ...]:
    """The migrations that the database at `place` still needs.

    Raises `SchemaMismatch` if its ledger does not match the first migrations of `known`.
    """
    if ledger and ledger[-1].version > len(known):
        raise SchemaMismatch(
            f"{place} has schema version {ledger[-1].version}, newer than {len(known)} of this program; "
            "install the newer Gieok that created it, or restore the backup from before the upgrade"
        )
    for number, applied in enumerate(ledger, start=1):
        if applied.version != number:
            raise SchemaMismatch(
                f"{place} has migration {applied.version} but not {number}; restore it from a backup"
            )
        migration = known[number - 1]
        if (applied.name, applied.sha256) != (migration.name, migration.sha256):
            raise SchemaMismatch(
                f"{place} has another migration {number} ({applied.name}) than this program "
                f"({migration.name}); use the Gieok that created it, or restore it from a backup"
            )
    return tuple(known[len(ledger) :])


def newer_schema(version: int, known: int) -> SchemaMismatch:
    """The error of a write by a process whose database another one has migrated since it was opened."""
    return SchemaMismatch(
        f"the database was migrated to schema version {version} by a newer Gieok, and this process knows "
        f"{known}; nothing was stored. Stop this process and start the newer version"
    )
