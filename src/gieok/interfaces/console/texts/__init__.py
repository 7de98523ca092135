"""Texts of the console, in English and Korean. One file for each page, and `common` for what they share.

Error messages of the facade are not here. They are in English only, so that they can be searched for.
"""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.console.texts import (
    chat,
    common,
    data,
    decisions,
    facts,
    memories,
    operator,
    personas,
    plans,
    sessions,
)

TEXTS: Mapping[str, tuple[str, str]] = {
    **common.TEXTS,
    **chat.TEXTS,
    **decisions.TEXTS,
    **facts.TEXTS,
    **memories.TEXTS,
    **operator.TEXTS,
    **personas.TEXTS,
    **plans.TEXTS,
    **sessions.TEXTS,
    **data.TEXTS,
}
"""English and Korean by key, with the same `{names}` in both."""
