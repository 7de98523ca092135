"""A session resumes under the plan it last ran, remembers the plan it runs, and moves only on purpose."""

from __future__ import annotations

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.fields import AccountPlan, PersonaId, SessionRef
from gieok.memory.reader import Reader
from gieok.memory.sessions.records import PlanHash
from gieok.memory.sessions.rules import check_resumable
from gieok.memory.sessions.store import SessionRooms


class SessionInputs(Data):
    session_ref: SessionRef
    persona_id: PersonaId | None = None


class Resumed(Data):
    known: bool


class ResumeSession(Step[NoData, SessionInputs, Resumed]):
    """Fails the cycle at once where the session has ended, or last ran another plan or persona."""

    type = "ResumeSession"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[SessionRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: NoData, inputs: SessionInputs, context: StepContext) -> Resumed:
        session = await self._rooms.read(lambda rooms: rooms.sessions.get(inputs.session_ref), brief=True)
        if session is None:
            return Resumed(known=False)
        check_resumable(session, context.plan_hash, inputs.persona_id)
        return Resumed(known=True)


class RememberInputs(SessionInputs):
    account_plan: AccountPlan | None = None


class Remembered(Data):
    session_ref: SessionRef


class RememberPlan(Step[NoData, RememberInputs, Remembered]):
    """Records, with everything else of the cycle, which plan the session ran and when."""

    type = "RememberPlan"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: RememberInputs, context: StepContext) -> Remembered:
        def remember(rooms: SessionRooms) -> None:
            rooms.sessions.remember(
                inputs.session_ref,
                context.plan_hash,
                context.now,
                persona_id=inputs.persona_id,
                account_plan=inputs.account_plan,
            )

        context.stage_write(remember)
        return Remembered(session_ref=inputs.session_ref)


class MoveInputs(Data):
    session_ref: SessionRef
    to_hash: PlanHash


class MoveSession(Step[NoData, MoveInputs, NoData]):
    """Moves a session to another plan, with an audit entry. Nothing else does."""

    type = "MoveSession"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: MoveInputs, context: StepContext) -> NoData:
        context.stage_write(
            lambda rooms: rooms.sessions.move(inputs.session_ref, inputs.to_hash, context.now)
        )
        return NoData()
