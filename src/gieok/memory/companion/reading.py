"""A memory that was opened, and what reading it tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from gieok.memory.companion.records import Memory
from gieok.text import is_question, syllable_pairs


class ReadMemory:
    """A memory, and what its text says to a search; that is worked out once, when it is asked for."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @cached_property
    def is_question(self) -> bool:
        """Whether it asks rather than tells."""
        return is_question(self.memory.summary)

    @cached_property
    def syllable_pairs(self) -> Mapping[str, int]:
        """How often each two neighbouring Korean syllables are in it."""
        return Counter(syllable_pairs(self.memory.summary))
