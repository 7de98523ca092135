"""`gieok memory export` and `import`: everything of a user as a stream of lines."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.cli.asking import ask, owner_option
from gieok.interfaces.cli.output import json_option, lang_option, print_json
from gieok.interfaces.cli.watching import watched
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from gieok.app import User
    from gieok.app.owner_data import ImportResult

MOST_BYTES = 16 * 1024**3
"""Whoever runs the program may bring more than a client of the service."""
_BLOCK = 256 * 1024


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@owner_option("Whose data.")
@json_option
@lang_option
def export(file: Path | None, owner: str, as_json: bool, say: Say) -> None:
    """Write everything of a user to FILE, in clear.

    One JSON record a line; without FILE, to the standard output. All of it is of one moment, also while the
    service runs. Keep the file safe: it is not sealed.
    """

    async def write(user: User, target: BinaryIO) -> int:
        count = 0
        with watched(say("memory.exporting")) as report:
            async for piece in user.data.export(report):
                target.write(piece)
                count += piece.count(b"\n")
        target.flush()
        return count - 2

    if file is None:
        ask(owner, lambda user: write(user, sys.stdout.buffer))
        return
    with _new_file(file) as target:
        count = ask(owner, lambda user: write(user, target))
    if as_json:
        print_json({"path": str(file), "records": count})
    else:
        print(say("memory.exported", records=count, path=file))


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@owner_option("Whose data it becomes.")
@json_option
@lang_option
def import_file(file: Path, owner: str, as_json: bool, say: Say) -> None:
    """Take in what `gieok memory export` wrote to FILE.

    All of it, or nothing; - is the standard input. What is there already stays as it is, so that doing it
    twice is the same as once. On SQLite, others wait with their writes until a large import is done.
    """

    async def read(user: User) -> ImportResult:
        with _opened(file) as source, watched(say("memory.importing")) as report:
            return await user.data.bring_in(_blocks(source), max_bytes=MOST_BYTES, report=report)

    done = ask(owner, read)
    if as_json:
        print_json({"imported": done.counts, "unchanged": done.unchanged})
        return
    for kind, count in done.counts.items():
        print(f"{kind}: {count}")
    print(say("memory.imported", added=sum(done.counts.values()), unchanged=done.unchanged))


@contextmanager
def _new_file(file: Path) -> Generator[BinaryIO]:
    """A file for this user alone, which gets its name when it is whole. InputRefused where there is one."""
    if file.exists():
        raise InputRefused("is there already; choose a name where nothing is", at=str(file))
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
def _opened(file: Path) -> Generator[BinaryIO]:
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
