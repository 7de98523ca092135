"""What an owner is told of their data as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from gieok.interfaces.rest.wire.base import Answer, example


class ImportedAnswer(Answer):
    """Records that were added, by kind, and how many were there already."""

    model_config = example(success=True, imported={"persona": 1, "message": 22, "memory": 1}, unchanged=0)

    imported: Mapping[str, int]
    unchanged: int


class ErasedAnswer(Answer):
    """How many rows went, by table. What was sealed with the key cannot be read by anyone any more."""

    model_config = example(
        success=True, erased={"memories": 12, "messages": 40}, keyDestroyed=True, at="2025-10-27T12:00:00Z"
    )

    erased: Mapping[str, int]
    key_destroyed: Literal[True]
    at: datetime
