"""Korean particles that depend on the sound before them, so that a line can be written for any name."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PAIRS = {
    "을(를)": "을/를",
    "은(는)": "은/는",
    "이(가)": "이/가",
    "와(과)": "과/와",
    "(으)로": "으로/로",
    "(이)라": "이라/라",
}
_NAME_AND_BOTH = re.compile(r"(\{(\w+)\}'?)(" + "|".join(map(re.escape, _PAIRS)) + ")")


def fit_particles(line: str, values: Mapping[str, object]) -> str:
    """`line` with the particles for its values: {name}을(를) is {name}를 for 하루, {name}을 for 민준."""
    if not _NAME_AND_BOTH.search(line):
        return line
    from gieok.text.hangul import particle

    return _NAME_AND_BOTH.sub(
        lambda found: found[1] + particle(str(values[found[2]]), _PAIRS[found[3]]), line
    )
