"""The sections of the settings: service, retention, archive, language model, embedder and JWTs, each with its
parser."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeVar, cast, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gieok.errors import SettingsInvalid

AccountPlan = Literal["free", "premium"]
"""As in `gieok.memory.fields`. Settings load without the records of the rooms, which are slow to import."""
T = TypeVar("T")
N = TypeVar("N", int, float)

# --- The service ---


@dataclass(frozen=True)
class ServiceSettings:
    """How `gieok serve` listens: GIEOK_HOST, GIEOK_PORT and so on."""

    host: str = "127.0.0.1"
    port: int = 8377
    rate_per_second: float = 500.0
    """Sustained rate limit per owner and process. High enough to import a history quickly."""
    rate_burst: int = 1000
    """Requests of one owner that may come at once."""
    metrics_open: bool = False
    """Serve /metrics without a token to callers on this machine."""
    max_connections: int = 2000
    """Open connections of one process."""
    max_connections_per_address: int = 500
    """Open connections of one client address. A reverse proxy has one address for all its clients."""
    idempotency_hours: int = 24
    """How long a repeated idempotency key gets the same answer, where no plan says otherwise."""
    webhook_allow_private: bool = False
    """Whether webhooks may be sent to this machine and to private networks, and over http."""
    tokens_per_day: int = 0
    """Model tokens that an owner may use in a day, whatever a plan allows; 0 for no limit."""


DEFAULT_SERVICE = ServiceSettings()
SERVICE_NAMES = tuple(each.name for each in fields(ServiceSettings))


def parse_service(values: Mapping[str, str]) -> ServiceSettings:
    """The service settings from text values. SettingsInvalid names the setting that is wrong."""
    return ServiceSettings(
        host=values.get("host", DEFAULT_SERVICE.host),
        port=_parse(values, "port", _port, "a number from 0 to 65535", DEFAULT_SERVICE.port),
        rate_per_second=_parse(
            values, "rate_per_second", _rate, "a number greater than 0", DEFAULT_SERVICE.rate_per_second
        ),
        rate_burst=_parse(values, "rate_burst", _count, "a whole number from 1", DEFAULT_SERVICE.rate_burst),
        metrics_open=_parse(values, "metrics_open", _BOOLEANS.__getitem__, "true or false", False),
        max_connections=_parse(
            values, "max_connections", _count, "a whole number from 1", DEFAULT_SERVICE.max_connections
        ),
        max_connections_per_address=_parse(
            values,
            "max_connections_per_address",
            _count,
            "a whole number from 1",
            DEFAULT_SERVICE.max_connections_per_address,
        ),
        idempotency_hours=_parse(
            values,
            "idempotency_hours",
            _hours,
            "a whole number from 1 to 8760",
            DEFAULT_SERVICE.idempotency_hours,
        ),
        webhook_allow_private=_parse(
            values, "webhook_allow_private", _BOOLEANS.__getitem__, "true or false", False
        ),
        tokens_per_day=_parse(
            values,
            "tokens_per_day",
            lambda text: _in_range(int(text), 0, 10**12),
            "a whole number from 0 (no limit)",
            DEFAULT_SERVICE.tokens_per_day,
        ),
    )


@dataclass(frozen=True)
class RetentionSettings:
    """Times to live in days; 0 keeps rows for ever. Content is kept by default. Cycle records are counted."""

    keep_jobs_days: int = 30
    """Jobs that are done or have failed."""
    keep_watches_days: int = 7
    """Ended watches of sessions."""
    keep_audit_days: int = 0
    """Entries of the audit trail. A checkpoint stays."""
    keep_usage_days: int = 400
    """Model usage per day."""
    keep_messages_days: int = 0
    """Raw messages of sessions without activity. What was remembered of them stays."""
    keep_dead_letters_days: int = 30
    """Events that could not be delivered."""
    keep_cycles: int = 200
    """The last cycle records of each owner; 0 stores none. They have no content."""


DEFAULT_RETENTION = RetentionSettings()
RETENTION_NAMES = tuple(each.name for each in fields(RetentionSettings))


def parse_retention(values: Mapping[str, str]) -> RetentionSettings:
    """The retention settings from text values. SettingsInvalid names the setting that is wrong."""
    expected = "a whole number of days from 0 (keep for ever) to 36500"
    days = {
        name: _parse(values, name, _days, expected, getattr(DEFAULT_RETENTION, name))
        for name in RETENTION_NAMES
        if name != "keep_cycles"
    }
    cycles = _parse(
        values,
        "keep_cycles",
        lambda text: _in_range(int(text), 0, 10_000),
        "a whole number from 0 (none) to 10000",
        DEFAULT_RETENTION.keep_cycles,
    )
    return RetentionSettings(**days, keep_cycles=cycles)


def _days(text: str) -> int:
    return _in_range(int(text), 0, 36_500)


@dataclass(frozen=True)
class ArchiveSettings:
    """The archive in MongoDB: GIEOK_ARCHIVE_URL and GIEOK_ARCHIVE_MESSAGES_AFTER_DAYS."""

    archive_url: str | None = field(default=None, repr=False)
    """`mongodb://user:password@host/database` or `mongodb+srv://…`. None: no archive."""
    archive_messages_after_days: int = 0
    """The text of raw messages of sessions without activity for so many days leaves the database, once it is
    verified in the archive. 0: never."""


NO_ARCHIVE = ArchiveSettings()
ARCHIVE_NAMES = tuple(each.name for each in fields(ArchiveSettings))


def parse_archive(values: Mapping[str, str]) -> ArchiveSettings:
    """The archive settings from text values. SettingsInvalid names the setting that is wrong."""
    url = values.get("archive_url")
    if url is not None and not url.startswith(("mongodb://", "mongodb+srv://")):
        raise SettingsInvalid("archive_url must begin with mongodb:// or mongodb+srv://")
    days = _parse(
        values, "archive_messages_after_days", _days, "a whole number of days from 0 (never) to 36500", 0
    )
    if days and url is None:
        raise SettingsInvalid("archive_messages_after_days needs an archive; set archive_url")
    return ArchiveSettings(archive_url=url, archive_messages_after_days=days)


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _parse(values: Mapping[str, str], name: str, parse: Callable[[str], T], expected: str, default: T) -> T:
    text = values.get(name)
    if text is None:
        return default
    try:
        return parse(text.strip().lower())
    except (ValueError, KeyError):
        raise SettingsInvalid(f"{name} must be {expected}") from None


def _port(text: str) -> int:
    return _in_range(int(text), 0, 65535)


def _count(text: str) -> int:
    return _in_range(int(text), 1, 1_000_000)


def _hours(text: str) -> int:
    return _in_range(int(text), 1, 24 * 365)


def _rate(text: str) -> float:
    return _in_range(float(text), 1e-6, 1e6)


def _in_range(number: N, least: N, most: N) -> N:
    if not least <= number <= most or math.isnan(number):
        raise ValueError
    return number


def parse_background(values: Mapping[str, str]) -> bool:
    """Whether an open Gieok does background work. SettingsInvalid for anything but true or false."""
    return _parse(values, "background", _BOOLEANS.__getitem__, "true or false", True)


DEFAULT_PARTITIONS = 8
"""Of the tables of a new PostgreSQL database."""


def parse_partitions(values: Mapping[str, str]) -> int:
    """How many partitions a new PostgreSQL database gets. SettingsInvalid for another number."""
    expected = "a whole number from 2 to 256, or 0 for none"
    return _parse(values, "partitions", _partitions, expected, DEFAULT_PARTITIONS)


def _partitions(text: str) -> int:
    return 0 if int(text) == 0 else _in_range(int(text), 2, 256)


def parse_read_database_url(values: Mapping[str, str], database_url: str) -> str | None:
    """The URL of a read replica; None without one. SettingsInvalid if there can be none."""
    url = values.get("read_database_url")
    if url is not None and not all(
        each.startswith(("postgresql://", "postgres://")) for each in (url, database_url)
    ):
        raise SettingsInvalid("read_database_url must begin with postgresql://, and so must database_url")
    return url


def parse_cache_url(values: Mapping[str, str]) -> str | None:
    """The URL of the cache; None without one. SettingsInvalid for another kind of server."""
    url = values.get("cache_url")
    if url is not None and not url.startswith(("redis://", "rediss://", "unix://")):
        raise SettingsInvalid("cache_url must begin with redis://, rediss:// or unix://")
    return url


def parse_account_plan(values: Mapping[str, str]) -> AccountPlan:
    """The default account plan. SettingsInvalid for an unknown one."""
    plans: Mapping[str, AccountPlan] = {"free": "free", "premium": "premium"}
    return _parse(values, "account_plan", plans.__getitem__, "free or premium", "premium")


def parse_timezone(name: str) -> str:
    """The name of a timezone. SettingsInvalid if there is no such timezone."""
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SettingsInvalid("timezone must be an IANA name such as Asia/Seoul or Europe/Berlin") from None


# --- The language model ---

OFFLINE = "offline"
API_KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
}
"""The providers, with the environment variables that usually hold their API key."""

_MODEL_FORMS = ", ".join((f"'{OFFLINE}'", *(f"'{provider}:MODEL'" for provider in API_KEY_VARIABLES)))


def check_model(model: str, base_url: str | None) -> None:
    """SettingsInvalid where the model or its base URL has the wrong form."""
    _check_url("model_base_url", base_url)
    if model != OFFLINE:
        parse_model(model, base_url)
    elif base_url is not None:
        raise SettingsInvalid("model_base_url is set and model is not: set GIEOK_MODEL to openai:MODEL")


def parse_model(model: str, base_url: str | None) -> tuple[str, str]:
    """Split `PROVIDER:MODEL`. With a base URL, any other name is a model of that server: `llama3.2:3b`."""
    provider, _, name = model.partition(":")
    if provider in API_KEY_VARIABLES and name:
        return provider, name
    if base_url is not None and provider not in API_KEY_VARIABLES:
        return "openai", model
    raise SettingsInvalid(f"model '{model}' is unknown; it must be one of {_MODEL_FORMS}")


# --- The embedder ---

EMBEDDER_FORMS = (
    "none",
    "wordllama",
    "minilm",
    "onnx:FOLDER",
    "sentence-transformers:NAME",
    "openai:MODEL",
    "google:MODEL",
)
"""What `embedder` may be. A served model may be followed by its dimension: `openai:MODEL@DIMENSION`."""

NEAR_WORDS = ("none", "kiwi")
"""What `near_words` may be."""

_EMBEDDERS = frozenset(form for form in EMBEDDER_FORMS if ":" not in form)
_EMBEDDERS_WITH_MODEL = frozenset(form.partition(":")[0] for form in EMBEDDER_FORMS if ":" in form)
_SERVED = frozenset({"openai", "google"})
_DIMENSION = re.compile(r"(.+)@([1-9][0-9]{0,4})")


@dataclass(frozen=True)
class EmbedderSettings:
    """GIEOK_EMBEDDER, GIEOK_EMBEDDER_BASE_URL and so on."""

    embedder: str = "none"
    embedder_base_url: str | None = None
    """A server with OpenAI's embeddings API, or with Gemini's."""
    embedder_languages: str = ""
    """The languages of the model (`en`, or `ko,en`), where it does not declare them itself."""
    vector_cache_mb: int = 256
    """Size limit of a process's cache of vectors."""
    near_words: str = "none"
    """Which words of similar meaning a search also looks for: `kiwi` for Korean ones, or `none`."""

    @property
    def kind(self) -> str:
        """The part before the colon."""
        return self.embedder.partition(":")[0]

    @property
    def model(self) -> str:
        """The model or folder after the colon, without the dimension."""
        name = self.embedder.partition(":")[2]
        with_dimension = _DIMENSION.fullmatch(name) if self.kind in _SERVED else None
        return with_dimension[1] if with_dimension else name

    @property
    def dimension(self) -> int | None:
        """The vector length of a served model, if given."""
        with_dimension = _DIMENSION.fullmatch(self.embedder) if self.kind in _SERVED else None
        return int(with_dimension[2]) if with_dimension else None

    @property
    def languages(self) -> frozenset[str] | None:
        """The configured languages; None if there are none."""
        return frozenset(self.embedder_languages.replace(",", " ").split()) or None


