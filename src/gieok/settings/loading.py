"""Load the settings from the environment and from gieok.toml. The environment takes precedence."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from gieok.errors import SettingsInvalid
from gieok.settings.sections import (
    API_KEY_VARIABLES,
    ARCHIVE_NAMES,
    DEFAULT_PARTITIONS,
    DEFAULT_RETENTION,
    DEFAULT_SERVICE,
    EMBEDDER_NAMES,
    JWT_NAMES,
    NO_ARCHIVE,
    NO_EMBEDDER,
    OFFLINE,
    RETENTION_NAMES,
    SERVICE_NAMES,
    AccountPlan,
    ArchiveSettings,
    EmbedderSettings,
    JwtSettings,
    RetentionSettings,
    ServiceSettings,
    check_model,
    parse_account_plan,
    parse_archive,
    parse_background,
    parse_cache_url,
    parse_embedder,
    parse_jwt,
    parse_partitions,
    parse_read_database_url,
    parse_retention,
    parse_service,
    parse_timezone,
)

_PREFIX = "GIEOK_"
_NAMES = (
    *("database_url", "read_database_url", "keystore_url", "root_key_file", "model", "model_base_url"),
    *("memory_model", "partitions", "timezone", "account_plan", "background", "cache_url"),
    *(*SERVICE_NAMES, *RETENTION_NAMES, *ARCHIVE_NAMES, *JWT_NAMES, *EMBEDDER_NAMES),
)
_SECRETS = ("root_key", "root_key_next", "embedder_api_key", "model_api_key")

VARIABLES = tuple(_PREFIX + name.upper() for name in (*_NAMES, *_SECRETS, "config", "debug", "user"))
"""Every environment variable that Gieok reads."""


@dataclass(frozen=True)
class Settings:
    """All settings. Each is `GIEOK_<NAME>` in the environment and `<name>` in gieok.toml.

    Keys come only from the environment or from a file of their own, never from gieok.toml.
    """

    database_url: str = field(repr=False)
    """`sqlite:///path` or `postgresql://…`"""
    keystore_url: str = field(repr=False)
    """The same forms. Separate from the data; next to the database by default."""
    root_key_file: Path | None
    """A mounted secret, which Gieok only reads. None: `own_key_file`, created on the first start."""
    own_key_file: Path
    """Outside the data folder, so that a copy of the data does not contain the key."""
    model: str
    """`offline`, which needs no network, or `google:…`, `openai:…`, `anthropic:…`."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The root key and the API keys of the embedder and the model, by environment variable, if set."""
    service: ServiceSettings = DEFAULT_SERVICE
    """How `gieok serve` listens."""
    jwt: JwtSettings | None = None
    """Whose JWTs are accepted besides tokens; None: nobody's."""
    embedding: EmbedderSettings = NO_EMBEDDER
    """Which embedder makes the vectors of memories."""
    model_base_url: str | None = field(default=None, repr=False)
    """The model's server, if not its provider: any server with OpenAI's chat completions API."""
    memory_model: str | None = None
    """The model that remembers and summarises, such as a cheaper one. None: `model`."""
    timezone: str = "UTC"
    """The IANA name of the timezone whose days are meant, such as Asia/Seoul."""
    account_plan: AccountPlan = "premium"
    """The account plan of users whose token or call names none: `premium` has no limits."""
    background: bool = True
    """Whether an open Gieok does background work itself, or leaves it to `gieok worker`."""
    read_database_url: str | None = field(default=None, repr=False)
    """A read replica of a PostgreSQL database; None without one."""
    partitions: int = DEFAULT_PARTITIONS
    """Hash partitions by owner of the tables of a new PostgreSQL database; 0 for none."""
    retention: RetentionSettings = DEFAULT_RETENTION
    """How long jobs, watches, audit entries, usage and raw messages are kept."""
    cache_url: str | None = field(default=None, repr=False)
    """A Redis server that the processes of a service share: `redis://…`, `rediss://…` or `unix://…`."""
    archive: ArchiveSettings = NO_ARCHIVE
    """The archive of messages and summaries in MongoDB, if there is one."""

    @property
    def data_folder(self) -> Path | None:
        """The folder of the SQLite database; None for PostgreSQL."""
        path = sqlite_path(self.database_url)
        return path.parent if path else None


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Load the settings. SettingsInvalid names the setting that is wrong."""
    environ = os.environ if environ is None else environ
    values = {**_from_file(environ, folder or _current_folder()), **_from_environment(environ)}
    database_url = values.get("database_url") or f"sqlite:///{_default_data_folder() / 'gieok.db'}"
    root_key_file = values.get("root_key_file")
    model, model_base_url = values.get("model") or OFFLINE, values.get("model_base_url")
    memory_model = values.get("memory_model")
    check_model(model, model_base_url)
    if memory_model is not None:
        check_model(memory_model, None if memory_model == OFFLINE else model_base_url)
    providers = {name.partition(":")[0] for name in (model, memory_model) if name is not None}
    provider_keys = [key for provider in providers for key in API_KEY_VARIABLES.get(provider, ())]
    secret_names = (*(_PREFIX + name.upper() for name in _SECRETS), *provider_keys)
    return Settings(
        database_url=database_url,
        keystore_url=values.get("keystore_url") or default_keystore_url(database_url),
        root_key_file=_expand_user(root_key_file, "root_key_file") if root_key_file else None,
        own_key_file=platformdirs.user_config_path("gieok") / "keys" / "root.key",
        model=model,
        secrets={name: environ[name] for name in secret_names if environ.get(name)},
        service=parse_service(_select(values, SERVICE_NAMES)),
        jwt=parse_jwt(_select(values, JWT_NAMES)),
        embedding=parse_embedder(_select(values, EMBEDDER_NAMES)),
        model_base_url=model_base_url,
        memory_model=memory_model,
        timezone=parse_timezone(values.get("timezone", "UTC")),
        account_plan=parse_account_plan(values),
        background=parse_background(values),
        read_database_url=parse_read_database_url(values, database_url),
        partitions=parse_partitions(values),
        retention=parse_retention(_select(values, RETENTION_NAMES)),
        cache_url=parse_cache_url(values),
        archive=parse_archive(_select(values, ARCHIVE_NAMES)),
    )


def setting_origins(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> dict[str, str]:
    """The source of each setting: its environment variable, the path of gieok.toml, or "default"."""
    environ = os.environ if environ is None else environ
    folder = folder or _current_folder()
    in_file = dict.fromkeys(_from_file(environ, folder), str(_config_file(environ, folder)))
    in_environment = {name: _PREFIX + name.upper() for name in _from_environment(environ)}
    return {**dict.fromkeys(_NAMES, "default"), **in_file, **in_environment}


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Variables that begin with GIEOK_ but are not settings, with the closest known name."""
    unknown = sorted(name for name in environ if name.startswith(_PREFIX) and name not in VARIABLES)
    return [name + _did_you_mean(name, VARIABLES) for name in unknown]


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite URL; None for another database."""
    if not url.startswith("sqlite:///"):
        return None
    path = _expand_user(url.removeprefix("sqlite:///"), "database_url")
    return path if path.is_absolute() else _current_folder() / path


def default_keystore_url(database_url: str) -> str:
    """The keystore next to a database: a second file, or a schema of its own on the same server."""
    path = sqlite_path(database_url)
    return f"sqlite:///{path}.keys" if path else database_url


def _default_data_folder() -> Path:
    """A subfolder, because on macOS the user's data folder is also the folder of the settings and the key,
    and a copy of the data must not contain the key."""
    return platformdirs.user_data_path("gieok") / "data"


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise SettingsInvalid(
            "the current folder was deleted; change to an existing one and start again"
        ) from None


def _expand_user(path: str, name: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise SettingsInvalid(
            f"{name} begins with the home folder of an unknown user; give the absolute path"
        ) from None


def _select(values: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name in names}


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[key] for name in _NAMES if environ.get(key := _PREFIX + name.upper())}


def _from_file(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    path = _config_file(environ, folder)
    if not environ.get("GIEOK_CONFIG") and not path.exists():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"{path} cannot be read as TOML: {error}") from error
    return {name: _text_value(path, name, value) for name, value in content.items()}


def _config_file(environ: Mapping[str, str], folder: Path) -> Path:
    configured = environ.get("GIEOK_CONFIG")
    return _expand_user(configured, "GIEOK_CONFIG") if configured else folder / "gieok.toml"


def _text_value(path: Path, name: str, value: Any) -> str:
    if name not in _NAMES:
        raise SettingsInvalid(f"{path}: '{name}' is not a setting{_did_you_mean(name, _NAMES)}")
    numbers = (
        *(*SERVICE_NAMES, *RETENTION_NAMES, "archive_messages_after_days"),
        *("vector_cache_mb", "background"),
    )
    if name in numbers and isinstance(value, int | float):
        return str(value).lower()
    if not isinstance(value, str) or not value:
        raise SettingsInvalid(f"{path}: '{name}' must be a non-empty string")
    return value


def _did_you_mean(name: str, known: tuple[str, ...]) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean '{close[0]}'?)" if close else f" (known: {', '.join(names)})"
