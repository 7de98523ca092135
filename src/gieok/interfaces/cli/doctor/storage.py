"""The database: there, current, writable, and with room to grow."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from gieok.adapters.sql.driver.database import DatabaseStatus
from gieok.adapters.sql.driver.open import find_database, open_database
from gieok.interfaces.cli.db import PRODUCTS, schema_numbers
from gieok.interfaces.cli.doctor.finding import Finding
from gieok.interfaces.cli.output import human_size, shown_url
from gieok.interfaces.cli.wording import Say
from gieok.settings import Settings

LITTLE_SPACE = 1024**3
NO_SPACE = 64 * 1024**2


def database(settings: Settings, say: Say) -> Iterator[Finding]:
    """An older schema is not written to: opening it would migrate it."""
    found = find_database(settings.database_url)
    if found is None:
        yield _place(settings, say)
        return
    product = f"{PRODUCTS[found.dialect]} {found.version}"
    size = human_size(found.size_bytes)
    yield Finding("database", "ok", say("doctor.database_there", product=product, url=found.url, size=size))
    yield _schema(found, say)
    if found.pending == 0:
        asyncio.run(_try_to_write(settings.database_url))
        yield Finding("writing", "ok", say("doctor.writes"))
    if found.bypasses_row_security:
        text = say("doctor.rows_open", role=found.role)
        yield Finding("row_security", "warning", text, say("doctor.rows_remedy"))
    elif found.dialect == "postgres":
        yield Finding("row_security", "ok", say("db.rows_walled"))


def disk(settings: Settings, say: Say) -> Iterator[Finding]:
    """Free space where the embedded database lies. A server watches its own."""
    if settings.data_folder is None:
        return
    free = shutil.disk_usage(_nearest(settings.data_folder)).free
    text = say("doctor.disk", free=human_size(free))
    level = "failed" if free < NO_SPACE else "warning" if free < LITTLE_SPACE else "ok"
    yield Finding("disk", level, text, None if level == "ok" else say("doctor.disk_remedy"))


async def _try_to_write(url: str) -> None:
    opened = open_database(url)
    try:
        await opened.check()
    finally:
        await opened.close()


def _schema(found: DatabaseStatus, say: Say) -> Finding:
    if found.pending:
        text = say("db.schema_pending", **schema_numbers(found))
        return Finding("schema", "warning", text, say("doctor.schema_remedy"))
    return Finding("schema", "ok", say("db.schema_current", **schema_numbers(found)))


def _place(settings: Settings, say: Say) -> Finding:
    """Nothing is there yet, which is fine where it can be made."""
    url = shown_url(settings.database_url)
    if settings.data_folder is not None:
        nearest = _nearest(settings.data_folder)
        if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            text = say("doctor.database_cannot_be", url=url, folder=nearest)
            return Finding("database", "failed", text, say("doctor.database_remedy"))
    return Finding("database", "ok", say("doctor.database_missing", url=url))


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(each for each in (folder, *folder.parents) if _is_there(each))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, for example
        return False
