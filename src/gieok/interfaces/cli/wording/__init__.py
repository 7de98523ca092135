"""Every line that the commands say to a person, in English and in Korean.

The sentences of errors are not here: they are English everywhere, so that they can be searched for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gieok.interfaces.cli.wording.chat import CHAT
from gieok.interfaces.cli.wording.decision import DECISION
from gieok.interfaces.cli.wording.doctor import DOCTOR, NAMES
from gieok.interfaces.cli.wording.memory import BACKUP, MEMORY
from gieok.interfaces.cli.wording.particles import fit_particles
from gieok.interfaces.cli.wording.plan import PLAN
from gieok.interfaces.cli.wording.service import AUDIT, SERVE, TOKEN, USAGE
from gieok.interfaces.cli.wording.stores import DB, KEYS
from gieok.interfaces.cli.wording.words import Lang, Words

WORDING: Mapping[str, Words] = {
    **PLAN,
    **DECISION,
    **DB,
    **KEYS,
    **NAMES,
    **DOCTOR,
    **TOKEN,
    **AUDIT,
    **USAGE,
    **SERVE,
    **MEMORY,
    **BACKUP,
    **CHAT,
}


@dataclass(frozen=True)
class Say:
    """The lines of one language, by key: `say("db.created", url=url)`. The demo has lines of its own."""

    lang: Lang
    lines: Mapping[str, Words] = field(default_factory=lambda: WORDING, repr=False)

    def __call__(self, key: str, **values: object) -> str:
        words = self.lines[key]
        if self.lang == "en":
            return words.en.format(**values)
        return fit_particles(words.ko, values).format(**values)
