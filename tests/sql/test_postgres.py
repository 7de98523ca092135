"""What only PostgreSQL has: row-level security, a server that goes away, a commit that nobody heard of."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from gieok.adapters.sql.driver.database import Limits, Tx
from gieok.adapters.sql.driver.open import find_database, find_keystore, open_database, open_keystore
from gieok.errors import OutcomeUnknown, SettingsInvalid, StoreUnavailable
from tests.postgres import Postgres

_WAITS = """
SELECT 1 FROM pg_stat_activity
WHERE datname = current_database() AND wait_event = 'advisory' AND now() - query_start > '300 ms'
"""


def add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")


def end_connections(url: str) -> None:
    with psycopg.connect(url) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A server that a test may stop without disturbing others."""
    server = Postgres()
    yield server
    server.close()


@pytest.mark.req("OPS-4")
async def test_row_security_holds_against_raw_sql(postgres: Postgres) -> None:
    """Even a statement without any WHERE, by the role that owns the tables, sees one owner only."""
    url = postgres.new_database()
    database = open_database(url)
    await database.write("kim", add)
    await database.write("lee", add)
    await database.close()
    with psycopg.connect(url, autocommit=True) as connection:
        everyone = "SELECT owner FROM gieok.owners"
        assert connection.execute(everyone).fetchall() == []
        connection.execute("SET gieok.owner = 'lee'")
        assert connection.execute(everyone).fetchall() == [("lee",)]
        assert connection.execute("DELETE FROM gieok.owners WHERE owner = 'kim'").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO gieok.owners VALUES ('park', 1, NULL, 'now')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("UPDATE gieok.owners SET owner = 'kim2'")


@pytest.mark.req("OPS-4")
async def test_the_owner_of_one_transaction_does_not_reach_the_next(postgres: Postgres) -> None:
    """A connection is used by one owner after another, and facts without an owner see no rows at all."""
    database = open_database(postgres.new_database(), limits=Limits(connections=1))
    await database.write("kim", add)
    assert await database.read("lee", lambda tx: tx.one("get_owner")) is None
    await database.set_meta("analyzer", "1")
    assert await database.read("kim", lambda tx: tx.one("get_owner")) == (1, None)
    await database.close()


async def test_status_warns_of_a_role_that_bypasses_row_security(postgres: Postgres) -> None:
    name = postgres.new_database().rpartition("/")[2]
    database = open_database(postgres.admin_url(name))
    assert (await database.status()).bypasses_row_security is True
    await database.close()


@pytest.mark.req("ENG-6")
async def test_the_database_reconnects_to_a_restarted_server(own_server: Postgres) -> None:
    """While it is away every caller is told so; afterwards work goes on, and nothing was applied twice."""
    database = open_database(own_server.new_database(), limits=Limits(connections=3))
    await asyncio.gather(*(database.write(f"owner-{number}", add) for number in range(6)))
    own_server.stop()
    answers = await asyncio.gather(
        *(database.write("kim", add) for _ in range(6)), database.check(), return_exceptions=True
    )
    own_server.start()
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 7
    assert "start PostgreSQL" in str(answers[0])
    assert "not-to-be-seen" not in str(answers[0])
    assert await database.read("kim", lambda tx: tx.one("get_owner")) is None
    assert await asyncio.gather(*(database.write(f"again-{number}", add) for number in range(6))) == [1] * 6
    await database.check()
    await database.close()


@pytest.mark.req("ENG-6")
async def test_a_connection_lost_during_a_write_stores_nothing(postgres: Postgres) -> None:
    url = postgres.new_database()
    database = open_database(url, limits=Limits(connections=1))
    runs: list[str] = []

    def work(tx: Tx) -> None:
        runs.append("run")
        add(tx)
        end_connections(url)
        tx.one("get_owner")

    with pytest.raises(StoreUnavailable, match=r"57P01|cannot be reached"):
        await database.write("kim", work)
    assert runs == ["run"]
    assert await database.read("kim", lambda tx: tx.one("get_owner")) is None
    await database.close()


