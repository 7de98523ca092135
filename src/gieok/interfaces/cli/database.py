"""`gieok db`: status and schema of the database in the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option
from gieok.interfaces.cli.output import dataclass_json, human_size, print_fields, print_json, redact_url
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from pathlib import Path

    from gieok.adapters.sql.driver.database import DatabaseStatus

PRODUCTS = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@dataclass(frozen=True)
class Upgrade:
    """Result of `gieok db upgrade`."""

    url: str
    created: bool
    applied: list[str]
    backup: str | None
    schema_version: int


@click.group()
def db() -> None:
    """Database: location, status and schema."""


@db.command()
@json_option
@lang_option
def status(as_json: bool, t: Translator) -> None:
    """Show the status of the database. Creates and migrates nothing."""
    from gieok.adapters.sql.driver.open import find_database
    from gieok.settings import load_settings

    url = load_settings().database_url
    found = find_database(url)
    if as_json:
        missing = {"exists": False, "url": redact_url(url)}
        print_json({"exists": True, **dataclass_json(found)} if found else missing)
    elif found is None:
        print_fields([(t("db.url"), redact_url(url)), (t("db.state"), t("db.missing"))])
    else:
        print_fields(_status_fields(found, t))


@db.command()
@json_option
@lang_option
def upgrade(as_json: bool, t: Translator) -> None:
    """Create the database, or upgrade its schema.

    A SQLite file is backed up in its folder first. Back up a PostgreSQL database yourself.
    """
    from gieok.settings import load_settings, sqlite_path

    settings = load_settings()
    done = _upgrade(settings.database_url, sqlite_path(settings.database_url), settings.partitions)
    if as_json:
        print_json(dataclass_json(done))
        return
    if done.created:
        print(t("db.created", url=done.url))
    for name in done.applied:
        print(t("db.applied", name=name))
    if done.backup:
        print(t("db.backup", path=done.backup))
    print(t("db.current", version=done.schema_version))


def _upgrade(url: str, file: Path | None, partitions: int) -> Upgrade:
    """Opening a database migrates it. Compares the status and the backup files before and after."""
    import asyncio

    from gieok.adapters.sql.driver.migrations import load_migrations
    from gieok.adapters.sql.driver.open import find_database, open_database

    async def open_and_close() -> DatabaseStatus:
        database = open_database(url, partitions=partitions)
        try:
            return await database.status()
        finally:
            await database.close()

    before = find_database(url)
    old_backups = _backups(file)
    after = asyncio.run(open_and_close())
    applied = load_migrations(after.dialect)[before.schema_version if before else 0 : after.schema_version]
    return Upgrade(
        url=after.url,
        created=before is None,
        applied=[f"{migration.version:04d}_{migration.name}" for migration in applied],
        backup=next(iter(sorted(_backups(file) - old_backups)), None),
        schema_version=after.schema_version,
    )


def _backups(file: Path | None) -> set[str]:
    return {str(each) for each in file.parent.glob(f"{file.name}.backup-v*")} if file else set()


def _status_fields(found: DatabaseStatus, t: Translator) -> list[tuple[str, str]]:
    shown = [
        (t("db.url"), found.url),
        (t("db.version"), f"{PRODUCTS[found.dialect]} {found.version}"),
        (t("db.schema"), schema_text(found, t)),
        (t("db.size"), human_size(found.size_bytes)),
    ]
    if found.dialect == "sqlite":
        shown.append((t("db.durability"), f"journal {found.journal_mode}, synchronous {found.synchronous}"))
        return shown
    security = "db.row_security_bypassed" if found.bypasses_row_security else "db.row_security_on"
    shown.append((t("db.connections"), str(found.connections)))
    shown.append((t("db.partitions"), str(found.partitions or t("db.no_partitions"))))
    shown.append((t("db.role"), f"{found.role}: {t(security)}"))
    return shown


def schema_text(found: DatabaseStatus, t: Translator) -> str:
    """Schema version, and how many migrations are pending."""
    return t(
        "db.schema_pending" if found.pending else "db.schema_current",
        version=found.schema_version,
        latest=found.latest_version,
        pending=found.pending,
    )
