"""Which of the two languages a client asked for."""

from __future__ import annotations

_LONGEST = 256
"""Characters of the header that are read; a browser sends some forty."""


def wants_korean(accept_language: str | None) -> bool:
    """Korean, unless Accept-Language puts English before it."""
    if not accept_language:
        return True
    weights = {"en": 0.0, "ko": 0.0}
    first: str | None = None
    for part in accept_language[:_LONGEST].split(","):
        tag, _, quality = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        weight = _weight(quality)
        if language in weights and weight > 0:
            first = first or language
            weights[language] = max(weights[language], weight)
    if weights["en"] == weights["ko"]:
        return first != "en"
    return weights["ko"] > weights["en"]


def _weight(quality: str) -> float:
    """The q-value, 1 where there is none; one that is no number counts as not asked for."""
    _, _, value = quality.partition("q=")
    if not value:
        return 1.0
    try:
        return min(float(value), 1.0)
    except ValueError:
        return 0.0
