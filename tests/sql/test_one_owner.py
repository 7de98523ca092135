"""Every query but those across owners touches the rows of one owner, as the plans of PostgreSQL show.

The plans are made on a database whose tables are partitioned by owner, by a role that row-level security does
not bind: only the query itself says which partitions are read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from gieok.adapters.sql.driver.database import DEFAULT_LIMITS
from gieok.adapters.sql.driver.open import open_database
from gieok.adapters.sql.driver.postgres.schema import NOT_PARTITIONED
from gieok.adapters.sql.driver.postgres.session import PostgresSession
from gieok.adapters.sql.driver.queries import Query, load_queries, parse_queries
from tests.postgres import Postgres

OWNER, PARTITIONS = "kim", 8
_VALUES = {
    "text": "'x'",
    "bytea": r"'\x00'",
    "bigint": "1",
    "integer": "1",
    "smallint": "1",
    "text[]": "ARRAY['x', 'y']",
    "bytea[]": r"ARRAY['\x00', '\x01']::bytea[]",
    "bigint[]": "ARRAY[1, 2]",
    "integer[]": "ARRAY[1, 2]",
    "smallint[]": "ARRAY[1, 2]::smallint[]",
    "double precision": "1.0",
    "numeric": "1",
    "boolean": "true",
}
"""A value of each type that a parameter may have. NULL would let a condition be left out of the plan."""
_TYPES = "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'it'"
_INTEGERS = {
    "list_memories": {"active", "archived"},
    "list_memories_of_persona": {"active", "archived"},
    "import_removed_count": {"removed_count"},
}
"""Parameters whose type a query does not imply; psycopg tells it to the server."""
_CONDITIONS = ("Index Cond", "Recheck Cond", "Filter")
_OWN_PARTITION = """
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = 'owners'::regclass
  AND satisfies_hash_partition(inhparent, %s, right(relname, 1)::integer, %s::text)"""
_FOREIGN_KEYS = """
SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = 'gieok'::regnamespace AND conparentid = 0"""
_UNIQUE_INDEXES = """
SELECT indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indisunique AND relnamespace = 'gieok'::regnamespace AND NOT relispartition"""
_OWNER_TABLES = """
SELECT relname, relkind FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'gieok'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND attname = 'owner'"""


@pytest.fixture(scope="module")
def partitioned_url(postgres: Postgres) -> str:
    """A partitioned database with the tables of this version and no rows."""
    url = postgres.new_database()
    asyncio.run(open_database(url, partitions=PARTITIONS).close())
    return url


@pytest.fixture(scope="module")
def admin(postgres: Postgres, partitioned_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser, whom row-level security does not bind."""
    url = postgres.admin_url(partitioned_url.rpartition("/")[2])
    with psycopg.connect(url, autocommit=True, options="-c search_path=gieok") as connection:
        connection.execute("SET plan_cache_mode = force_custom_plan")
        yield connection


def explain(admin: psycopg.Connection[Any], query: Query) -> dict[str, Any]:
    """The plan of a query for `OWNER`, with some value for each of the other parameters."""
    sql, integers = query.sql, _INTEGERS.get(query.name, set[str]())
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", sql)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", sql.replace("%%", "%"))
    types = ", ".join("integer" if name in integers else "unknown" for name in names)
    admin.execute(f"PREPARE it ({types}) AS {numbered}".encode())
    try:
        found = admin.execute(_TYPES).fetchone()
        assert found is not None
        values = [
            f"'{OWNER}'" if name == "owner" else _VALUES[kind]
            for name, kind in zip(names, found[0], strict=True)
        ]
        call = f"EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE it ({', '.join(values)})"
        row = admin.execute(call.encode()).fetchone()
        assert row is not None
        return row[0][0]["Plan"]
    finally:
        admin.execute("DEALLOCATE it")


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def foreign(plan: dict[str, Any], suffix: str) -> list[str]:
    """What a plan reads or writes beyond the partitions of the owner."""
    found: list[str] = []
    for node in nodes(plan):
        table = node.get("Relation Name")
        if table is None:
            continue
        if node.get("Operation") == "Insert":
            # The rows to insert have the columns of the table, and the owner is the first of them.
            owner = next(each["Output"][0] for each in nodes(node["Plans"][0]) if "Output" in each)
            if not re.search(rf"^'{OWNER}'|\bowner$", owner):
                found.append(f"inserts {owner} into {table}")
        elif node["Node Type"] == "ModifyTable":
            continue  # its scan names what it changes
        elif table in NOT_PARTITIONED:
            conditions = " ".join(str(node.get(each)) for each in _CONDITIONS)
            if f"owner = '{OWNER}'" not in conditions:
                found.append(f"reads {table} of all owners")
        elif not table.endswith(suffix):
            found.append(f"reads {table}")
    return found


