"""Deleting a persona and the facts between it and the user, for good: all versions."""

from __future__ import annotations

from gieok.engine import Data, NoData, StepContext, WriteStep
from gieok.errors import NotFound
from gieok.memory.canon.store import CanonView
from gieok.memory.fields import PersonaId, SessionRef


class DeletePersonaInputs(Data):
    persona_id: PersonaId


class DeletePersona(WriteStep[NoData, DeletePersonaInputs, None]):
    """Delete all versions of a persona. NotFound."""

    type = "DeletePersona"

    def apply(
        self, view: CanonView, metadata: NoData, inputs: DeletePersonaInputs, context: StepContext
    ) -> None:
        if not view.personas.delete(inputs.persona_id):
            raise NotFound("no such persona")


class DeleteFactsInputs(Data):
    persona_id: PersonaId | None
    session_ref: SessionRef | None = None
    """Only facts whose active version comes from this session; None for all facts, retired ones included."""


class DeletedFacts(Data):
    deleted: int


class DeleteFacts(WriteStep[NoData, DeleteFactsInputs, DeletedFacts]):
    """Delete facts with a persona, each with its history."""

    type = "DeleteFacts"

    def apply(
        self, view: CanonView, metadata: NoData, inputs: DeleteFactsInputs, context: StepContext
    ) -> DeletedFacts:
        if inputs.persona_id is None:
            return DeletedFacts(deleted=0)
        return DeletedFacts(deleted=view.facts.delete(inputs.persona_id, inputs.session_ref))
