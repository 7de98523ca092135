"""Settings for a test, which do not read or write the user's own files."""

from __future__ import annotations

from pathlib import Path

from gieok.settings import Settings, default_keystore_url


def settings_for(database_url: str, key_file: Path) -> Settings:
    """The offline model on this database, with a keystore next to it. The key file is created when needed.

    Background work is off, so that a test decides when jobs run. A new PostgreSQL database has no partitions,
    so that it is there sooner.
    """
    return Settings(
        database_url=database_url,
        keystore_url=default_keystore_url(database_url),
        root_key_file=None,
        own_key_file=key_file,
        model="offline",
        background=False,
        partitions=0,
    )
