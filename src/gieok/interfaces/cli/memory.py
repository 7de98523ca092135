"""`gieok memory`: read memories, and export, import or erase all data of a user."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import (
    camel,
    dataclass_json,
    one_line,
    print_fields,
    print_json,
    print_table,
    printable,
    progress_bar,
)
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator
    from uuid import UUID

    from gieok.app import User
    from gieok.app.owner_data import ImportResult
    from gieok.memory.companion.records import Memory, MemoryHit
    from gieok.memory.companion.store import MemoryStatus

MAX_PAGE = 1_000
MAX_IMPORT_BYTES = 16 * 1024**3
"""Larger than the limit of the HTTP service: the operator knows the file."""
_BLOCK = 256 * 1024


@click.group()
def memory() -> None:
    """Memories of a user: list, search, export, import, erase."""


@memory.command("list")
@click.option("--persona", metavar="ID", help="Only memories with this persona.")
@click.option(
    "--shelf",
    type=click.Choice(["active", "archived", "all"]),
    default="active",
    help="Active memories (default), archived ones, or all.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, MAX_PAGE), default=20, help="At most N memories."
)
@click.option("--offset", metavar="N", type=click.IntRange(0), default=0, help="Skip the first N memories.")
@user_option("User whose memories are shown.")
@json_option
@lang_option
def list_memories(
    persona: str | None, shelf: str, limit: int, offset: int, owner: str, as_json: bool, t: Translator
) -> None:
    """List memories, newest first."""
    page = run_for_user(
        owner,
        lambda user: user.companion.list(
            persona, status=cast("MemoryStatus", shelf), limit=limit, offset=offset
        ),
    )
    if as_json:
        memories = [_memory_json(each, t) for each in page.memories]
        print_json({"memories": memories, "total": page.total, "hasMore": page.has_more})
    elif not page.memories:
        print(t("memory.none"))
    else:
        print_table(_headings(t), [_row(each) for each in page.memories])
        print(t("memory.page", shown=len(page.memories), total=page.total))


@memory.command()
@click.argument("query")
@click.option("--persona", metavar="ID", required=True, help="Search memories with this persona.")
@click.option("--limit", metavar="N", type=click.IntRange(1, MAX_PAGE), help="At most N memories.")
@user_option("User whose memories are searched.")
@json_option
@lang_option
def search(query: str, persona: str, limit: int | None, owner: str, as_json: bool, t: Translator) -> None:
    """Search memories for QUERY, best match first.

    Shows for each memory which words matched.
    """
    hits = run_for_user(owner, lambda user: user.companion.search(persona, query, limit=limit))
    if as_json:
        print_json({"memories": [_hit_json(hit, t) for hit in hits]})
    elif not hits:
        print(t("memory.none"))
    else:
        rows = [[f"{hit.score:.3f}", *_row(hit.memory), why_text(hit, t)] for hit in hits]
        print_table([t("memory.score"), *_headings(t), t("memory.why")], rows)


@memory.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@user_option("User whose memory is shown.")
@json_option
@lang_option
def show(memory_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Show all fields of the memory with this ID."""
    found = run_for_user(owner, lambda user: user.companion.get(memory_id))
    if as_json:
        print_json({"memory": _memory_json(found, t)})
        return
    print(f"{printable(found.summary)}\n")
    archived = f"{found.archived_at:%Y-%m-%d %H:%M} UTC" if found.archived_at else "-"
    print_fields(
        [
            (t("memory.id"), str(found.id)),
            (t("memory.persona"), found.persona_id),
            (t("memory.when"), f"{found.occurred_at:%Y-%m-%d %H:%M} UTC"),
            (t("memory.importance"), str(found.importance)),
            (t("memory.emotion"), found.emotion.korean if t.lang == "ko" else found.emotion),
            (t("memory.topics"), printable(", ".join(found.topics)) or "-"),
            (t("memory.tags"), printable(", ".join(found.tags)) or "-"),
            (t("memory.origin"), found.origin),
            (t("memory.session"), found.session_ref or "-"),
            (t("memory.archived"), archived),
        ]
    )


@memory.command()
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
    with _new_file(file) as target:
        count = run_for_user(owner, lambda user: write(user, target))
    if as_json:
        print_json({"path": str(file), "records": count})
    else:
        print(t("memory.exported", records=count, path=file))


@memory.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@user_option("User who gets the data.")
@json_option
@lang_option
def import_file(file: Path, owner: str, as_json: bool, t: Translator) -> None:
    """Import a FILE that `gieok memory export` wrote.

    Imports everything or nothing; - reads standard input. Existing records do not change, so importing twice
    is the same as importing once. On SQLite, other writes wait until the import is done.
    """

    async def read(user: User) -> ImportResult:
        with _open_file(file) as source, progress_bar(t("memory.importing")) as report:
            return await user.data.import_(_blocks(source), max_bytes=MAX_IMPORT_BYTES, report=report)

    done = run_for_user(owner, read)
    if as_json:
        print_json({"imported": done.counts, "unchanged": done.unchanged})
        return
    for kind, count in done.counts.items():
        print(f"{kind}: {count}")
    print(t("memory.imported", added=sum(done.counts.values()), unchanged=done.unchanged))


@memory.command()
@click.option("--user", "owner", metavar="NAME", required=True, help="User whose data is erased.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@lang_option
def erase(owner: str, yes: bool, as_json: bool, t: Translator) -> None:
    """Erase all data of a user permanently.

    Destroys the keys first, then deletes the rows. This cannot be undone, and the name cannot be used again.
    For old backups see docs/howto/backup.md.
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


def why_text(hit: MemoryHit, t: Translator) -> str:
    """The words that matched; without any, that the memory is recent or important."""
    return printable(", ".join(hit.why.matched_words)) or t("memory.filled")


def _memory_json(found: Memory, t: Translator) -> dict[str, Any]:
    """A memory in the form of the HTTP API."""
    return found.model_dump(mode="json", by_alias=True, context={"language": t.lang})


def _hit_json(hit: MemoryHit, t: Translator) -> dict[str, Any]:
    from gieok.interfaces.rest.schema.memory import found_memory

    return _memory_json(found_memory(hit), t)


def _headings(t: Translator) -> list[str]:
    keys = ("memory.id", "memory.persona", "memory.when", "memory.importance", "memory.summary")
    return [t(key) for key in keys]


def _row(found: Memory) -> list[str]:
    return [
        str(found.id),
        found.persona_id,
        f"{found.occurred_at:%Y-%m-%d}",
        str(found.importance),
        one_line(found.summary),
    ]


@contextmanager
def _new_file(file: Path) -> Generator[BinaryIO]:
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
def _open_file(file: Path) -> Generator[BinaryIO]:
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
