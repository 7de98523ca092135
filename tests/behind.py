"""SQL and bytes behind Gieok's back: what an intruder, a broken disk or an auditor would do and see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import psycopg

from gieok.settings import Settings, sqlite_path
from tests.postgres import Postgres


class Behind:
    """Reaches the database of a test as its superuser, whom row security does not bind."""

    def __init__(self, settings: Settings, server: Postgres | None, folder: Path) -> None:
        self._settings = settings
        self._server = server
        self._folder = folder

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement of SQL that both databases understand."""
        path = sqlite_path(self._settings.database_url)
        return _on_sqlite(path, sql) if path else self._on_postgres(sql)

    def literal(self, value: bytes) -> str:
        """Bytes as the database writes them in a statement."""
        return f"x'{value.hex()}'" if self._server is None else f"'\\x{value.hex()}'::bytea"

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return self.run(f"SELECT count(*) FROM {table}")[0][0]

    def files_with(self, *words: str) -> dict[str, list[str]]:
        """The files of the database, its log and its keystore that hold each word in clear."""
        found: dict[str, list[str]] = {word: [] for word in words}
        for path in self.files():
            content = path.read_bytes()
            for word in words:
                if word.encode() in content:
                    found[word].append(path.name)
        return found

    def files(self) -> list[Path]:
        """Everything on the disk that belongs to it."""
        if not self._server:
            return [path for path in self._folder.rglob("*") if path.is_file()]
        self.run("CHECKPOINT")
        (number,) = self.run("SELECT oid FROM pg_database WHERE datname = current_database()")[0]
        own = (self._server.folder / "base" / str(number)).iterdir()
        log = (self._server.folder / "pg_wal").iterdir()
        return [path for path in (*own, *log) if path.is_file()]

    def _on_postgres(self, sql: str) -> list[tuple[Any, ...]]:
        assert self._server is not None
        url = self._server.admin_url(self._settings.database_url.rsplit("/", 1)[1])
        with psycopg.connect(url, autocommit=True, options="-c search_path=gieok") as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []


def _on_sqlite(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    connection.pragma("foreign_keys", False)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()
