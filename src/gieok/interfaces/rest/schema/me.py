"""Answers of the routes for an owner's data as a whole."""

from __future__ import annotations

from pydantic import Field

from gieok import wire
from gieok.interfaces.rest.schema.common import Answer, RequestBody, example
from gieok.memory.fields import Language
from gieok.memory.profile import DisplayName, Timezone


class ImportedAnswer(wire.ImportCounts, Answer):
    """Number of records that were added, by kind, and number of records that existed already."""

    model_config = example(success=True, imported={"persona": 1, "message": 22, "memory": 1}, unchanged=0)


class SetProfile(RequestBody):
    """Omitted fields stay; null unsets one."""

    model_config = example(displayName="민수", timezone="Asia/Seoul", language="ko")

    display_name: DisplayName | None = None
    timezone: Timezone | None = Field(default=None, description="An IANA name, such as Asia/Seoul.")
    language: Language | None = None


class ProfileAnswer(wire.UserProfile, Answer):
    """What every persona may know of the user. Fields that are not set are omitted."""

    model_config = example(success=True, displayName="민수", timezone="Asia/Seoul", language="ko")


class ErasedAnswer(wire.Erasure, Answer):
    """Number of deleted rows, by table. Nobody can read what was sealed with the destroyed key."""

    model_config = example(
        success=True, erased={"memories": 12, "messages": 40}, keyDestroyed=True, at="2025-10-27T12:00:00Z"
    )
