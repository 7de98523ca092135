"""What a user may set, in the environment or in gieok.toml. Each part of Gieok has its own file here."""

from gieok.settings.loading import (
    VARIABLES,
    Settings,
    keystore_beside,
    load_settings,
    setting_origins,
    sqlite_path,
    unknown_variables,
)

__all__ = [
    "VARIABLES",
    "Settings",
    "keystore_beside",
    "load_settings",
    "setting_origins",
    "sqlite_path",
    "unknown_variables",
]
