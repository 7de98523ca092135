"""Named queries: how they are found, and what is refused when they are loaded or called."""

from __future__ import annotations

import pytest

from gieok.adapters.sql.driver.database import Database, Tx
from gieok.adapters.sql.driver.queries import load_queries, parse_queries
from gieok.errors import Conflict, InputRefused


@pytest.mark.req("OPS-4")
def test_a_query_without_an_owner_is_refused() -> None:
    with pytest.raises(ValueError, match=r"q\.sql: query count_all has no parameter :owner"):
        list(parse_queries("-- name: count_all()^\nSELECT count(*) FROM owners;", "sqlite", "q.sql"))


def test_a_query_with_an_unsupported_suffix_is_refused() -> None:
    with pytest.raises(ValueError, match="suffix"):
        list(parse_queries("-- name: script(owner)$\nSELECT :owner;", "sqlite", "q.sql"))


def test_both_dialects_have_the_same_queries() -> None:
    shapes = [
        {name: (query.kind, query.params) for name, query in load_queries(dialect).items()}
        for dialect in ("sqlite", "postgres")
    ]
    assert shapes[0] == shapes[1]
    assert "get_owner" in shapes[0]


async def test_the_error_for_a_wrong_call_names_the_query(database: Database) -> None:
    """A wrong name, kind or parameter tells the author of a store what to correct, and stores nothing."""
    await database.write("kim", _add)
    with pytest.raises(LookupError, match="no query get_ownr"):
        await database.read("kim", lambda tx: tx.one("get_ownr"))
    with pytest.raises(TypeError, match=r"get_owner is for Tx\.one"):
        await database.read("kim", lambda tx: tx.all("get_owner"))
    with pytest.raises(
        TypeError, match="add_owner was given missing or unknown parameters: created_at, typo"
    ):
        await database.write("kim", lambda tx: tx.run("add_owner", key_generation=1, typo=""))


@pytest.mark.req("OPS-4")
async def test_a_caller_cannot_set_the_owner_parameter(database: Database) -> None:
    with pytest.raises(TypeError, match="gets its owner from the transaction"):
        await database.read("kim", lambda tx: tx.one("get_owner", owner="lee"))


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize("owner", ["", " ", "kim\0", "'; DROP TABLE owners; --"])
async def test_work_without_an_owner_is_refused(database: Database, owner: str) -> None:
    with pytest.raises(InputRefused, match="owner"):
        await database.read(owner, _must_not_run)
    with pytest.raises(InputRefused, match="owner"):
        await database.write(owner, _must_not_run)


async def test_the_same_key_twice_is_a_conflict(database: Database) -> None:
    """A key that someone else took first is told apart from damage: the caller may read again and decide."""
    rows = [{"origin": b"o" * 16, "affected": b"a" * 16, "type": 1, "from_source": 0}]
    await database.write("kim", lambda tx: tx.run_many("add_impacts", rows))
    with pytest.raises(Conflict) as caught:
        await database.write("kim", lambda tx: tx.run_many("add_impacts", rows))
    assert "kim" not in str(caught.value).replace("gieok", "")


def _add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")


def _must_not_run(tx: Tx) -> None:
    raise AssertionError(tx.owner)
