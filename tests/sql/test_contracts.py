"""The contracts of the stores on a partitioned database behind PgBouncer, as an installation that has grown.

Without PgBouncer on this machine they run on the partitioned database alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import get_args

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.keystores.postgres import PostgresKeyStore
from gieok.adapters.sql.stores.jobs import claim_due as claim_due_jobs
from gieok.memory.jobs.records import ClaimedJob, JobKind
from gieok.testing.contracts.companion import CompanionStoreContract
from gieok.testing.contracts.decisions import DecisionStoreContract
from gieok.testing.contracts.documents import DocumentStoreContract
from gieok.testing.contracts.facts import FactStoreContract
from gieok.testing.contracts.facts import ScopeOf as FactScopeOf
from gieok.testing.contracts.jobs import ClaimDue, JobScopeOf, JobStoreContract
from gieok.testing.contracts.keystores import KeyStoreContract, OpenKeyStore
from gieok.testing.contracts.notices import NoticeStoreContract
from gieok.testing.contracts.personas import PersonaStoreContract
from gieok.testing.contracts.requests import RequestStoreContract
from gieok.testing.contracts.sessions import LogScopeOf, MessageStoreContract
from gieok.testing.contracts.turns import MemoryStoreContract
from gieok.testing.contracts.vectors import VectorStoreContract
from gieok.testing.settings import settings_for
from tests.decisions.test_chains import ChainContract, Chains, ChainsOf, create_owner
from tests.pgbouncer import PgBouncer, find_pgbouncer
from tests.postgres import Postgres
from tests.vault.opening import Opener

PARTITIONS = 4
KINDS: tuple[JobKind, ...] = get_args(JobKind)


@pytest.fixture(scope="module")
def pgbouncer(postgres: Postgres) -> Iterator[PgBouncer | None]:
    """One for all tests of the module, with two server connections for each database."""
    if find_pgbouncer() is None:
        yield None
        return
    url = postgres.clean_database(PARTITIONS)
    started = PgBouncer(url, pool_size=2)
    postgres.give_back(url)
    yield started
    started.close()


@pytest.fixture
def settings(postgres: Postgres, pgbouncer: PgBouncer | None, tmp_path: Path) -> Iterator[Settings]:
    url = postgres.clean_database(PARTITIONS)
    direct = settings_for(url, tmp_path / "config" / "root.key")
    yield replace(direct, database_url=pgbouncer.through(url)) if pgbouncer else direct
    postgres.give_back(url)


@pytest.fixture
async def grown(settings: Settings) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings) as opened:
        assert (await opened.database.status()).partitions == PARTITIONS
        yield opened


class _OnGrown:
    @pytest.fixture
    def scope_of(self, grown: Gieok) -> FactScopeOf:
        return grown.scope

    @pytest.fixture
    def log_scope_of(self, grown: Gieok) -> LogScopeOf:
        return grown.scope

    @pytest.fixture
    def job_scope_of(self, grown: Gieok) -> JobScopeOf:
        return grown.scope

    @pytest.fixture
    def chains_of(self, grown: Gieok) -> ChainsOf:
        async def chains(owner: str) -> Chains:
            await create_owner(grown, owner)
            return Chains(grown, owner)

        return chains

    @pytest.fixture
    def claim_due(self, grown: Gieok) -> ClaimDue:
        async def claim(now: datetime, lease_until: datetime, limit: int) -> Sequence[ClaimedJob]:
            return await grown.database.system(lambda tx: claim_due_jobs(tx, now, lease_until, KINDS, limit))

        return claim


class TestKeyStore(KeyStoreContract):
    """Through PgBouncer: its locks are those of transactions."""

    @pytest.fixture
    def open_keystore(self, postgres: Postgres, pgbouncer: PgBouncer | None) -> Iterator[OpenKeyStore]:
        url = postgres.new_database()
        pooled = pgbouncer.through(url) if pgbouncer else url
        with Opener(lambda: PostgresKeyStore(pooled)) as opener:
            yield opener.open
        postgres.drop(url)


class TestChains(_OnGrown, ChainContract): ...


class TestCompanion(_OnGrown, CompanionStoreContract): ...


class TestDecisions(_OnGrown, DecisionStoreContract): ...


class TestDocuments(_OnGrown, DocumentStoreContract): ...


class TestFacts(_OnGrown, FactStoreContract): ...


class TestJobs(_OnGrown, JobStoreContract): ...


class TestMessages(_OnGrown, MessageStoreContract): ...


class TestNotices(_OnGrown, NoticeStoreContract): ...


class TestPersonas(_OnGrown, PersonaStoreContract): ...


class TestRequests(_OnGrown, RequestStoreContract): ...


class TestTurns(_OnGrown, MemoryStoreContract): ...


class TestVectors(_OnGrown, VectorStoreContract): ...
