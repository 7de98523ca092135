"""`gieok memory export`, `import` and `erase`: all data of a user."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import camel, dataclass_json, print_json, progress_bar
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from gieok.app import User
    from gieok.app.owner_data import ImportResult

MAX_IMPORT_BYTES = 16 * 1024**3
"""Larger than the limit of the HTTP service: the operator knows the file."""
_BLOCK = 256 * 1024


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@user_option("User whose data is exported.")
@json_option
@lang_option
def export(file: Path | None, owner: str, as_json: bool, t: Translator) -> None:
    """Export all data of a user to FILE, as plain text.

    Writes one JSON record per line, to standard output without FILE. The export is a consistent snapshot,
    even while the service runs. Keep the file safe: it is not encrypted.
    """

    async def write(user: User, target: BinaryIO) -> int:
        lines = 0
        with progress_bar(t("memory.exporting")) as report:
            async for piece in user.data.export(report):
                target.write(piece)
                lines += piece.count(b"\n")
        target.flush()
        return lines - 2  # the first and the last line are no records

    if file is None:
        run_for_user(owner, lambda user: write(user, sys.stdout.buffer))
        return
    with new_file(file) as target:
        count = run_for_user(owner, lambda user: write(user, target))
    if as_json:
        print_json({"path": str(file), "records": count})
    else:
        print(t("memory.exported", records=count, path=file))


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and change nothing.")
@user_option("User who gets the data.")
@json_option
@lang_option
def import_file(file: Path, dry_run: bool, owner: str, as_json: bool, t: Translator) -> None:
    """Import a FILE that `gieok memory export` wrote.

    Imports everything or nothing; - reads standard input. Existing records do not change, so importing twice
    is the same as importing once. On SQLite, other writes wait until the import is done.
    """

    async def read(user: User) -> ImportResult:
        with open_file(file) as source, progress_bar(t("memory.importing")) as report:
            if dry_run:
                return await user.data.preview_import(_blocks(source), max_bytes=MAX_IMPORT_BYTES)
            return await user.data.import_(_blocks(source), max_bytes=MAX_IMPORT_BYTES, report=report)

    done = run_for_user(owner, read)
    if as_json:
        print_json({"imported": done.counts, "unchanged": done.unchanged})
        return
    for kind, count in done.counts.items():
        print(f"{kind}: {count}")
    text = "memory.would_import" if dry_run else "memory.imported"
    print(t(text, added=sum(done.counts.values()), unchanged=done.unchanged))


@click.command()
@click.option("--user", "owner", metavar="NAME", required=True, help="User whose data is erased.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@lang_option
def erase(owner: str, yes: bool, as_json: bool, t: Translator) -> None:
    """Erase all data of a user permanently.

    Destroys the keys first, then deletes the rows. This cannot be undone. `gieok token create` lets a new
    user have the name. For old backups see docs/howto/backup.md.
    """
    if not run_for_user(owner, lambda user: user.data.exists()):
        raise NotFound(f"there is no user '{owner}'")
    if not yes:
        typed = click.prompt(t("memory.confirm_erase", user=owner), err=True)
        if typed != owner:
            raise click.UsageError(t("memory.not_erased"))
    receipt = run_for_user(owner, lambda user: user.data.erase())
    if as_json:
        erased = {camel(table): rows for table, rows in receipt.erased.items()}
        print_json(dataclass_json(receipt) | {"erased": erased})
    else:
        print(t("memory.erased", user=owner, rows=sum(receipt.erased.values())))


@contextmanager
def new_file(file: Path) -> Generator[BinaryIO]:
    """Open a new file that only this user can read. It gets its name once it is complete.

    Raises InputRefused if the file exists, NotFound if its folder does not.
    """
    if file.exists():
        raise InputRefused("already exists; choose another name", at=str(file))
    unfinished = file.with_name(f".{file.name}.unfinished-{os.getpid()}")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as opened:
            yield opened
            opened.flush()
            os.fsync(handle)
        unfinished.rename(file)
    except FileNotFoundError:
        raise NotFound(f"there is no folder {file.parent}") from None
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def open_file(file: Path) -> Generator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        with file.open("rb") as opened:
            yield opened
    except (FileNotFoundError, IsADirectoryError):
        raise NotFound(f"there is no file {file}") from None


async def _blocks(source: BinaryIO) -> AsyncIterator[bytes]:
    while block := source.read(_BLOCK):
        yield block
