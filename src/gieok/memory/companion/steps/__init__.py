"""The steps of companion memory."""

from __future__ import annotations

from gieok.engine import AnyStep
from gieok.memory.companion.steps import deletion, memories, recall, summarize, vectors

STEPS: tuple[type[AnyStep], ...] = (
    *memories.STEPS,
    *deletion.STEPS,
    *recall.STEPS,
    *summarize.STEPS,
    *vectors.STEPS,
)
