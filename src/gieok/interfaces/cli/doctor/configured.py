"""What is configured: each setting, where it comes from, and variables that mean nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from gieok.interfaces.cli.doctor.finding import Finding
from gieok.interfaces.cli.output import shown_url
from gieok.interfaces.cli.wording import Say
from gieok.settings import JWT_NAMES, Settings, setting_origins, unknown_variables


@dataclass(frozen=True)
class Setting:
    """A setting as it is in force. Secrets are not shown."""

    name: str
    value: str
    origin: str


def settings_in_force(settings: Settings) -> list[Setting]:
    values = {
        "database_url": shown_url(settings.database_url),
        "keystore_url": shown_url(settings.keystore_url),
        "root_key_file": str(settings.root_key_file or settings.own_key_file),
        "model": settings.model,
        "model_base_url": shown_url(settings.model_base_url) if settings.model_base_url else "-",
        **{name: str(value).lower() for name, value in asdict(settings.service).items()},
        **(asdict(settings.jwt) if settings.jwt else dict.fromkeys(JWT_NAMES, "-")),
        **{name: str(value or "-") for name, value in asdict(settings.embedding).items()},
    }
    if settings.embedding.embedder_base_url:
        values["embedder_base_url"] = shown_url(settings.embedding.embedder_base_url)
    if "GIEOK_ROOT_KEY" in settings.secrets:
        values["root_key_file"] = "-"
    shown = [Setting(name, values[name], origin) for name, origin in setting_origins().items()]
    return shown + [Setting(name.removeprefix("GIEOK_").lower(), "***", name) for name in settings.secrets]


def variables(say: Say) -> Iterator[Finding]:
    """Variables that were meant for Gieok and are not read by it."""
    strange = unknown_variables(os.environ)
    if not strange:
        yield Finding("variables", "ok", say("doctor.variables_known"))
    for name in strange:
        yield Finding(
            "variables", "warning", say("doctor.variable_unknown", name=name), say("doctor.variable_remedy")
        )
