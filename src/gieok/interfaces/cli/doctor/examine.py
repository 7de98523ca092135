"""All checks in order. One that fails does not hide the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from gieok.errors import SettingsInvalid
from gieok.interfaces.cli.doctor import configured, machine, sealing, storage
from gieok.interfaces.cli.doctor.configured import Setting
from gieok.interfaces.cli.doctor.finding import Finding, guarded
from gieok.interfaces.cli.wording import Say
from gieok.settings import Settings, load_settings


@dataclass(frozen=True)
class Report:
    """What `gieok doctor --json` prints."""

    versions: dict[str, str]
    settings: list[Setting]
    checks: list[Finding]

    @property
    def ok(self) -> bool:
        return all(each.level != "failed" for each in self.checks)


def examine(say: Say) -> Report:
    """Look at everything. Settings that cannot be read leave only the checks that need none."""
    try:
        settings = load_settings()
    except SettingsInvalid as error:
        broken = Finding("settings", "failed", f"{error} [{error.code}]")
        return Report(machine.versions(), [], [broken, *_without_settings(None, say)])
    checks = [*_without_settings(settings, say), *_of_settings(settings, say)]
    return Report(machine.versions(), configured.settings_in_force(settings), checks)


def _of_settings(settings: Settings, say: Say) -> list[Finding]:
    return [
        *guarded("database", partial(storage.database, settings, say)),
        *sealing.keys(settings, say),
        *storage.disk(settings, say),
        *guarded("model", partial(machine.model, settings, say)),
        *guarded("embedder", partial(machine.embedder, settings, say)),
    ]


def _without_settings(settings: Settings | None, say: Say) -> list[Finding]:
    """These come first: the clock is compared with the time of a file that a look inside may touch."""
    return [*configured.variables(say), *machine.analyzer(say), *machine.clock(settings, say)]
