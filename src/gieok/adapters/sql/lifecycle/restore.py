"""Putting a restored SQLite file in the place of another, and old keys beside the ones that are in use."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.lifecycle.backup import LOCK_SECONDS, open_untouched
from gieok.errors import Conflict, RootKeyMismatch, StoreUnavailable

_KEYS = """
SELECT owner, purpose, generation, key_id, wrapped, created_at
FROM wrapped_keys
ORDER BY owner, purpose, generation"""
_ADD = "INSERT INTO wrapped_keys VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_HAS = "SELECT 1 FROM wrapped_keys WHERE owner = ? AND purpose = ? AND generation = ?"
_HEAD = "SELECT root_id, lower(hex(tag_key_id)) FROM head"


def read_head(keystore: Path) -> tuple[str, str] | None:
    """The root key and the id of a keystore that nobody uses; None where it never held anything."""
    with closing(open_untouched(keystore)) as connection:
        rows = connection.execute(_HEAD).fetchall()
    return (rows[0][0], rows[0][1]) if rows else None


def add_keys(keystore: Path, backup: Path, erased_among: Callable[[Sequence[str]], Sequence[str]]) -> int:
    """Add the keys of a backup that the keystore does not have, and say how many.

    Never one of an owner who was erased: a destroyed key does not come back. RootKeyMismatch where keys are
    missing that another root key wraps.
    """
    with closing(open_untouched(backup)) as old:
        kept = old.execute(_KEYS).fetchall()
        old_root = old.execute(_HEAD).fetchall()[0][0]
    erased = set(erased_among(sorted({row[0] for row in kept})))
    with closing(sqlite_file.connect(keystore, LOCK_SECONDS)) as keys:
        keys.execute("BEGIN IMMEDIATE")
        missing = [row for row in kept if row[0] not in erased and not keys.execute(_HAS, row[:3]).fetchall()]
        root = keys.execute(_HEAD).fetchall()[0][0]
        if missing and root != old_root:
            raise RootKeyMismatch(
                f"the backup needs {len(missing)} keys that root key {old_root} wraps, and the keystore "
                f"{keystore} is wrapped by {root}; restore it in a new place, with root key {old_root}"
            )
        keys.executemany(_ADD, missing)
        keys.execute("COMMIT")
    return len(missing)


@contextmanager
def held(path: Path) -> Generator[None]:
    """Keep everyone else out of a database, which is then one whole file. Conflict where it is in use."""
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(sqlite_file.connect(path, lock_seconds=0.0)))
            connection.pragma("journal_mode", "delete")
            connection.execute("BEGIN EXCLUSIVE")
        except apsw.BusyError:
            raise Conflict(
                f"{path} is in use; stop every Gieok that has it open, then restore again"
            ) from None
        except (apsw.CorruptError, apsw.NotADBError):
            pass  # nobody can use what is damaged, and it is to be replaced
        yield


def put_in_place(restored: Path, place: Path) -> Path | None:
    """Put a file in its place at one stroke; where a file was there, say where it is now."""
    aside: Path | None = None
    try:
        if place.exists():
            aside = place.with_name(f"{place.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
            os.link(place, aside)
        restored.replace(place)
        sync_path(place.parent)
    except OSError as error:
        raise StoreUnavailable(
            f"{place} cannot be replaced ({error.strerror}); let this user write to its folder"
        ) from None
    return aside


def sync_path(path: Path) -> None:
    """Make a file durable, or the new names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
