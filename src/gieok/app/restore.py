"""Restore a backup without restoring owners who were erased after it was taken.

Everything is prepared in a staging folder first: the database is opened with the keystore that it will have,
and erasures are replayed in it. Only then is it moved into place. Destroyed keys stay destroyed, because a
keystore in use is kept and only gets the missing keys of owners who were never erased.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Generator
from contextlib import AsyncExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gieok.adapters.sql.driver.open import open_keystore
from gieok.adapters.sql.keystores.sqlite import keystore_file_exists
from gieok.adapters.sql.lifecycle.backup import Pair, copy_file, copy_immutable, open_immutable
from gieok.adapters.sql.lifecycle.restore import add_keys, locked, replace_file
from gieok.app.assembly import open_vault
from gieok.app.backup import files_of, pair_in, read_backup
from gieok.app.opening import open_stores
from gieok.errors import Conflict, StoreUnavailable
from gieok.settings import Settings


@dataclass(frozen=True)
class Restored:
    """Result of a restore."""

    database: str
    keystore: str
    keystore_kept: bool
    """The keystore in use was kept; only missing keys were added from the backup."""
    keys_added: int
    erased_again: int
    """Owners in the backup who were erased after it was taken."""
    before: str | None
    """Path of the database that was replaced."""


def restore(
    settings: Settings, folder: Path, *, to: Path | None = None, replace_it: bool = False
) -> Restored:
    """Restore a backup to the configured database, or to `to` with a keystore beside it.

    Conflict if a database exists and `replace_it` is not set, or if it is in use; StoreDamaged if the backup
    is damaged; RootKeyMissing or RootKeyMismatch without the backup's root key.
    """
    live = files_of(settings)
    place = live if to is None else files_of(_at(settings, Pair(to, Path(f"{to}.keys"))))
    backup, manifest = pair_in(folder), read_backup(folder)
    with _free(place.database, replace_it=replace_it), _staging(place) as staged:
        copy_immutable(backup.database, staged.database)
        is_kept = _is_keystore(live.keystore, manifest.keystore_id)
        keystore = _stage_keystore(live.keystore if is_kept else None, backup.keystore, place, staged)
        ready = _at(settings, Pair(staged.database, keystore))
        added = _add_keys(ready, backup.keystore, manifest.keystore_id) if is_kept else 0
        erased = asyncio.run(_replay(ready))
        if keystore == staged.keystore:
            replace_file(staged.keystore, place.keystore)
        before = replace_file(staged.database, place.database)
    return Restored(str(place.database), str(place.keystore), is_kept, added, erased, _text(before))


@contextmanager
def _free(database: Path, *, replace_it: bool) -> Generator[None]:
    """Check that the path is free or may be replaced, and lock an existing database meanwhile."""
    if not database.exists():
        if database.with_name(f"{database.name}-wal").exists():
            raise Conflict(f"{database}-wal exists without its database; move it away, then restore again")
        yield
        return
    if not replace_it:
        raise Conflict(
            f"{database} exists already; restore with --replace, which keeps a copy of it, or with --to"
        )
    with locked(database):
        yield


@contextmanager
def _staging(place: Pair) -> Generator[Pair]:
    """Temporary paths for both files, in the folders that they will be moved to."""
    staged = Pair(*(file.parent / f".{file.name}.restoring-{os.getpid()}" / file.name for file in place))
    try:
        for file in staged:
            file.parent.mkdir(mode=0o700, parents=True)
        yield staged
    except OSError as error:
        raise StoreUnavailable(
            f"{place.database} cannot be restored ({error.strerror}); give this user write access to its "
            "folder, or free some space"
        ) from None
    finally:
        for file in staged:
            shutil.rmtree(file.parent, ignore_errors=True)


def _stage_keystore(live: Path | None, backup: Path, place: Pair, staged: Pair) -> Path:
    """Path of the keystore that the database will have: the live one, a copy of it, or the backup's copy."""
    if live == place.keystore:
        return place.keystore
    if keystore_file_exists(place.keystore):
        raise Conflict(
            f"{place.keystore} is the keystore of another database; move it away, or restore with --to"
        )
    if live is None:
        copy_immutable(backup, staged.keystore)
    else:
        copy_file(live, staged.keystore)
    return staged.keystore


def _is_keystore(path: Path, keystore_id: str) -> bool:
    """Whether `path` is the keystore with this id."""
    if not keystore_file_exists(path):
        return False
    keystore = open_keystore(f"sqlite:///{path}")
    try:
        head = keystore.head()
    finally:
        keystore.close()
    return head is not None and head.keystore_id == keystore_id


def _add_keys(ready: Settings, backup: Path, keystore_id: str) -> int:
    vault = open_vault(ready, keystore_id)
    try:
        return add_keys(files_of(ready).keystore, backup, vault.erased_among)
    finally:
        vault.close()


async def _replay(ready: Settings) -> int:
    """Open both as Gieok does, which replays erasures. Returns the number of owners erased."""
    before = _owners(files_of(ready).database)
    async with AsyncExitStack() as stack:
        await open_stores(ready, stack)
    return before - _owners(files_of(ready).database)


def _owners(database: Path) -> int:
    with closing(open_immutable(database)) as connection:
        return connection.execute("SELECT count(*) FROM owners").fetchall()[0][0]


def _at(settings: Settings, files: Pair) -> Settings:
    database_url, keystore_url = (f"sqlite:///{file.absolute()}" for file in files)
    return replace(settings, database_url=database_url, keystore_url=keystore_url)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
