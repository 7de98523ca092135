"""Restoring a backup without bringing back who was erased since.

Everything is made ready beside its place first: the database is opened with the keystore that it will have,
and erasures are replayed in it. Only then does it take its place. Keys that were destroyed stay destroyed,
because a keystore that is in use is kept, and gets only keys of owners who were never erased.
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
from gieok.adapters.sql.lifecycle.backup import Pair, copy_file, copy_untouched, open_untouched
from gieok.adapters.sql.lifecycle.restore import add_keys, held, put_in_place
from gieok.app.assembly import open_vault
from gieok.app.backup import files_of, pair_in, read_backup
from gieok.app.opening import open_stores
from gieok.errors import Conflict, StoreUnavailable
from gieok.settings import Settings


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    database: str
    keystore: str
    keystore_kept: bool
    """The keystore in use was kept; the one of the backup only gave it keys that it did not have."""
    keys_added: int
    erased_again: int
    """Owners of the backup who were erased since it was taken."""
    before: str | None
    """Where the database is that was replaced."""


def restore(
    settings: Settings, folder: Path, *, to: Path | None = None, replace_it: bool = False
) -> Restored:
    """Put a backup in the place of the database that the settings name, or at `to` with a keystore beside it.

    Conflict where a database is there and is not to be replaced, or anyone has it open; StoreDamaged where
    the backup is not what was backed up; RootKeyMissing and RootKeyMismatch where its root key is not there.
    """
    live = files_of(settings)
    place = live if to is None else files_of(_at(settings, Pair(to, Path(f"{to}.keys"))))
    backup, manifest = pair_in(folder), read_backup(folder)
    with _free(place.database, replace_it=replace_it), _beside(place) as staged:
        copy_untouched(backup.database, staged.database)
        is_kept = _is_keystore(live.keystore, manifest.keystore_id)
        keystore = _ready_keystore(live.keystore if is_kept else None, backup.keystore, place, staged)
        ready = _at(settings, Pair(staged.database, keystore))
        added = _add_keys(ready, backup.keystore, manifest.keystore_id) if is_kept else 0
        erased = asyncio.run(_replay(ready))
        if keystore == staged.keystore:
            put_in_place(staged.keystore, place.keystore)
        before = put_in_place(staged.database, place.database)
    return Restored(str(place.database), str(place.keystore), is_kept, added, erased, _text(before))


@contextmanager
def _free(database: Path, *, replace_it: bool) -> Generator[None]:
    """The place of the database, which nobody else can use meanwhile."""
    if not database.exists():
        if database.with_name(f"{database.name}-wal").exists():
            raise Conflict(
                f"{database}-wal lies there without its database; move it away, then restore again"
            )
        yield
        return
    if not replace_it:
        raise Conflict(
            f"{database} is there already; restore with --replace, which moves it aside, or with --to"
        )
    with held(database):
        yield


@contextmanager
def _beside(place: Pair) -> Generator[Pair]:
    """Where both files are made ready: in the folders that they go to."""
    staged = Pair(*(file.parent / f".{file.name}.restoring-{os.getpid()}" / file.name for file in place))
    try:
        for file in staged:
            file.parent.mkdir(mode=0o700, parents=True)
        yield staged
    except OSError as error:
        raise StoreUnavailable(
            f"{place.database} cannot be restored ({error.strerror}); let this user write to its folder, or "
            "free some space"
        ) from None
    finally:
        for file in staged:
            shutil.rmtree(file.parent, ignore_errors=True)


def _ready_keystore(live: Path | None, backup: Path, place: Pair, staged: Pair) -> Path:
    """The keystore that the database will have: the live one, a copy of it, or a copy of the backup's."""
    if live == place.keystore:
        return place.keystore
    if keystore_file_exists(place.keystore):
        raise Conflict(
            f"{place.keystore} is a keystore of another database; move it away, or restore with --to"
        )
    if live is None:
        copy_untouched(backup, staged.keystore)
    else:
        copy_file(live, staged.keystore)
    return staged.keystore


def _is_keystore(path: Path, keystore_id: str) -> bool:
    """Whether the keystore that a backup was sealed with is in use."""
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
    """Open both as Gieok does, which replays erasures; how many owners went."""
    before = _owners(files_of(ready).database)
    async with AsyncExitStack() as stack:
        await open_stores(ready, stack)
    return before - _owners(files_of(ready).database)


def _owners(database: Path) -> int:
    with closing(open_untouched(database)) as connection:
        return connection.execute("SELECT count(*) FROM owners").fetchall()[0][0]


def _at(settings: Settings, files: Pair) -> Settings:
    database_url, keystore_url = (f"sqlite:///{file.absolute()}" for file in files)
    return replace(settings, database_url=database_url, keystore_url=keystore_url)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
