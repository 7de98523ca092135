"""The steps of companion memory."""

from __future__ import annotations

from gieok.engine import AnyStep
from gieok.memory.companion.steps import memories, recall, summarize, vectors

STEPS: tuple[type[AnyStep], ...] = (*memories.STEPS, *recall.STEPS, *summarize.STEPS, *vectors.STEPS)
