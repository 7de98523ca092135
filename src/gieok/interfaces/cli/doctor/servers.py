"""Checks of servers beside the database, for `gieok doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from gieok.adapters.sql.driver.open import find_database, find_replica_status
from gieok.app.archive import check_archive as look_at_archive
from gieok.app.cache import cache_status
from gieok.errors import StoreUnavailable
from gieok.interfaces.cli.doctor.report import Finding
from gieok.interfaces.cli.output import human_size, redact_url
from gieok.interfaces.cli.texts import Translator
from gieok.settings import Settings

LATE_REPLICA = 10
"""Seconds. A replica that is so far behind answers no reads."""


def check_replica(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Whether the read replica follows, and how far it is behind. Reads go to the primary without it."""
    if settings.read_database_url is None:
        return
    try:
        found = find_replica_status(settings.read_database_url, settings.database_url)
    except StoreUnavailable as error:
        yield Finding("replica", "warning", f"{error} [{error.code}]", t("doctor.replica_remedy"))
        return
    if not found.is_following:
        text = t("doctor.replica_promoted", url=found.url)
        yield Finding("replica", "warning", text, t("doctor.replica_remedy"))
        return
    lag = t("doctor.replica_lag", bytes=human_size(found.lag_bytes), seconds=f"{found.lag_seconds:.1f}")
    is_late = found.lag_seconds > LATE_REPLICA
    yield Finding("replica", "warning" if is_late else "ok", f"{found.url}, {lag}")


def check_cache(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Whether the shared cache answers, and how full it is. Gieok works without it, so nothing fails."""
    if settings.cache_url is None:
        return
    found, url = asyncio.run(cache_status(settings.cache_url)), redact_url(settings.cache_url)
    if found.problem is not None:
        text = t("doctor.cache_away", url=url, problem=found.problem)
        yield Finding("cache", "warning", text, t("doctor.cache_away_remedy"))
        return
    most = human_size(found.max_bytes) if found.max_bytes else t("doctor.cache_unlimited")
    text = t(
        "doctor.cache_ok",
        url=url,
        version=found.version,
        used=human_size(found.used_bytes),
        most=most,
        keys=found.keys,
    )
    if found.max_bytes and found.policy == "noeviction":
        yield Finding("cache", "warning", text, t("doctor.cache_policy_remedy"))
    else:
        yield Finding("cache", "ok", text)


def check_archive(settings: Settings, t: Translator) -> Iterator[Finding]:
    """Whether the archive answers, and what it has not got yet. Without it old texts cannot be read."""
    url, found = settings.archive.archive_url, find_database(settings.database_url)
    if found is None or found.pending:
        return
    try:
        seen = asyncio.run(look_at_archive(url, settings.database_url))
    except StoreUnavailable as error:
        yield Finding("archive", "warning", f"{error} [{error.code}]")
        return
    if url is not None:
        shown = {"url": redact_url(url), "version": seen.version, "count": seen.undelivered}
        yield Finding("archive", "ok", t("doctor.archive_ok", **shown))
    elif seen.is_used:
        yield Finding("archive", "failed", t("doctor.archive_unset"), t("doctor.archive_unset_remedy"))
