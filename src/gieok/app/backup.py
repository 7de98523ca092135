"""Backup: a folder with the database, its keystore and a manifest. It never contains the root key."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from gieok import __version__
from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.keystores.sqlite import keystore_file_exists
from gieok.adapters.sql.lifecycle.backup import Pair, Report, check_file, copy_both, open_immutable
from gieok.adapters.sql.lifecycle.restore import read_head, sync_path
from gieok.app.opening import KEYSTORE
from gieok.engine import Data
from gieok.errors import InputRefused, NotFound, SettingsInvalid, StoreDamaged, StoreUnavailable
from gieok.memory.fields import Timestamp
from gieok.settings import Settings, sqlite_path

FORMAT = 1
DATABASE_FILE = "gieok.db"
KEYSTORE_FILE = "gieok.db.keys"
MANIFEST_FILE = "manifest.json"
_BLOCK = 1024 * 1024


class FileEntry(Data):
    """Checksum and size of a file in a backup."""

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=1)]


class Manifest(Data):
    """Contents of a backup, and the id of the root key that opens it."""

    format: Literal[1]
    created_at: Timestamp
    gieok: str
    schema_version: int
    keystore_id: str
    root_id: str
    database: FileEntry
    keystore: FileEntry


def files_of(settings: Settings) -> Pair:
    """The files of a SQLite database. SettingsInvalid for PostgreSQL, which has its own backup tools."""
    database, keystore = sqlite_path(settings.database_url), sqlite_path(settings.keystore_url)
    if database is None or keystore is None:
        raise SettingsInvalid(
            "backup and restore are for SQLite; a PostgreSQL database is backed up with pg_dump: "
            "docs/howto/backup.md explains how, and how to back up the keystore"
        )
    return Pair(database, keystore)


def back_up(settings: Settings, folder: Path, report: Report) -> Manifest:
    """Copy a consistent snapshot of the database and its keystore into a new folder, while Gieok runs.

    The folder appears only when it is complete. InputRefused if it exists already.
    """
    source = files_of(settings)
    if not sqlite_file.database_exists(source.database) or not keystore_file_exists(source.keystore):
        raise NotFound(f"there is nothing to back up yet: {source.database} and its keystore do not exist")
    with _new_folder(folder) as unfinished:
        copies = pair_in(unfinished)
        copy_both(source, copies, report)
        manifest = _manifest(copies)
        (unfinished / MANIFEST_FILE).write_text(manifest.model_dump_json(by_alias=True, indent=2) + "\n")
        for file in unfinished.iterdir():
            file.chmod(0o600)
            sync_path(file)
    return manifest


def read_backup(folder: Path) -> Manifest:
    """The manifest of a backup with intact files. NotFound or StoreDamaged otherwise."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
        entries = [_entry(file) for file in pair_in(folder)]
    except FileNotFoundError as error:
        raise NotFound(f"{folder} is not a complete backup: {error.filename} does not exist") from None
    except OSError as error:
        raise StoreUnavailable(
            f"{folder} cannot be read ({error.strerror}); give this user read access"
        ) from None
    except ValidationError:
        raise StoreDamaged(
            f"{folder / MANIFEST_FILE} is not a manifest that this Gieok can read; use another backup"
        ) from None
    for file, entry, found in zip(
        pair_in(folder), (manifest.database, manifest.keystore), entries, strict=True
    ):
        if found != entry or not check_file(file):
            raise StoreDamaged(f"{file} was altered or damaged after the backup; use another backup")
    return manifest


def pair_in(folder: Path) -> Pair:
    """The files of a backup."""
    return Pair(folder / DATABASE_FILE, folder / KEYSTORE_FILE)


def _manifest(copies: Pair) -> Manifest:
    head = read_head(copies.keystore)
    with closing(open_immutable(copies.database)) as connection:
        version = len(sqlite_file.read_ledger(connection))
        remembered = connection.execute("SELECT value FROM meta WHERE key = ?", (KEYSTORE,)).fetchall()
    if head is None or remembered != [(head[1],)]:
        raise StoreDamaged("the keystore does not belong to this database; put back the one that does")
    return Manifest(
        format=FORMAT,
        created_at=datetime.now(UTC),
        gieok=__version__,
        schema_version=version,
        keystore_id=head[1],
        root_id=head[0],
        database=_entry(copies.database),
        keystore=_entry(copies.keystore),
    )


def _entry(file: Path) -> FileEntry:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return FileEntry(sha256=digest.hexdigest(), size=file.stat().st_size)


@contextmanager
def _new_folder(folder: Path) -> Generator[Path]:
    """A temporary folder that is renamed to `folder` when it is complete."""
    if folder.exists():
        raise InputRefused("exists already; choose another name", at=str(folder))
    unfinished = folder.with_name(f".{folder.name}.unfinished-{os.getpid()}")
    try:
        unfinished.mkdir(mode=0o700, parents=True)
        yield unfinished
        sync_path(unfinished)
        unfinished.rename(folder)
        sync_path(folder.parent)
    except OSError as error:
        raise StoreUnavailable(
            f"the backup {folder} cannot be written ({error.strerror}); choose another folder, or free some "
            "space"
        ) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
