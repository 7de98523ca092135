"""Answers of the routes for an owner's data as a whole."""

from __future__ import annotations

from gieok import wire
from gieok.interfaces.rest.schema.common import Answer, example


class ImportedAnswer(wire.ImportCounts, Answer):
    """Number of records that were added, by kind, and number of records that existed already."""

    model_config = example(success=True, imported={"persona": 1, "message": 22, "memory": 1}, unchanged=0)


class ErasedAnswer(wire.Erasure, Answer):
    """Number of deleted rows, by table. Nobody can read what was sealed with the destroyed key."""

    model_config = example(
        success=True, erased={"memories": 12, "messages": 40}, keyDestroyed=True, at="2025-10-27T12:00:00Z"
    )