@pytest.mark.req("ENG-6")
async def test_a_commit_with_an_unknown_outcome_is_reported_and_not_repeated(postgres: Postgres) -> None:
    url = postgres.new_database()
    database = open_database(url, limits=Limits(connections=1))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION gieok.die() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON gieok.owners DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW WHEN (NEW.owner = 'kim') EXECUTE FUNCTION gieok.die()"
        )
    runs: list[str] = []
    with pytest.raises(OutcomeUnknown, match="not known whether this was stored"):
        await database.write("kim", lambda tx: (runs.append("run"), add(tx)))
    assert runs == ["run"]
    assert await database.write("lee", add) == 1
    await database.close()


@pytest.mark.req("ENG-6")
async def test_a_read_that_loses_its_connection_can_be_repeated(postgres: Postgres) -> None:
    """Nothing was to be stored, so the outcome is known."""
    url = postgres.new_database()
    database = open_database(url, limits=Limits(connections=1))

    with pytest.raises(StoreUnavailable, match=r"57P01|cannot be reached"):
        await database.read("kim", lambda _: end_connections(url))
    assert await database.write("kim", add) == 1
    await database.close()


async def test_waiting_for_a_row_lock_times_out(postgres: Postgres) -> None:
    database = open_database(postgres.new_database(), limits=Limits(connections=2, lock_seconds=0.2))
    await database.write("kim", add)
    held, release = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        tx.run("set_owner_key_generation", key_generation=2)
        held.set()
        assert release.wait(30)

    holding = asyncio.create_task(database.write("kim", hold))
    assert await asyncio.to_thread(held.wait, 30)
    with pytest.raises(StoreUnavailable, match="took too long"):
        await database.write("kim", lambda tx: tx.run("set_owner_key_generation", key_generation=3))
    release.set()
    await holding
    assert await database.read("kim", lambda tx: tx.one("get_owner")) == (2, None)
    await database.close()


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        (
            "postgresql://gieok:secret@127.0.0.1:1/none",
            StoreUnavailable,
            "gieok@127.0.0.1:1/none cannot be reached",
        ),
        ("postgresql://gieok:secret@127.0.0.1:x/none", StoreUnavailable, "cannot be reached"),
        ("postgresql://%zz", SettingsInvalid, "not a valid PostgreSQL URL"),
        ("postgresql://gieok:pass@secret@127.0.0.1:1/none", SettingsInvalid, "percent-encode the password"),
        ("postgresql://gieok:pass/secret@127.0.0.1:1/none", SettingsInvalid, "percent-encode the password"),
    ],
)
def test_the_error_for_an_unreachable_server_has_no_password(
    url: str, error: type[Exception], message: str
) -> None:
    for use in (open_database, find_database, open_keystore, find_keystore):
        with pytest.raises(error, match=message if "database" in use.__name__ else None) as caught:
            use(url)
        assert "secret" not in str(caught.value)


def test_the_error_for_a_role_without_permission_says_the_remedy(postgres: Postgres) -> None:
    url = postgres.new_database()
    name = url.rpartition("/")[2]
    with psycopg.connect(postgres.admin_url(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} OWNER TO postgres".encode())
    with pytest.raises(StoreUnavailable, match="grant it the schema gieok, or CREATE on the database"):
        open_database(url)


def test_opening_waits_longer_for_a_migration_than_for_a_lock(postgres: Postgres) -> None:
    """Another process migrates a large table; the limits of daily work must not end the wait for it."""
    url = postgres.new_database()
    limits = Limits(lock_seconds=0.05, statement_seconds=0.1)
    with ThreadPoolExecutor() as pool:
        with psycopg.connect(url, autocommit=True) as migrating:
            migrating.execute("SELECT pg_advisory_lock(%s)", [0x6769656F])
            opening = pool.submit(open_database, url, limits=limits)
            while not opening.done() and not migrating.execute(_WAITS).fetchall():
                pass
        asyncio.run(opening.result().close())
