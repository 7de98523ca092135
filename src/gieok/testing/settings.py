"""Settings for a test: nothing of the user's own is read or written."""

from __future__ import annotations

from pathlib import Path

from gieok.settings import Settings, keystore_beside


def settings_for(database_url: str, key_file: Path) -> Settings:
    """The offline model on this database; its keystore lies beside it, its key file is made when needed."""
    return Settings(
        database_url=database_url,
        keystore_url=keystore_beside(database_url),
        root_key_file=None,
        own_key_file=key_file,
        model="offline",
    )
