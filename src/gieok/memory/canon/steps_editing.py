"""What an author and a user do by hand. Each is a cycle of its own; no plan that talks has these steps."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import NotFound
from gieok.memory.canon.records import (
    Category,
    FactChange,
    FactDraft,
    FactValue,
    Key,
    PersonaCard,
    PersonaDraft,
)
from gieok.memory.canon.rules import check_persona
from gieok.memory.canon.store import CanonRooms
from gieok.memory.fields import Importance, PersonaId


class CreateInputs(Data):
    persona_id: PersonaId | None
    """None for an id of our own making."""
    draft: PersonaDraft


class Created(Data):
    persona_id: PersonaId


class CreatePersona(Step[NoData, CreateInputs, Created]):
    """Begins a persona. The commit returns its first version."""

    type = "CreatePersona"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: CreateInputs, context: StepContext) -> Created:
        check_persona(inputs.draft)
        version_id = uuid4()
        persona_id = inputs.persona_id or str(version_id)

        def create(rooms: CanonRooms) -> PersonaCard:
            return rooms.personas.create(persona_id, inputs.draft, version_id=version_id, at=context.now)

        context.stage_write(create)
        return Created(persona_id=persona_id)


class EditInputs(Data):
    persona_id: PersonaId
    draft: PersonaDraft
    expected_version: Annotated[int, Field(ge=1)] | None


class EditPersona(Step[NoData, EditInputs, NoData]):
    """Appends a version of a persona. The commit returns it."""

    type = "EditPersona"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: EditInputs, context: StepContext) -> NoData:
        check_persona(inputs.draft)
        version_id = uuid4()

        def edit(rooms: CanonRooms) -> PersonaCard:
            return rooms.personas.edit(
                inputs.persona_id,
                inputs.draft,
                version_id=version_id,
                at=context.now,
                expected_version=inputs.expected_version,
            )

        context.stage_write(edit)
        return NoData()


class SetMetadata(Data):
    default_importance: Importance
    """For a fact that was given none."""


class SetInputs(Data):
    persona_id: PersonaId
    category: Category
    key: Key
    value: FactValue
    importance: Importance | None


class SetFact(Step[SetMetadata, SetInputs, NoData]):
    """Sets a fact by hand. The commit returns the `FactChange`; NotFound where there is no such persona."""

    type = "SetFact"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: SetMetadata, inputs: SetInputs, context: StepContext) -> NoData:
        draft = FactDraft(
            category=inputs.category,
            key=inputs.key,
            value=inputs.value,
            importance=inputs.importance or metadata.default_importance,
            provenance="hand",
        )
        version_id = uuid4()

        def save(rooms: CanonRooms) -> FactChange:
            _check_exists(rooms, inputs.persona_id)
            return rooms.facts.save(inputs.persona_id, draft, version_id=version_id, at=context.now)

        context.stage_write(save)
        return NoData()


class RetireInputs(Data):
    persona_id: PersonaId
    root_id: UUID


class RetireFact(Step[NoData, RetireInputs, NoData]):
    """Retires a fact by hand; its history stays. The commit returns the `FactChange`."""

    type = "RetireFact"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: RetireInputs, context: StepContext) -> NoData:
        def retire(rooms: CanonRooms) -> FactChange:
            _check_exists(rooms, inputs.persona_id)
            return rooms.facts.retire(inputs.persona_id, inputs.root_id, at=context.now)

        context.stage_write(retire)
        return NoData()


def _check_exists(rooms: CanonRooms, persona_id: str) -> None:
    if rooms.personas.get(persona_id) is None:
        raise NotFound("no such persona")
