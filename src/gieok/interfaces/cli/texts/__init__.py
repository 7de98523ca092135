"""Texts that the commands print, in English and Korean.

Error messages are not here. They are in English only, so that they can be searched for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gieok.interfaces.cli.texts import archive, chat, decision, demo, doctor, management, memory, operations

Lang = Literal["en", "ko"]

TEXTS: Mapping[str, tuple[str, str]] = {
    **archive.TEXTS,
    **chat.TEXTS,
    **decision.TEXTS,
    **demo.TEXTS,
    **doctor.TEXTS,
    **management.TEXTS,
    **memory.TEXTS,
    **operations.TEXTS,
}
"""English and Korean by key, with the same `{names}` in both."""

_PARTICLES = {
    "을(를)": "을/를",
    "은(는)": "은/는",
    "이(가)": "이/가",
    "와(과)": "과/와",
    "(으)로": "으로/로",
    "(이)라": "이라/라",
}
_VALUE_AND_PARTICLE = re.compile(r"(\{(\w+)\}'?)(" + "|".join(map(re.escape, _PARTICLES)) + ")")


@dataclass(frozen=True)
class Translator:
    """Looks up texts in one language and fills in their values: `t("db.created", url=url)`."""

    lang: Lang
    texts: Mapping[str, tuple[str, str]] = field(default_factory=lambda: TEXTS, repr=False)

    def __call__(self, key: str, **values: object) -> str:
        english, korean = self.texts[key]
        if self.lang == "en":
            return english.format(**values)
        return _choose_particles(korean, values).format(**values)


def _choose_particles(line: str, values: Mapping[str, object]) -> str:
    """Replace `{name}을(를)` by the form that fits the value: `{name}를` for 하루, `{name}을` for 민준."""
    if not _VALUE_AND_PARTICLE.search(line):
        return line
    from gieok.text.hangul import particle

    return _VALUE_AND_PARTICLE.sub(
        lambda found: found[1] + particle(str(values[found[2]]), _PARTICLES[found[3]]), line
    )