NO_EMBEDDER = EmbedderSettings()
EMBEDDER_NAMES = tuple(each.name for each in fields(EmbedderSettings))


def parse_embedder(values: Mapping[str, str]) -> EmbedderSettings:
    """The embedder settings from text values. SettingsInvalid names the setting that is wrong."""
    embedder = values.get("embedder", "none").strip()
    kind, colon, model = embedder.partition(":")
    if embedder not in _EMBEDDERS and not (kind in _EMBEDDERS_WITH_MODEL and colon and model):
        raise SettingsInvalid(
            f"embedder '{embedder}' is unknown; it must be one of {', '.join(EMBEDDER_FORMS)}"
        )
    base_url = values.get("embedder_base_url")
    _check_url("embedder_base_url", base_url)
    megabytes = values.get("vector_cache_mb", "256")
    if not re.fullmatch(r"[1-9][0-9]{0,6}", megabytes.strip()):
        raise SettingsInvalid("vector_cache_mb must be a whole number from 1")
    near_words = values.get("near_words", "none").strip()
    if near_words not in NEAR_WORDS:
        raise SettingsInvalid(
            f"near_words '{near_words}' is unknown; it must be one of {', '.join(NEAR_WORDS)}"
        )
    languages = values.get("embedder_languages", "")
    settings = EmbedderSettings(embedder, base_url, languages, int(megabytes), near_words)
    if not (settings.languages or frozenset()) <= {"ko", "en"}:
        raise SettingsInvalid("embedder_languages must be ko, en, or both separated by a comma")
    return settings


