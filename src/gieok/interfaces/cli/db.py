"""`gieok db`: the database that the settings name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.output import (
    human_size,
    json_option,
    lang_option,
    print_facts,
    print_json,
    shown_url,
    wire,
)
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from pathlib import Path

    from gieok.adapters.sql.driver.database import DatabaseStatus

PRODUCTS = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@dataclass(frozen=True)
class Upgrade:
    """What `gieok db upgrade` did."""

    url: str
    created: bool
    applied: list[str]
    backup: str | None
    schema_version: int


@click.group()
def db() -> None:
    """The database: where it is and which schema it has."""


@db.command()
@json_option
@lang_option
def status(as_json: bool, say: Say) -> None:
    """Show the database as it is. Nothing is made or migrated."""
    from gieok.adapters.sql.driver.open import find_database
    from gieok.settings import load_settings

    url = load_settings().database_url
    found = find_database(url)
    if as_json:
        print_json({"exists": True, **wire(found)} if found else {"exists": False, "url": shown_url(url)})
    elif found is None:
        print_facts([(say("db.url"), shown_url(url)), (say("db.state"), say("db.missing"))])
    else:
        print_facts(status_facts(found, say))


@db.command()
@json_option
@lang_option
def upgrade(as_json: bool, say: Say) -> None:
    """Make the database, or bring its schema up to date.

    A SQLite file is copied beside itself first; back up a PostgreSQL database yourself.
    """
    from gieok.settings import load_settings, sqlite_path

    url = load_settings().database_url
    done = _upgrade(url, sqlite_path(url))
    if as_json:
        print_json(wire(done))
        return
    if done.created:
        print(say("db.created", url=done.url))
    for name in done.applied:
        print(say("db.applied", name=name))
    if done.backup:
        print(say("db.backup", path=done.backup))
    print(say("db.current", version=done.schema_version))


def _upgrade(url: str, file: Path | None) -> Upgrade:
    import asyncio

    from gieok.adapters.sql.driver.migrations import load_migrations
    from gieok.adapters.sql.driver.open import find_database

    before = find_database(url)
    kept = _backups(file)
    after = asyncio.run(_open_once(url))
    done = load_migrations(after.dialect)[before.schema_version if before else 0 : after.schema_version]
    return Upgrade(
        url=after.url,
        created=before is None,
        applied=[f"{migration.version:04d}_{migration.name}" for migration in done],
        backup=next(iter(sorted(_backups(file) - kept)), None),
        schema_version=after.schema_version,
    )


async def _open_once(url: str) -> DatabaseStatus:
    from gieok.adapters.sql.driver.open import open_database

    database = open_database(url)
    try:
        return await database.status()
    finally:
        await database.close()


def _backups(file: Path | None) -> set[str]:
    return {str(each) for each in file.parent.glob(f"{file.name}.backup-v*")} if file else set()


def status_facts(found: DatabaseStatus, say: Say) -> list[tuple[str, str]]:
    """The lines of `db status`."""
    schema = say("db.schema_current" if not found.pending else "db.schema_pending", **schema_numbers(found))
    facts = [
        (say("db.url"), found.url),
        (say("db.version"), f"{PRODUCTS[found.dialect]} {found.version}"),
        (say("db.schema"), schema),
        (say("db.size"), human_size(found.size_bytes)),
    ]
    if found.dialect == "sqlite":
        facts.append((say("db.durability"), f"journal {found.journal_mode}, synchronous {found.synchronous}"))
        return facts
    wall = "db.rows_open" if found.bypasses_row_security else "db.rows_walled"
    facts.append((say("db.connections"), str(found.connections)))
    facts.append((say("db.role"), f"{found.role}: {say(wall)}"))
    return facts


def schema_numbers(found: DatabaseStatus) -> dict[str, int]:
    """The numbers that a sentence about the schema needs."""
    return {"version": found.schema_version, "latest": found.latest_version, "pending": found.pending}