@pytest.mark.req("OPS-4")
def test_each_query_touches_one_partition(admin: psycopg.Connection[Any]) -> None:
    own = admin.execute(_OWN_PARTITION, [PARTITIONS, OWNER]).fetchall()
    assert len(own) == 1
    suffix = own[0][0].removeprefix("owners")
    queries = load_queries("postgres").values()
    found = {query.name: foreign(explain(admin, query), suffix) for query in queries}
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM messages WHERE seq = 1 AND :owner <> ''",
        "SELECT 1 FROM messages JOIN sessions USING (session_ref) WHERE messages.owner = :owner",
        "UPDATE sessions SET ended_at = 1 WHERE owner > :owner",
        "DELETE FROM notices WHERE owner = :owner OR kind = 'x'",
        "INSERT INTO notices (owner, persona_id, kind, created_at) SELECT kind, :owner, 'x', 1 FROM notices",
        "SELECT 1 FROM jobs WHERE owner = :owner AND id IN (SELECT id FROM jobs WHERE lane = :owner)",
        "SELECT 1 FROM tokens WHERE label = :owner",
    ],
)
def test_a_query_that_touches_other_owners_is_noticed(admin: psycopg.Connection[Any], sql: str) -> None:
    """The check itself can fail: each of these names the owner, and reads or writes beyond their rows."""
    (query,) = parse_queries(f"-- name: wrong(owner)\n{sql};", "postgres", "q.sql")
    own = admin.execute(_OWN_PARTITION, [PARTITIONS, OWNER]).fetchall()
    assert foreign(explain(admin, query), own[0][0].removeprefix("owners")) != []


@pytest.mark.req("OPS-4")
def test_keys_lead_with_the_owner(admin: psycopg.Connection[Any]) -> None:
    """Primary keys and unique indexes of all tables with owners; foreign keys stay within one owner."""
    tables = dict(admin.execute(_OWNER_TABLES).fetchall())
    assert {table for table, kind in tables.items() if kind != "p"} == NOT_PARTITIONED
    for table, index, first in admin.execute(_UNIQUE_INDEXES).fetchall():
        assert table not in tables or first == "owner" or index == "tokens_by_hash", index
    for table, definition in admin.execute(_FOREIGN_KEYS).fetchall():
        assert re.match(r"FOREIGN KEY \(owner\b.*\) REFERENCES \w+\(owner\b", definition), table


def test_a_statement_is_planned_once_for_all_owners(partitioned_url: str) -> None:
    """And the plan reads the partition of one owner."""
    session = PostgresSession(partitioned_url, DEFAULT_LIMITS)
    query = load_queries("postgres")["get_owner"].sql
    for number in range(20):
        session.begin(f"owner-{number}", writes=False)
        session.fetch(query, {"owner": f"owner-{number}"})
        session.commit()
    plans = "SELECT custom_plans, generic_plans > 0 FROM pg_prepared_statements"
    assert session.ask(f"{plans} WHERE strpos(statement, 'FROM owners') > 0", {}) == (0, True)
    session.close()


@pytest.mark.req("OPS-4")
def test_a_partition_is_closed_to_those_who_name_it(
    admin: psycopg.Connection[Any], partitioned_url: str
) -> None:
    """Row-level security of a table does not hold there, so that nobody but a superuser can use them."""
    with psycopg.connect(partitioned_url, options="-c search_path=gieok -c gieok.owner=kim") as connection:
        connection.execute("INSERT INTO owners VALUES ('kim', 1, NULL, 'now')")
        assert connection.execute("SELECT owner FROM owners").fetchall() == [("kim",)]
        partitions = [f"owners_p{number}" for number in range(PARTITIONS)]
        for name in partitions:
            assert connection.execute(f"SELECT owner FROM {name}".encode()).fetchall() == []
            assert connection.execute(f"DELETE FROM {name}".encode()).rowcount == 0
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(f"INSERT INTO {name} VALUES ('kim', 1, NULL, 'now')".encode())
        connection.rollback()
    unprotected = admin.execute(
        "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"
        " AND NOT (relrowsecurity AND relforcerowsecurity)"
    ).fetchall()
    assert unprotected == []
    assert admin.execute(
        "SELECT count(*) FROM pg_policy JOIN pg_class ON polrelid = pg_class.oid WHERE relispartition"
    ).fetchone() == (0,)
