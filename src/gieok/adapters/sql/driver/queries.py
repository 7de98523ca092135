"""Named SQL queries from .sql files: `queries/common` for both databases, one folder for each dialect.

A query is written in aiosql's format. The suffix of its name says what it returns:

    -- name: get_thing(owner, id)^      one row or none       Tx.one
    -- name: list_things(owner)         rows                  Tx.all
    -- name: save_thing(owner, id)!     how many changed      Tx.run
    -- name: save_things*!              many at once          Tx.run_many

Every query has the parameter `:owner`; loading refuses one without it. The few queries in `queries/system`
work across owners; loading refuses `:owner` there.

Two notations are translated for each database: a list is `IN list(:tokens)`, and a row lock is `FOR UPDATE`,
`FOR NO KEY UPDATE` or `FOR SHARE`, with `SKIP LOCKED` or without, which is removed for SQLite because it has
one writer.
In `queries/postgres` a percent sign is written `%%`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, Protocol, cast

import aiosql
from aiosql.types import QueryFn, SQLOperationType

Dialect = Literal["sqlite", "postgres"]
Kind = Literal["one", "all", "run", "run_many"]

_DRIVERS: Mapping[Dialect, str] = {"sqlite": "apsw", "postgres": "psycopg"}
_NOTATIONS: Mapping[Dialect, Mapping[re.Pattern[str], str]] = {
    "sqlite": {
        re.compile(r"\bIN list\(:(\w+)\)"): r"IN carray(:\1)",
        re.compile(r"\s+FOR (?:NO KEY )?(?:UPDATE|SHARE)\b(?: SKIP LOCKED)?"): "",
    },
    "postgres": {
        re.compile(r"\bIN list\(:(\w+)\)"): r"= ANY(:\1)",
    },
}
"""Patterns in the .sql files, and their form in each dialect."""
_KINDS: Mapping[SQLOperationType, Kind] = {
    SQLOperationType.SELECT_ONE: "one",
    SQLOperationType.SELECT: "all",
    SQLOperationType.INSERT_UPDATE_DELETE: "run",
    SQLOperationType.INSERT_UPDATE_DELETE_MANY: "run_many",
}


@dataclass(frozen=True, slots=True)
class Query:
    """One named query, ready for its driver."""

    name: str
    kind: Kind
    sql: str
    params: frozenset[str]


Catalogue = Mapping[str, Query]


class _Loaded(Protocol):
    @property
    def available_queries(self) -> list[str]: ...


_from_str = cast(Callable[[str, str], _Loaded], vars(aiosql)["from_str"])  # aiosql is only partly typed


@cache
def load_queries(dialect: Dialect) -> Catalogue:
    """All queries of a dialect by name. Cached."""
    catalogue: dict[str, Query] = {}
    for place, text in _texts(dialect):
        for query in parse_queries(text, dialect, place):
            if query.name in catalogue:
                raise ValueError(f"{place}: query {query.name} exists already; rename it")
            catalogue[query.name] = query
    return MappingProxyType(catalogue)


@cache
def load_system_queries(dialect: Dialect) -> Catalogue:
    """The queries that work across owners."""
    return MappingProxyType(
        {
            query.name: query
            for folder in ("common", dialect)
            for place, text in _files(f"system/{folder}")
            for query in parse_queries(text, dialect, place, owned=False)
        }
    )


def parse_queries(text: str, dialect: Dialect, place: str, *, owned: bool = True) -> Iterator[Query]:
    """Parse a file of queries, which must all have `:owner`, or none of them. `place` is for errors."""
    for query in read_queries(text, dialect, place):
        if owned and "owner" not in query.params:
            raise ValueError(
                f"{place}: query {query.name} has no parameter :owner; every query is for one owner"
            )
        if not owned and "owner" in query.params:
            raise ValueError(
                f"{place}: query {query.name} has a parameter :owner; move it out of queries/system"
            )
        yield query


def read_queries(text: str, dialect: Dialect, place: str) -> Iterator[Query]:
    """Parse a file of queries without the owner check, which the keystore does not need."""
    for pattern, translated in _NOTATIONS[dialect].items():
        text = pattern.sub(translated, text)
    loaded = _from_str(text, _DRIVERS[dialect])
    for name in loaded.available_queries:
        if name.endswith("_cursor"):
            continue  # aiosql offers a cursor form beside each SELECT
        made = cast(QueryFn, getattr(loaded, name))
        kind = _KINDS.get(made.operation)
        if kind is None:
            raise ValueError(f"{place}: query {name} has an unsupported suffix; use none, ^, ! or *!")
        signature = made.__signature__
        params = frozenset(signature.parameters if signature else ()) - {"self"}
        yield Query(name=name, kind=kind, sql=made.sql, params=params)


def _texts(dialect: Dialect) -> Iterator[tuple[str, str]]:
    yield from _files("common")
    yield from _files(dialect)


def _files(folder: str) -> Iterator[tuple[str, str]]:
    place = files("gieok.adapters.sql").joinpath("queries", *folder.split("/"))
    for file in sorted(place.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            yield f"queries/{folder}/{file.name}", file.read_text(encoding="utf-8")
