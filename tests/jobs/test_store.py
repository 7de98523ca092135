"""Jobs in SQL: the contract on both databases, and the queries across owners."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import get_args

import psycopg
import pytest

from gieok import Gieok
from gieok.adapters.sql.driver.queries import load_system_queries, parse_queries
from gieok.adapters.sql.stores.jobs import claim_due as claim_due_jobs
from gieok.adapters.sql.stores.jobs import count_due
from gieok.memory.jobs.records import ClaimedJob, JobKind
from gieok.testing.contracts.jobs import LEASE, START, ClaimDue, JobScopeOf, JobStoreContract, queue
from gieok.testing.contracts.sessions import append, message, start
from tests.postgres import Postgres

KINDS: tuple[JobKind, ...] = get_args(JobKind)


@pytest.fixture
def job_scope_of(gieok: Gieok) -> JobScopeOf:
    return gieok.scope


@pytest.fixture
def claim_due(gieok: Gieok) -> ClaimDue:
    async def claim(now: datetime, lease_until: datetime, limit: int) -> Sequence[ClaimedJob]:
        return await gieok.database.system(lambda tx: claim_due_jobs(tx, now, lease_until, KINDS, limit))

    return claim


class TestSqlJobStore(JobStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""


async def test_only_the_kinds_that_a_worker_can_run_are_claimed_and_counted(
    gieok: Gieok, job_scope_of: JobScopeOf
) -> None:
    """A process without an embedder leaves embedding to others."""
    await queue(job_scope_of("minsu"), kind="embed")
    summary = await queue(job_scope_of("minsu"))
    assert await gieok.database.system_read(lambda tx: count_due(tx, START, ("summary", "walk"))) == 1
    claimed = await gieok.database.system(
        lambda tx: claim_due_jobs(tx, START, START + LEASE, ("summary", "walk"), 9)
    )
    assert [each.job.id for each in claimed] == [summary]


ACROSS_OWNERS = {
    *("jobs", "owners", "persona_memory_configs", "seal_counts", "tokens"),
    *("events", "event_consumers", "dead_letters"),
}
"""Tables that hold no content: names, counts, times, hashes. `docs/decisions/0005` says why each is there."""


@pytest.mark.req("OPS-4")
def test_queries_across_owners_read_no_content() -> None:
    for dialect in ("sqlite", "postgres"):
        for query in load_system_queries(dialect).values():
            tables = set(re.findall(r"\b(?:FROM|UPDATE|INTO|JOIN)\s+(\w+)", query.sql))
            parts = {"due", "queued", "SKIP"}  # of a query itself
            assert tables - parts <= ACROSS_OWNERS, query.name


def test_both_dialects_have_the_same_queries_across_owners() -> None:
    shapes = [
        {name: (query.kind, query.params) for name, query in load_system_queries(dialect).items()}
        for dialect in ("sqlite", "postgres")
    ]
    assert shapes[0] == shapes[1]


def test_a_query_of_one_owner_is_refused_among_those_across_owners() -> None:
    with pytest.raises(ValueError, match="has a parameter :owner"):
        list(parse_queries("-- name: peek(owner)\nSELECT :owner;", "sqlite", "q.sql", owned=False))


@pytest.mark.req("OPS-4")
async def test_a_worker_on_postgresql_sees_jobs_of_all_owners_and_nothing_else(
    request: pytest.FixtureRequest, gieok: Gieok, database_url: str, job_scope_of: JobScopeOf
) -> None:
    """By raw SQL under row-level security: the worker's setting opens one table, for looking and claiming."""
    if gieok.database.dialect != "postgres":
        pytest.skip("SQLite has no row-level security")
    scope = gieok.scope("minsu")
    await start(scope)
    await append(scope, message(1))
    await queue(job_scope_of("minsu"))
    assert isinstance(request.getfixturevalue("postgres"), Postgres)
    with psycopg.connect(database_url, autocommit=True, options="-c search_path=gieok") as connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
        connection.execute("SET gieok.worker = 'on'")
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
        for table in ("owners", "sessions", "messages", "memories"):
            assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)
        assert connection.execute("DELETE FROM jobs").rowcount == 0
