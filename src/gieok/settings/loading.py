"""Environment and gieok.toml to one frozen object. The environment wins."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from gieok.errors import SettingsInvalid
from gieok.settings.embedder import EMBEDDER_NAMES, NO_EMBEDDER, EmbedderSettings, embedder_settings
from gieok.settings.jwt import JWT_NAMES, JwtSettings, jwt_settings
from gieok.settings.model import OFFLINE, known_model, model_key_names
from gieok.settings.service import DEFAULT_SERVICE, ServiceSettings, service_settings

_PREFIX = "GIEOK_"
_SERVICE = tuple(each.name for each in fields(ServiceSettings))
_MODEL = ("model", "model_base_url")
_NAMES = ("database_url", "keystore_url", "root_key_file", *_MODEL, *_SERVICE, *JWT_NAMES, *EMBEDDER_NAMES)
_SECRETS = ("root_key", "root_key_next", "embedder_api_key", "model_api_key")

VARIABLES = tuple(_PREFIX + name.upper() for name in (*_NAMES, *_SECRETS, "config", "debug", "user"))
"""Every environment variable that means something to Gieok."""


@dataclass(frozen=True)
class Settings:
    """Where things are. What a user may set is `GIEOK_<NAME>` in the environment and `<name>` in gieok.toml;
    a key itself only comes from the environment or from a file of its own."""

    database_url: str = field(repr=False)
    """`sqlite:///path` or `postgresql://…`"""
    keystore_url: str = field(repr=False)
    """The same forms; apart from the data, and beside the database unless told otherwise."""
    root_key_file: Path | None
    """A mounted secret, which Gieok only reads. None: a key file of its own, made on the very first start."""
    own_key_file: Path
    """Where that file is; outside the data folder, so that a copy of the data is not a copy of the key."""
    model: str
    """`offline`, which needs no network, or `google:…`, `openai:…`, `anthropic:…`."""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Keys by the name of their variable, if set: the root key's, the embedder's and the model's."""
    service: ServiceSettings = DEFAULT_SERVICE
    """How `gieok serve` listens."""
    jwt: JwtSettings | None = None
    """Whose JWTs are accepted beside tokens; None: nobody's."""
    embedding: EmbedderSettings = NO_EMBEDDER
    """What makes vectors of memories."""
    model_base_url: str | None = field(default=None, repr=False)
    """Where the model is asked, if not at its provider: a server that speaks OpenAI's chat completions."""

    @property
    def data_folder(self) -> Path | None:
        """Where the embedded database lies; None for a server."""
        path = sqlite_path(self.database_url)
        return path.parent if path else None


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings; SettingsInvalid names the one that is wrong."""
    environ = os.environ if environ is None else environ
    given = {**_from_file(environ, folder or _here()), **_from_environment(environ)}
    database_url = given.get("database_url") or f"sqlite:///{_data_folder() / 'gieok.db'}"
    root_key_file = given.get("root_key_file")
    model = known_model(given.get("model") or OFFLINE, given.get("model_base_url"))
    keys = (*(_PREFIX + name.upper() for name in _SECRETS), *model_key_names(model))
    secrets = {key: environ[key] for key in keys if environ.get(key)}
    return Settings(
        database_url=database_url,
        keystore_url=given.get("keystore_url") or keystore_beside(database_url),
        root_key_file=_expanded(root_key_file, "root_key_file") if root_key_file else None,
        own_key_file=platformdirs.user_config_path("gieok") / "keys" / "root.key",
        model=model,
        secrets=secrets,
        service=service_settings({name: value for name, value in given.items() if name in _SERVICE}),
        jwt=jwt_settings({name: value for name, value in given.items() if name in JWT_NAMES}),
        embedding=embedder_settings({name: value for name, value in given.items() if name in EMBEDDER_NAMES}),
        model_base_url=given.get("model_base_url"),
    )


def setting_origins(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> dict[str, str]:
    """Where each setting comes from: its environment variable, the path of gieok.toml, or "default"."""
    environ = os.environ if environ is None else environ
    folder = folder or _here()
    in_file = dict.fromkeys(_from_file(environ, folder), str(_file(environ, folder)))
    in_environment = {name: _PREFIX + name.upper() for name in _from_environment(environ)}
    return {**dict.fromkeys(_NAMES, "default"), **in_file, **in_environment}


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Variables that look meant for Gieok and are not, with the name that they resemble."""
    known = set(VARIABLES)
    strange = sorted(name for name in environ if name.startswith(_PREFIX) and name not in known)
    return [name + _did_you_mean(name, known) for name in strange]


def sqlite_path(url: str) -> Path | None:
    """The file of an embedded database."""
    if not url.startswith("sqlite:///"):
        return None
    path = _expanded(url.removeprefix("sqlite:///"), "database_url")
    return path if path.is_absolute() else _here() / path


def _data_folder() -> Path:
    """Not the folder that platformdirs names but one in it: on macOS that one holds the settings as well, and
    a copy of the data must not be a copy of the key."""
    return platformdirs.user_data_path("gieok") / "data"


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise SettingsInvalid(
            "the current folder was removed; change to one that is there and start again"
        ) from None


def _expanded(path: str, what: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise SettingsInvalid(
            f"{what} begins with the home folder of an unknown user; give the whole path"
        ) from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[key] for name in _NAMES if environ.get(key := _PREFIX + name.upper())}


def _from_file(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    path = _file(environ, folder)
    if not environ.get("GIEOK_CONFIG") and not path.exists():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"{path} cannot be read as TOML: {error}") from error
    return {name: _text(path, name, value) for name, value in content.items()}


def _file(environ: Mapping[str, str], folder: Path) -> Path:
    named = environ.get("GIEOK_CONFIG")
    return _expanded(named, "GIEOK_CONFIG") if named else folder / "gieok.toml"


def _text(path: Path, name: str, value: Any) -> str:
    if name not in _NAMES:
        raise SettingsInvalid(f"{path}: '{name}' is not a setting{_did_you_mean(name, set(_NAMES))}")
    if name in (*_SERVICE, "vector_cache_mb") and isinstance(value, int | float):
        return str(value).lower()
    if not isinstance(value, str) or not value:
        raise SettingsInvalid(f"{path}: '{name}' must be a text that is not empty")
    return value


def _did_you_mean(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else f" (known: {', '.join(sorted(known))})"


def keystore_beside(database_url: str) -> str:
    """Where a database's keystore lies unless told otherwise: a file, or a schema, of its own."""
    path = sqlite_path(database_url)
    return f"sqlite:///{path}.keys" if path else database_url
