"""The checks of `gieok doctor`. A check that fails does not stop the others.

Checks only read. They create no file and no key, migrate nothing, and send nothing to a model.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import apsw

from gieok import __version__
from gieok.adapters.sql.driver.database import SystemTx
from gieok.adapters.sql.driver.open import find_database, find_keystore, open_database
from gieok.adapters.sql.lifecycle.owners import MAX_SEALS, used_keys
from gieok.adapters.sql.lifecycle.retention import LAST_RUN
from gieok.adapters.sql.stores.events import count_all as count_all_events
from gieok.adapters.sql.stores.jobs import count_all
from gieok.app import root_key_source
from gieok.app.assembly import check_keystore, choose_memory_model, choose_model
from gieok.app.embedding import choose_embedder, choose_near_words
from gieok.app.opening import stored_keystore_id
from gieok.errors import GieokError, RootKeyMissing, SettingsInvalid
from gieok.interfaces.cli.database import PRODUCTS, schema_text
from gieok.interfaces.cli.doctor.report import Finding, Report, Setting
from gieok.interfaces.cli.doctor.servers import check_archive, check_cache, check_replica
from gieok.interfaces.cli.keys import keys_exist, root_key_place
from gieok.interfaces.cli.output import human_size, redact_url
from gieok.interfaces.cli.texts import Translator
from gieok.settings import (
    JWT_NAMES,
    OFFLINE,
    Settings,
    load_settings,
    setting_origins,
    sqlite_path,
    unknown_variables,
)
from gieok.text import ANALYZER_VERSION, terms
from gieok.vault import KeyStore, RootKeySource
from gieok.vault.keystore import check_root
from gieok.vault.root_key import ENV_KEY

T = TypeVar("T")

LOW_DISK_SPACE = 1024**3
NO_DISK_SPACE = 64 * 1024**2
SAMPLE, SAMPLE_TERMS = "면접에서는", ["면접"]
NEAR_SAMPLE = "면접"
FIRST_RELEASE = 1_767_225_600
"""The start of 2026. An earlier clock is wrong."""
CLOCK_TOLERANCE = 300
"""Seconds that a file may be ahead of the clock. File servers and virtual machines drift."""
LATE_EVENT = timedelta(hours=1)
"""An event that waits for longer has a consumer that does not answer, or there is no worker."""
INTEGRATIONS = ("langgraph", "mcp")
"""Packages that integrations need. Each is also the name of an extra."""
AGENT_PACKAGES = ("pydantic-ai-slim", "openai-agents", "google-adk", "anthropic", "langmem")
"""Packages that integrations work with, if they are installed. They are no extras."""


def run_checks(t: Translator) -> Report:
    """Run all checks. If the settings are invalid, run those that need none."""
    try:
        settings = load_settings()
    except SettingsInvalid as error:
        invalid = Finding("settings", "failed", f"{error} [{error.code}]")
        return Report(_versions(), [], [invalid, *_variables(t), *_analyzer(t), *_clock(None, t)])
    checks = [
        *_variables(t),
        *_analyzer(t),
        # Before the database: opening it may change the file time that the clock is compared with.
        *_clock(settings, t),
        *_guarded("database", lambda: _database(settings, t)),
        *_keys(settings, t),
        *_guarded("retention", lambda: _retention(settings, t)),
        *_guarded("jobs", lambda: _jobs(settings, t)),
        *_guarded("seals", lambda: _seals(settings, t)),
        *_guarded("events", lambda: _events(settings, t)),
        *_disk(settings, t),
        *_guarded("model", lambda: _model(settings, t)),
        *_guarded("embedder", lambda: _embedder(settings, t)),
        *_guarded("replica", lambda: check_replica(settings, t)),
        *_guarded("cache", lambda: check_cache(settings, t)),
        *_guarded("archive", lambda: check_archive(settings, t)),
        *_guarded("near_words", lambda: _near_words(settings, t)),
        *_integrations(t),
    ]
    return Report(_versions(), _settings_in_use(settings), checks)


def _guarded(name: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Findings of `check`. A GieokError ends it and becomes the last finding."""
    try:
        yield from check()
    except GieokError as error:
        yield Finding(name, "failed", f"{error} [{error.code}]")