# --- JWTs of an identity provider ---

JwtAlgorithm = Literal["RS256", "ES256", "EdDSA"]
"""Asymmetric algorithms only. With HS256, every verifier could also sign."""


@dataclass(frozen=True)
class JwtSettings:
    """Whose JWTs are accepted besides Gieok's own tokens: GIEOK_JWT_ALGORITHM and so on, all or none."""

    jwt_algorithm: JwtAlgorithm
    """The only accepted algorithm, whatever a JWT's header says."""
    jwt_issuer: str
    jwt_audience: str
    jwt_jwks: str
    """The public keys (JWKS): a file path, or an https URL of the identity provider."""
    jwt_max_hours: int = 24
    """The longest lifetime of a JWT that is accepted."""

    @property
    def is_jwks_url(self) -> bool:
        """Whether the keys are fetched from a URL instead of read from a file."""
        return "://" in self.jwt_jwks


JWT_NAMES = tuple(each.name for each in fields(JwtSettings))
_REQUIRED_JWT_NAMES = JWT_NAMES[:4]


def parse_jwt(values: Mapping[str, str]) -> JwtSettings | None:
    """The JWT settings, or None where none is set. SettingsInvalid says what is missing or wrong."""
    if not values:
        return None
    missing = [name for name in _REQUIRED_JWT_NAMES if name not in values]
    if missing:
        raise SettingsInvalid(
            f"{', '.join(missing)} must be set too: JWTs need {', '.join(_REQUIRED_JWT_NAMES)}, all or none"
        )
    if values["jwt_algorithm"] not in get_args(JwtAlgorithm):
        raise SettingsInvalid(f"jwt_algorithm must be one of {', '.join(get_args(JwtAlgorithm))}")
    algorithm = cast(JwtAlgorithm, values["jwt_algorithm"])
    max_hours = _parse(values, "jwt_max_hours", _hours, "a whole number from 1 to 8760", 24)
    settings = JwtSettings(
        algorithm, values["jwt_issuer"], values["jwt_audience"], values["jwt_jwks"], max_hours
    )
    if settings.is_jwks_url and not _is_safe_url(settings.jwt_jwks):
        raise SettingsInvalid(
            "jwt_jwks must be a file or an https URL without a login (http on this machine only)"
        )
    return settings


def _is_safe_url(url: str) -> bool:
    """Whoever can change the keys in transit can sign in as anybody: https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_url(name: str, url: str | None) -> None:
    if url is not None and not url.startswith(("http://", "https://")):
        raise SettingsInvalid(f"{name} must begin with http:// or https://")
