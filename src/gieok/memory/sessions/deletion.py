"""Deleting sessions: one, or all with a persona. Other rooms delete what is theirs in the same commit."""

from __future__ import annotations

from gieok.engine import Data, NoData, StepContext, WriteStep
from gieok.memory.fields import PersonaId, SessionRef
from gieok.memory.sessions.store import SessionView

_PAGE = 500


class DeletedSessions(Data):
    session_refs: tuple[SessionRef, ...]
    persona_id: str | None
    """The persona of the sessions."""
    messages: int


class DeleteSessionInputs(Data):
    session_ref: SessionRef


class DeleteSession(WriteStep[NoData, DeleteSessionInputs, DeletedSessions]):
    """Delete a session with its messages, its moves between plans and its jobs. NotFound."""

    type = "DeleteSession"

    def apply(
        self, view: SessionView, metadata: NoData, inputs: DeleteSessionInputs, context: StepContext
    ) -> DeletedSessions:
        session = view.sessions.lock(inputs.session_ref)
        return DeletedSessions(
            session_refs=(session.session_ref,),
            persona_id=session.persona_id,
            messages=view.sessions.delete(session.session_ref),
        )


class DeleteSessionsInputs(Data):
    persona_id: PersonaId


class DeleteSessions(WriteStep[NoData, DeleteSessionsInputs, DeletedSessions]):
    """Delete all sessions with a persona."""

    type = "DeleteSessions"

    def apply(
        self, view: SessionView, metadata: NoData, inputs: DeleteSessionsInputs, context: StepContext
    ) -> DeletedSessions:
        refs: list[str] = []
        messages = 0
        while page := view.sessions.list(inputs.persona_id, None, _PAGE):
            for session in page:
                refs.append(session.session_ref)
                messages += view.sessions.delete(session.session_ref)
        return DeletedSessions(session_refs=tuple(refs), persona_id=inputs.persona_id, messages=messages)
