"""What carriers have in common: reading a table page by page, and knowing a record that is there already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from gieok.adapters.sql.driver.database import Row, Tx, Value
from gieok.engine import Data
from gieok.errors import Conflict

D = TypeVar("D", bound=Data)

PAGE = 200


def walk(tx: Tx, query: str, key: Mapping[str, tuple[int, Value]], **fixed: Value) -> Iterator[Row]:
    """Every row of a query, page by page. `key` says of each part of its place the column it is read from,
    and a value that comes before all others."""
    after = {name: first for name, (_, first) in key.items()}
    while rows := tx.all(query, limit=PAGE, **after, **fixed):
        yield from rows
        after = {name: rows[-1][column] for name, (column, _) in key.items()}


BY_ID: Mapping[str, tuple[int, Value]] = {"after": (0, b"")}
"""The key of a table whose first column is its id."""


def part(record: type[D], of: Data) -> D:
    """The record of a room inside a record that has more."""
    return record(**{name: getattr(of, name) for name in record.model_fields})


def unchanged(given: D, stored: D, name: object) -> bool:
    """False, for nothing is added, where the same is there already. Conflict where it is something else."""
    if given != stored:
        kind = getattr(given, "kind", "record")
        raise Conflict(
            f"{kind} {name} is there already and says something else; import into another user, or remove it"
        )
    return False