def _versions() -> dict[str, str]:
    return {
        "gieok": __version__,
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        "mecab-ko-dic": version("python-mecab-ko-dic"),
        "analyzer": str(ANALYZER_VERSION),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _settings_in_use(settings: Settings) -> list[Setting]:
    values = {
        "database_url": redact_url(settings.database_url),
        "read_database_url": redact_url(settings.read_database_url) if settings.read_database_url else "-",
        "keystore_url": redact_url(settings.keystore_url),
        "root_key_file": str(settings.root_key_file or settings.own_key_file),
        "model": settings.model,
        "model_base_url": redact_url(settings.model_base_url) if settings.model_base_url else "-",
        "memory_model": settings.memory_model or settings.model,
        "timezone": settings.timezone,
        "account_plan": settings.account_plan,
        "background": str(settings.background).lower(),
        "partitions": str(settings.partitions),
        "cache_url": redact_url(settings.cache_url) if settings.cache_url else "-",
        "archive_url": redact_url(settings.archive.archive_url) if settings.archive.archive_url else "-",
        "archive_messages_after_days": str(settings.archive.archive_messages_after_days),
        **{name: str(value).lower() for name, value in asdict(settings.service).items()},
        **{name: str(days) for name, days in asdict(settings.retention).items()},
        **(asdict(settings.jwt) if settings.jwt else dict.fromkeys(JWT_NAMES, "-")),
        **{name: str(value or "-") for name, value in asdict(settings.embedding).items()},
    }
    if settings.embedding.embedder_base_url:
        values["embedder_base_url"] = redact_url(settings.embedding.embedder_base_url)
    if "GIEOK_ROOT_KEY" in settings.secrets:
        values["root_key_file"] = "-"
    shown = [Setting(name, values[name], origin) for name, origin in setting_origins().items()]
    return shown + [Setting(name.removeprefix("GIEOK_").lower(), "***", name) for name in settings.secrets]


def _variables(t: Translator) -> Iterator[Finding]:
    """GIEOK_* variables that are no setting, probably misspelled."""
    unknown = unknown_variables(os.environ)
    if not unknown:
        yield Finding("variables", "ok", t("doctor.variables_known"))
    for name in unknown:
        text = t("doctor.variable_unknown", name=name)
        yield Finding("variables", "warning", text, t("doctor.variable_remedy"))


def _analyzer(t: Translator) -> Iterator[Finding]:
    """Analyse a sample word. A broken dictionary raises no error; searches would just find less."""
    if terms(SAMPLE) == SAMPLE_TERMS:
        yield Finding("analyzer", "ok", t("doctor.analyzer_ok", sample=SAMPLE, term=SAMPLE_TERMS[0]))
    else:
        text = t("doctor.analyzer_broken", sample=SAMPLE)
        yield Finding("analyzer", "failed", text, t("doctor.analyzer_remedy"))


def _clock(settings: Settings | None, t: Translator) -> Iterator[Finding]:
    """Compare the clock with the first release and with the modification time of the database file."""
    now = time.time()
    file = sqlite_path(settings.database_url) if settings else None
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    if now < FIRST_RELEASE:
        yield Finding("clock", "failed", t("doctor.clock_past", now=shown), t("doctor.clock_remedy"))
    elif file is not None and _modified_at(file) > now + CLOCK_TOLERANCE:
        yield Finding("clock", "warning", t("doctor.clock_behind", now=shown), t("doctor.clock_remedy"))
    else:
        yield Finding("clock", "ok", shown)


def _modified_at(file: Path) -> float:
    """Modification time, 0 for a file that cannot be read: the database check reports that."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _database(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Existence, schema, write access, row-level security. An old schema is not opened: that migrates it."""
    found = find_database(settings.database_url)
    if found is None:
        yield _missing_database(settings, t)
        return
    product = f"{PRODUCTS[found.dialect]} {found.version}"
    size = human_size(found.size_bytes)
    yield Finding("database", "ok", t("doctor.database_found", product=product, url=found.url, size=size))
    if found.pending:
        yield Finding("schema", "warning", schema_text(found, t), t("doctor.schema_remedy"))
    else:
        yield Finding("schema", "ok", schema_text(found, t))
        asyncio.run(_try_to_write(settings.database_url))
        yield Finding("writing", "ok", t("doctor.writable"))
    if found.is_pooled:
        yield Finding("pooler", "ok", t("doctor.pooler"))
    if found.partitions:
        yield Finding("partitions", "ok", t("doctor.partitions", count=found.partitions))
    if found.bypasses_row_security:
        text = t("doctor.row_security_bypassed", role=found.role)
        yield Finding("row_security", "warning", text, t("doctor.row_security_remedy"))
    elif found.dialect == "postgres":
        yield Finding("row_security", "ok", t("db.row_security_on"))


def _missing_database(settings: Settings, t: Translator) -> Finding:
    """A missing database is fine if this user can create it."""
    url = redact_url(settings.database_url)
    if settings.data_folder is not None:
        nearest = _nearest_existing(settings.data_folder)
        if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            text = t("doctor.database_no_permission", url=url, folder=nearest)
            return Finding("database", "failed", text, t("doctor.database_remedy"))
    return Finding("database", "ok", t("doctor.database_missing", url=url))


async def _try_to_write(url: str) -> None:
    database = open_database(url)
    try:
        await database.check()
    finally:
        await database.close()


def _retention(settings: Settings, t: Translator) -> Iterator[Finding]:
    """How long what is kept, and when a worker last deleted what is older."""
    found = find_database(settings.database_url)
    if found is None or found.pending:
        return
    last = asyncio.run(_get_meta(settings.database_url, LAST_RUN))
    kept = ", ".join(
        t(f"retention.{name}", days=days) for name, days in asdict(settings.retention).items() if days
    )
    when = t("doctor.retention_last", at=last[:16].replace("T", " ")) if last else t("doctor.retention_never")
    yield Finding("retention", "ok", f"{kept or t('doctor.retention_all')}; {when}")


def _jobs(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Background jobs that have failed for good."""
    found = find_database(settings.database_url)
    if found is None or found.pending:
        return
    counts = asyncio.run(_system_read(settings.database_url, count_all))
    failed = ", ".join(f"{each.count} {each.kind}" for each in counts if each.status == "failed")
    if failed:
        yield Finding("jobs", "warning", t("doctor.jobs_failed", failed=failed), t("doctor.jobs_remedy"))
    else:
        yield Finding("jobs", "ok", t("doctor.jobs_ok"))


def _seals(settings: Settings, t: Translator) -> Iterator[Finding]:
    """How many values the most used data key has sealed. A worker replaces it in time."""
    found = find_database(settings.database_url)
    if found is None or found.pending:
        return
    used = asyncio.run(_system_read(settings.database_url, used_keys(0, 1)))
    count = used[0][2] if used else 0
    text = t("doctor.seals", count=f"{count:,}", most=f"{MAX_SEALS:,}")
    if count < MAX_SEALS:
        yield Finding("seals", "ok", text)
    else:
        yield Finding("seals", "warning", text, t("doctor.seals_remedy"))


def _events(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Consumers of events, what waits for them, and what could not be delivered."""
    found = find_database(settings.database_url)
    if found is None or found.pending:
        return
    counts = asyncio.run(_system_read(settings.database_url, count_all_events))
    if not counts.consumers:
        yield Finding("events", "ok", t("doctor.events_none"))
        return
    parts = [t("doctor.events", consumers=counts.consumers, events=counts.events)]
    if counts.oldest_at is not None:
        parts.append(t("doctor.events_oldest", at=f"{counts.oldest_at:%Y-%m-%d %H:%M}"))
    if counts.dead_letters:
        parts.append(t("doctor.events_dead", count=counts.dead_letters))
    is_late = counts.oldest_at is not None and datetime.now(UTC) - counts.oldest_at > LATE_EVENT
    if is_late or counts.dead_letters:
        yield Finding("events", "warning", ", ".join(parts), t("doctor.events_remedy"))
    else:
        yield Finding("events", "ok", ", ".join(parts))


async def _system_read(url: str, read: Callable[[SystemTx], T]) -> T:
    database = open_database(url)
    try:
        return await database.system_read(read)
    finally:
        await database.close()


async def _get_meta(url: str, key: str) -> str | None:
    database = open_database(url)
    try:
        return await database.get_meta(key)
    finally:
        await database.close()


def _disk(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Free space in the folder of a SQLite database. Not for a database server."""
    if settings.data_folder is None:
        return
    free = shutil.disk_usage(_nearest_existing(settings.data_folder)).free
    text = t("doctor.disk", free=human_size(free))
    level = "failed" if free < NO_DISK_SPACE else "warning" if free < LOW_DISK_SPACE else "ok"
    yield Finding("disk", level, text, None if level == "ok" else t("doctor.disk_remedy"))


def _nearest_existing(folder: Path) -> Path:
    """The folder, or its nearest parent that exists."""
    return next(each for each in (folder, *folder.parents) if _exists(each))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # for example, a name that is too long
        return False


def _keys(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Check the root key and, if it is valid, the keystore that it must match."""
    root_findings = list(_guarded("root_key", lambda: _root_key(settings, t)))
    yield from root_findings
    if all(finding.level != "failed" for finding in root_findings):
        yield from _guarded("keystore", lambda: _keystore(settings, t))


def _root_key(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Load the root key, which checks its form and its file permissions.

    A key that is missing although the keystore needs it is reported by the keystore check.
    """
    source = root_key_source(settings)
    key = source.load()
    if key is not None:
        text = "doctor.root_key_variable" if source.name == ENV_KEY else "doctor.root_key_file"
        yield Finding("root_key", "ok", t(text, id=key.id, place=root_key_place(settings, t)))
    elif not keys_exist(settings):
        if settings.root_key_file:
            text = t("doctor.root_key_not_mounted", path=settings.root_key_file)
            yield Finding("root_key", "failed", text, t("doctor.root_key_not_mounted_remedy"))
        else:
            yield Finding("root_key", "ok", t("doctor.root_key_missing", path=settings.own_key_file))


def _keystore(settings: Settings, t: Translator) -> Iterator[Finding]:
    keystore = find_keystore(settings.keystore_url, beside=settings.database_url)
    expected_id = _keystore_of_database(settings)
    if keystore is None:
        yield _missing_keystore(settings, expected_id, t)
        return
    try:
        if expected_id is not None:
            check_keystore(keystore, expected_id)
        yield from _root_key_matches(keystore, root_key_source(settings), t)
        yield _erasures(keystore.counts().erasing, t)
    finally:
        keystore.close()


def _keystore_of_database(settings: Settings) -> str | None:
    """Id of the keystore that the database was sealed with. None if the database cannot be read."""
    try:
        found = find_database(settings.database_url)
        if found is None or found.pending:
            return None
        return asyncio.run(stored_keystore_id(settings.database_url))
    except GieokError:
        return None


def _missing_keystore(settings: Settings, expected_id: str | None, t: Translator) -> Finding:
    url = redact_url(settings.keystore_url)
    if find_database(settings.database_url) is None:
        return Finding("keystore", "ok", t("doctor.keystore_missing", url=url))
    level = "warning" if expected_id is None else "failed"
    return Finding("keystore", level, t("doctor.keystore_lost", url=url), t("doctor.keystore_lost_remedy"))


def _root_key_matches(keystore: KeyStore, source: RootKeySource, t: Translator) -> Iterator[Finding]:
    """Compare the keystore with the root key and the next root key. Does not finish a rotation."""
    head = keystore.head()
    if head is None:
        yield Finding("keystore", "ok", t("doctor.keystore_empty", place=keystore.location))
        return
    key, next_key = source.load(), source.load_next()
    if next_key is not None and next_key.id == head.root_id and (key is None or key.id != head.root_id):
        text = t("doctor.rotation_interrupted", new=next_key.id)
        yield Finding("keystore", "warning", text, t("doctor.rotation_interrupted_remedy"))
        return
    if key is None:
        raise RootKeyMissing(
            f"the keystore {keystore.location} needs root key {head.root_id}, but {source.name} has no key; "
            "restore that key: without it no stored data can be decrypted"
        )
    check_root(keystore.location, expected=key.id, actual=head.root_id)
    counts = keystore.counts()
    text = t("doctor.keystore_ok", place=keystore.location, owners=counts.owners, keys=counts.keys)
    yield Finding("keystore", "ok", text)
    if next_key is not None and next_key.id != key.id:
        text = t("doctor.rotation_pending", new=next_key.id)
        yield Finding("rotation", "warning", text, t("doctor.rotation_pending_remedy"))


def _erasures(unfinished: int, t: Translator) -> Finding:
    if unfinished:
        text = t("doctor.erasures_unfinished", count=unfinished)
        return Finding("erasures", "warning", text, t("doctor.erasures_remedy"))
    return Finding("erasures", "ok", t("doctor.erasures_finished"))


def _model(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Whether the libraries and API keys of both models are available. Sends no request."""
    choose_model(settings)
    choose_memory_model(settings)
    if settings.model == OFFLINE:
        yield Finding("model", "ok", t("doctor.model_offline", name=settings.model))
    else:
        at = f" ({redact_url(settings.model_base_url)})" if settings.model_base_url else ""
        yield Finding("model", "ok", f"{settings.model}{at}")


def _embedder(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Whether the embedder's package, weights or address are available. Sends no request."""
    embedder = choose_embedder(settings)
    if embedder is None:
        yield Finding("embedder", "ok", t("doctor.embedder_none"))
        return
    asyncio.run(embedder.close())
    base_url = settings.embedding.embedder_base_url
    at = f" ({redact_url(base_url)})" if base_url else ""
    yield Finding("embedder", "ok", f"{settings.embedding.embedder}{at}")


def _near_words(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Whether words of similar meaning can be read, by asking for those of a common word."""
    words = choose_near_words(settings)
    if words is None:
        yield Finding("near_words", "ok", t("doctor.near_words_none"))
        return
    near = words.near([NEAR_SAMPLE]).get(NEAR_SAMPLE, {})
    text = ", ".join(sorted(near, key=lambda word: -near[word])[:3])
    yield Finding("near_words", "ok", f"{settings.embedding.near_words}: {NEAR_SAMPLE} ~ {text}")


def _integrations(t: Translator) -> Iterator[Finding]:
    """Which integrations with other tools are installed, with the versions of their packages."""
    installed: list[str] = []
    missing: list[str] = []
    for package in INTEGRATIONS:
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            missing.append(f"gieok[{package}]")
    for package in AGENT_PACKAGES:
        with suppress(PackageNotFoundError):
            installed.append(f"{package} {version(package)}")
    parts = [t("doctor.integrations_service"), *([", ".join(installed)] if installed else [])]
    if missing:
        parts.append(t("doctor.integrations_missing", extras=", ".join(missing)))
    yield Finding("integrations", "ok", "; ".join(parts))
