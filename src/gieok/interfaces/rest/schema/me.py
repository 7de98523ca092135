"""What an owner is told of their data as a whole."""

from __future__ import annotations

from gieok import wire
from gieok.interfaces.rest.schema.common import Answer, example


class ImportedAnswer(wire.Imported, Answer):
    """Records that were added, by kind, and how many were there already."""

    model_config = example(success=True, imported={"persona": 1, "message": 22, "memory": 1}, unchanged=0)


class ErasedAnswer(wire.Erased, Answer):
    """How many rows went, by table. What was sealed with the key cannot be read by anyone any more."""

    model_config = example(
        success=True, erased={"memories": 12, "messages": 40}, keyDestroyed=True, at="2025-10-27T12:00:00Z"
    )
