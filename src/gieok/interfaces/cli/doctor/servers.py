"""Checks of servers beside the database, for `gieok doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from gieok.app.cache import cache_status
from gieok.interfaces.cli.doctor.report import Finding
from gieok.interfaces.cli.output import human_size, redact_url
from gieok.interfaces.cli.texts import Translator
from gieok.settings import Settings


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
