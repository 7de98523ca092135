"""Settings from the environment and from gieok.toml."""

from gieok.settings.loading import (
    VARIABLES,
    Settings,
    default_keystore_url,
    load_settings,
    setting_origins,
    sqlite_path,
    unknown_variables,
)
from gieok.settings.sections import (
    JWT_NAMES,
    OFFLINE,
    ArchiveSettings,
    EmbedderSettings,
    JwtAlgorithm,
    JwtSettings,
    RetentionSettings,
    ServiceSettings,
)

__all__ = [
    "JWT_NAMES",
    "OFFLINE",
    "VARIABLES",
    "ArchiveSettings",
    "EmbedderSettings",
    "JwtAlgorithm",
    "JwtSettings",
    "RetentionSettings",
    "ServiceSettings",
    "Settings",
    "default_keystore_url",
    "load_settings",
    "setting_origins",
    "sqlite_path",
    "unknown_variables",
]
