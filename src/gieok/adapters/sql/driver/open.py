"""Open databases and keystores by URL. The only module that imports both SQLite and PostgreSQL."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from gieok.adapters.sql.driver.database import DEFAULT_LIMITS, Database, DatabaseStatus, Limits, ReplicaStatus
from gieok.adapters.sql.driver.sqlite import SqliteDatabase, find_sqlite
from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore, keystore_file_exists
from gieok.errors import SettingsInvalid
from gieok.vault import KeyStore

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")
_DATABASE, _KEYSTORE = "database URL", "keystore URL"


def open_database(
    url: str, *, limits: Limits = DEFAULT_LIMITS, partitions: int = 0, read_url: str | None = None
) -> Database:
    """Open the database at `url`. Creates it if it does not exist and migrates an older schema.

    The tables of a new PostgreSQL database get so many hash `partitions` by owner; 0 for none.
    `read_url` is that of a read replica of a PostgreSQL database.

    `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://user@host/name`. Blocks while
    it opens. Raises `SettingsInvalid` for an unsupported URL; `StoreUnavailable`, `StoreDamaged` or
    `SchemaMismatch` if the database cannot be used.
    """
    if _is_postgres(url):
        from gieok.adapters.sql.driver.postgres.database import PostgresDatabase  # noqa: PLC0415 - psycopg takes 0.3 s to import

        return PostgresDatabase(url, limits, partitions=partitions, read_url=read_url)
    return SqliteDatabase(_sqlite_path(url, _DATABASE), limits)


def open_keystore(url: str, *, beside: str | None = None) -> KeyStore:
    """Open the keystore at `url`, of the same forms. In PostgreSQL it has its own schema.

    `beside` is the URL of the database that is used with it. SettingsInvalid if both would share the server
    connections of a pooler: a transaction that holds one could wait for ever for the keystore's.
    """
    if _is_postgres(url):
        from gieok.adapters.sql.keystores.postgres import PostgresKeyStore  # noqa: PLC0415 - as above

        return PostgresKeyStore(url, beside=beside)
    return SqliteKeyStore(_sqlite_path(url, _KEYSTORE))


def find_database(url: str) -> DatabaseStatus | None:
    """The status of the database at `url`, without creating or migrating it; None if it does not exist.

    Raises the errors of `open_database`.
    """
    if _is_postgres(url):
        from gieok.adapters.sql.driver.postgres.database import find_postgres  # noqa: PLC0415 - as above

        return find_postgres(url)
    return find_sqlite(_sqlite_path(url, _DATABASE))


def find_replica_status(url: str, database_url: str) -> ReplicaStatus:
    """How far the read replica at `url` is behind the database. StoreUnavailable if one of both cannot be
    reached, SettingsInvalid if it is no replica of that database."""
    _is_postgres(url)
    from gieok.adapters.sql.driver.postgres.replica import find_replica  # noqa: PLC0415 - as above

    return find_replica(url, database_url)


def find_keystore(url: str, *, beside: str | None = None) -> KeyStore | None:
    """Open the keystore at `url` as `open_keystore` does, if it exists; None otherwise."""
    if _is_postgres(url):
        from gieok.adapters.sql.keystores.postgres import keystore_exists  # noqa: PLC0415 - as above

        return open_keystore(url, beside=beside) if keystore_exists(url) else None
    return open_keystore(url) if keystore_file_exists(_sqlite_path(url, _KEYSTORE)) else None


def _is_postgres(url: str) -> bool:
    if not url.startswith(_POSTGRES):
        return False
    if find_spec("psycopg") is None:
        raise SettingsInvalid(
            "a PostgreSQL URL needs psycopg, which is not installed; run `pip install 'gieok[postgres]'`"
        )
    return True


def _sqlite_path(url: str, what: str) -> Path:
    if not url.startswith("sqlite:"):
        scheme = url.partition(":")[0] if "://" in url else "none"
        raise SettingsInvalid(f"a {what} must begin with sqlite:/// or postgresql://, not with {scheme}")
    path = url.removeprefix(_SQLITE)
    if path == url or path in ("", ":memory:") or "\0" in path:
        raise SettingsInvalid(
            f"the {what} needs the path of a file, sqlite:///gieok.db or sqlite:////var/lib/gieok/gieok.db; "
            "an in-memory database is not supported"
        )
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise SettingsInvalid(
            f"the {what} begins with the home folder of an unknown user; give the full path"
        ) from None
