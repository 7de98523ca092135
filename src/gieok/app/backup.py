"""A backup: a folder with the database, its keystore and a manifest. The root key is never in it."""

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
from gieok.adapters.sql.lifecycle.backup import Pair, Report, check_file, copy_both, open_untouched
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
    """How a file of a backup is recognised."""

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=1)]


class Manifest(Data):
    """What is in a backup, and which root key opens it."""

    format: Literal[1]
    created_at: Timestamp
    gieok: str
    schema_version: int
    keystore_id: str
    root_id: str
    database: FileEntry
    keystore: FileEntry


def files_of(settings: Settings) -> Pair:
    """The files of an embedded database. SettingsInvalid for a server, which has tools of its own."""
    database, keystore = sqlite_path(settings.database_url), sqlite_path(settings.keystore_url)
    if database is None or keystore is None:
        raise SettingsInvalid(
            "backup and restore are for SQLite; a PostgreSQL database is backed up with pg_dump: "
            "docs/howto/backup.md says how, and what to do about the keystore"
        )
    return Pair(database, keystore)


def back_up(settings: Settings, folder: Path, report: Report) -> Manifest:
    """Copy the database and its keystore, of one moment, into a new folder, while Gieok runs.

    The folder is there whole or not at all. InputRefused where something is there already.
    """
    source = files_of(settings)
    if not sqlite_file.is_there(source.database) or not keystore_file_exists(source.keystore):
        raise NotFound(f"there is nothing to back up yet: {source.database} and its keystore are not there")
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
    """The manifest of a backup whose files are what they were. NotFound or StoreDamaged otherwise."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
        entries = [_entry(file) for file in pair_in(folder)]
    except FileNotFoundError as error:
        raise NotFound(f"{folder} is not a whole backup: {error.filename} is not there") from None
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be read ({error.strerror}); let this user read it") from None
    except ValidationError:
        raise StoreDamaged(
            f"{folder / MANIFEST_FILE} is not a manifest that this Gieok can read; use another backup"
        ) from None
    for file, entry, found in zip(
        pair_in(folder), (manifest.database, manifest.keystore), entries, strict=True
    ):
        if found != entry or not check_file(file):
            raise StoreDamaged(f"{file} is not what was backed up; use another backup")
    return manifest


def pair_in(folder: Path) -> Pair:
    """The files of a backup."""
    return Pair(folder / DATABASE_FILE, folder / KEYSTORE_FILE)


def _manifest(copies: Pair) -> Manifest:
    head = read_head(copies.keystore)
    with closing(open_untouched(copies.database)) as connection:
        version = len(sqlite_file.read_ledger(connection))
        remembered = connection.execute("SELECT value FROM meta WHERE key = ?", (KEYSTORE,)).fetchall()
    if head is None or remembered != [(head[1],)]:
        raise StoreDamaged("the keystore is not the one that the database was sealed with; put that one back")
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
    """A folder that gets its name when it is whole."""
    if folder.exists():
        raise InputRefused("is there already; choose a name where nothing is", at=str(folder))
    unfinished = folder.with_name(f".{folder.name}.unfinished-{os.getpid()}")
    try:
        unfinished.mkdir(mode=0o700, parents=True)
        yield unfinished
        sync_path(unfinished)
        unfinished.rename(folder)
        sync_path(folder.parent)
    except OSError as error:
        raise StoreUnavailable(
            f"the backup {folder} cannot be written ({error.strerror}); choose another place, or make room"
        ) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
