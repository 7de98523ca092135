"""Deleting a persona and the facts between it and the user, for good, and withdrawing what turns changed."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from gieok.engine import Data, NoData, StepContext, WriteStep
from gieok.errors import NotFound
from gieok.memory.canon.records import FactChange
from gieok.memory.canon.remembering import RememberedView
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


class WithdrawFactsInputs(Data):
    persona_id: PersonaId | None
    session_ref: SessionRef
    message_ids: tuple[str, ...]
    """The messages of the withdrawn exchanges."""
    job_ids: tuple[UUID, ...]
    """The jobs that remembered them, whose results go."""


class WithdrawnFacts(Data):
    changes: tuple[FactChange, ...]


class WithdrawalView(CanonView, RememberedView, Protocol):
    """Facts, and the results of the jobs that found them."""


class WithdrawFacts(WriteStep[NoData, WithdrawFactsInputs, WithdrawnFacts]):
    """Change back by new versions what withdrawn messages had changed. History says so."""

    type = "WithdrawFacts"

    def apply(
        self, view: WithdrawalView, metadata: NoData, inputs: WithdrawFactsInputs, context: StepContext
    ) -> WithdrawnFacts:
        view.remembered.delete(inputs.job_ids)
        if inputs.persona_id is None or not inputs.message_ids:
            return WithdrawnFacts(changes=())
        ids = frozenset(inputs.message_ids)
        changes = view.facts.withdraw(inputs.persona_id, inputs.session_ref, ids, at=context.now)
        context.note("facts", len(changes))
        return WithdrawnFacts(changes=tuple(changes))
