"""What commands have in common: tables for people, JSON for programs, words in the reader's language."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gieok.interfaces.cli.columns import pad, width
from gieok.interfaces.cli.wording import Lang, Say

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from gieok.engine import Data

C = TypeVar("C", bound=Callable[..., Any])


def json_option(command: C) -> C:
    """`--json`, given to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def lang_option(command: C) -> C:
    """`--lang`, given to the command as `say`: its words in the language that was asked for."""
    return click.option(
        "--lang",
        "say",
        type=click.Choice(["en", "ko"]),
        callback=_say,
        help="Print in English or Korean. Default: what LC_ALL, LC_MESSAGES or LANG says.",
    )(command)


def _say(_context: click.Context, _option: click.Parameter, asked: Lang | None) -> Say:
    return Say(_language(asked))


def _language(asked: Lang | None) -> Lang:
    """Korean only where it can be shown."""
    wanted = asked or ("ko" if reader_locale().startswith("ko") else "en")
    return "ko" if wanted == "ko" and can_show("한글") else "en"


def reader_locale() -> str:
    """The locale of messages in small letters, such as `ko_kr.utf-8`; empty where none is set."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "").lower()


def program() -> str:
    """How the reader can call this program again: by its name, or as they did where that leads nowhere."""
    called = sys.argv[0]
    return called if Path(called).name == "gieok" and shutil.which("gieok") is None else "gieok"


def can_show(text: str) -> bool:
    """Whether the terminal, or whatever reads the output, has these characters."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def print_json(data: object) -> None:
    print(json.dumps(data, ensure_ascii=not can_show("한글"), indent=2))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell. A cell may have several lines."""
    print("\n".join(table_lines([headings, *rows])))


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """A name and a value on each line."""
    print("\n".join(table_lines(facts)))


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [max(width(line) for cell in column for line in cell) for column in zip(*cells, strict=True)]
    lines: list[str] = []
    for row in cells:
        for number in range(max(map(len, row))):
            texts = [cell[number] if number < len(cell) else "" for cell in row]
            lines.append("  ".join(map(pad, texts, widths)).rstrip())
    return lines


def wire(record: DataclassInstance) -> dict[str, Any]:
    """A frozen record as JSON has it: camelCase names, times in UTC with Z, nothing that is None."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {camel(name): _plain(value) for name, value in values.items() if value is not None}


def documents(records: Sequence[Data]) -> list[dict[str, Any]]:
    """Records of the facade as JSON has them."""
    return [record.model_dump(mode="json", by_alias=True) for record in records]


def camel(name: str) -> str:
    """A name as JSON has it."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def human_size(count: int) -> str:
    """1536 as `1.5 KiB`."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def shown_url(url: str) -> str:
    """The URL without its password and options. What is no URL is not shown at all: it may be a secret."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "(not a URL)"
    if scheme == "sqlite":
        return url
    login, at, host = rest.rpartition("@")
    user = login.partition(":")[0]
    return f"{scheme}://{user}{at}{host.partition('?')[0]}"
