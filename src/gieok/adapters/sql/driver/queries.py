"""Named SQL, one catalogue a dialect: `queries/common` for what both databases understand, the rest apart.

A query is written once in a .sql file in aiosql's form, and its suffix says what it gives:

    -- name: get_thing(owner, id)^      one row or none       Tx.one
    -- name: list_things(owner)         rows                  Tx.all
    -- name: save_thing(owner, id)!     how many changed      Tx.run
    -- name: save_things*!              many at once          Tx.run_many

Every query carries `:owner`; one that does not is refused when the catalogue is loaded. The few in
`queries/system` cross owners on purpose, and one that does carry `:owner` is refused there.

Two things are written in one form and read as each database wants them: a list is `IN list(:tokens)`, and a
row that is held ends with `FOR UPDATE`, `FOR NO KEY UPDATE` or `FOR SHARE`, which SQLite, having one writer,
does without. In `queries/postgres` a percent sign is written `%%`.
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
_FORMS: Mapping[Dialect, Mapping[re.Pattern[str], str]] = {
    "sqlite": {
        re.compile(r"\bIN list\(:(\w+)\)"): r"IN carray(:\1)",
        re.compile(r"\s+FOR (?:NO KEY )?(?:UPDATE|SHARE)\b"): "",
    },
    "postgres": {
        re.compile(r"\bIN list\(:(\w+)\)"): r"= ANY(:\1)",
    },
}
"""What is written in one form, and how each database has it."""
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


_from_str = cast(
    Callable[[str, str], _Loaded], vars(aiosql)["from_str"]
)  # aiosql types its arguments in part


@cache
def load_queries(dialect: Dialect) -> Catalogue:
    """Every query of a dialect by its name. Read once in a process."""
    catalogue: dict[str, Query] = {}
    for place, text in _texts(dialect):
        for query in parse_queries(text, dialect, place):
            if query.name in catalogue:
                raise ValueError(f"{place}: query {query.name} exists already; give it another name")
            catalogue[query.name] = query
    return MappingProxyType(catalogue)


@cache
def load_system_queries(dialect: Dialect) -> Catalogue:
    """The queries of no owner: the only ones that see rows of all of them."""
    return MappingProxyType(
        {
            query.name: query
            for folder in ("common", dialect)
            for place, text in _files(f"system/{folder}")
            for query in parse_queries(text, dialect, place, of_an_owner=False)
        }
    )


def parse_queries(text: str, dialect: Dialect, place: str, *, of_an_owner: bool = True) -> Iterator[Query]:
    """The queries of one file, all of them of an owner, or none. `place` names the file in an error."""
    for query in read_queries(text, dialect, place):
        if of_an_owner and "owner" not in query.params:
            raise ValueError(
                f"{place}: query {query.name} does not mention :owner; every query is of one owner"
            )
        if not of_an_owner and "owner" in query.params:
            raise ValueError(
                f"{place}: query {query.name} mentions :owner; put it with the queries of owners"
            )
        yield query


def read_queries(text: str, dialect: Dialect, place: str) -> Iterator[Query]:
    """The queries of one file, whomever they are of: the keystore has its own rules."""
    for form, its_own in _FORMS[dialect].items():
        text = form.sub(its_own, text)
    loaded = _from_str(text, _DRIVERS[dialect])
    for name in loaded.available_queries:
        if name.endswith("_cursor"):
            continue  # aiosql offers a cursor form beside each SELECT
        made = cast(QueryFn, getattr(loaded, name))
        kind = _KINDS.get(made.operation)
        if kind is None:
            raise ValueError(
                f"{place}: query {name} has a suffix that Tx does not offer; use none, ^, ! or *!"
            )
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
