"""Output of the commands: tables, JSON, progress bars, and text that is safe to print in a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from gieok.engine import Data

LONGEST_LINE = 72


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below their headings. A cell may have several lines."""
    print("\n".join(format_table([headings, *rows])))


def print_fields(values: Sequence[tuple[str, str]]) -> None:
    """Print a name and its value on each line."""
    print("\n".join(format_table(values)))


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table. Each column is as wide as its widest cell."""
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [max(width(line) for cell in column for line in cell) for column in zip(*cells, strict=True)]
    lines: list[str] = []
    for row in cells:
        for number in range(max(map(len, row))):
            texts = [cell[number] if number < len(cell) else "" for cell in row]
            lines.append("  ".join(map(pad, texts, widths)).rstrip())
    return lines


def width(text: str) -> int:
    """Number of terminal columns that `text` takes. A Korean syllable takes two, a combining mark none."""
    return sum(_columns(char) for char in text)


def pad(text: str, columns: int) -> str:
    """Fill `text` with spaces up to `columns`. Longer text is not cut."""
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int) -> Iterator[str]:
    """Break `text` between words into lines of at most `columns`. A longer word gets a line of its own."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and width(longer) > columns:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def printable(text: str) -> str:
    """Escape control characters and line ends, so that stored text cannot send commands to the terminal."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )


def printable_lines(text: str) -> str:
    """Escape control characters, but keep line ends."""
    return "\n".join(map(printable, text.expandtabs(4).split("\n")))


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Put `text` on one line: blanks for control characters, cut after `longest` characters."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def print_json(data: object) -> None:
    """Print `data` as JSON. Characters that the output encoding lacks become escapes."""
    print(json.dumps(data, ensure_ascii=not can_show("한글"), indent=2))


def dataclass_json(record: DataclassInstance) -> dict[str, Any]:
    """A dataclass as a JSON object: camelCase names, times in UTC with Z, no field that is None."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {camel(name): _json_value(value) for name, value in values.items() if value is not None}


def model_json(record: Data) -> dict[str, Any]:
    """A pydantic record as a JSON object."""
    return record.model_dump(mode="json", by_alias=True)


def camel(name: str) -> str:
    """`schema_version` as `schemaVersion`."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _json_value(value: Any) -> Any:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def can_show(text: str) -> bool:
    """Whether the encoding of the standard output has all characters of `text`."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def message_locale() -> str:
    """Locale of messages in lower case, such as `ko_kr.utf-8`. Empty if none is set."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "").lower()


def program_name() -> str:
    """Command that starts this program again: `gieok`, or the path that was called if it is not on PATH."""
    called = sys.argv[0]
    return called if Path(called).name == "gieok" and shutil.which("gieok") is None else "gieok"


@contextmanager
def progress_bar(label: str) -> Generator[Callable[[int, int], None]]:
    """Show a progress bar on standard error if it is a terminal. Yields `report(done, total)`."""
    with click.progressbar(
        length=1,
        label=label,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_pos=True,
        update_min_steps=0,
    ) as bar:

        def report(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield report


def human_size(count: int) -> str:
    """1536 as `1.5 KiB`."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def redact_url(url: str) -> str:
    """The URL without password and query. A text that is not a URL is replaced: it may contain a secret."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "(not a URL)"
    if scheme == "sqlite":
        return url
    login, at, host = rest.rpartition("@")
    user = login.partition(":")[0]
    return f"{scheme}://{user}{at}{host.partition('?')[0]}"
