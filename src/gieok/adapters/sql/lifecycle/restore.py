"""Steps of a restore on SQLite files: lock, replace, and add missing keys to a keystore."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.lifecycle.backup import LOCK_SECONDS, open_immutable
from gieok.errors import Conflict, RootKeyMismatch, StoreUnavailable

_KEYS = """
SELECT owner, purpose, generation, key_id, wrapped, created_at
FROM wrapped_keys
ORDER BY owner, purpose, generation"""
_ADD = "INSERT INTO wrapped_keys VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_HAS = "SELECT 1 FROM wrapped_keys WHERE owner = ? AND purpose = ? AND generation = ?"
_HEAD = "SELECT root_id, lower(hex(tag_key_id)) FROM head"


def read_head(keystore: Path) -> tuple[str, str] | None:
    """The root key id and the id of a keystore that nobody uses; None if it is empty."""
    with closing(open_immutable(keystore)) as connection:
        rows = connection.execute(_HEAD).fetchall()
    return (rows[0][0], rows[0][1]) if rows else None


Generations = Sequence[tuple[str, int]]
"""Owners, each with the generation of a key."""


def add_keys(keystore: Path, backup: Path, erased_among: Callable[[Generations], Generations]) -> int:
    """Add the keys of a backup that the keystore lacks, except those of erased owners. Returns the number.

    RootKeyMismatch if another root key wraps the missing keys.
    """
    with closing(open_immutable(backup)) as old:
        kept = old.execute(_KEYS).fetchall()
        old_root = old.execute(_HEAD).fetchall()[0][0]
    erased = set(erased_among(sorted({(row[0], row[2]) for row in kept})))
    with closing(sqlite_file.connect(keystore, LOCK_SECONDS)) as keys:
        keys.execute("BEGIN IMMEDIATE")
        wanted = [row for row in kept if (row[0], row[2]) not in erased]
        missing = [row for row in wanted if not keys.execute(_HAS, row[:3]).fetchall()]
        root = keys.execute(_HEAD).fetchall()[0][0]
        if missing and root != old_root:
            raise RootKeyMismatch(
                f"the backup needs {len(missing)} keys that root key {old_root} wraps, but the keystore "
                f"{keystore} is wrapped by {root}; restore to a new path, with root key {old_root}"
            )
        keys.executemany(_ADD, missing)
        keys.execute("COMMIT")
    return len(missing)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Lock a database exclusively, as a single file without a WAL. Conflict if it is in use."""
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(sqlite_file.connect(path, lock_seconds=0.0)))
            connection.pragma("journal_mode", "delete")
            connection.execute("BEGIN EXCLUSIVE")
        except apsw.BusyError:
            raise Conflict(
                f"{path} is in use; stop every Gieok process that has it open, then restore again"
            ) from None
        except (apsw.CorruptError, apsw.NotADBError):
            pass  # a damaged file is not in use, and it is to be replaced
        yield


def replace_file(restored: Path, place: Path) -> Path | None:
    """Replace `place` by `restored` atomically. Returns the path at which the old file is kept, if any."""
    aside: Path | None = None
    try:
        if place.exists():
            aside = place.with_name(f"{place.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
            os.link(place, aside)
        restored.replace(place)
        sync_path(place.parent)
    except OSError as error:
        raise StoreUnavailable(
            f"{place} cannot be replaced ({error.strerror}); give this user write access to its folder"
        ) from None
    return aside


def sync_path(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
