"""A session resumes under the plan it last ran, remembers the plan it runs, and moves only on purpose."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import PlanHashMismatch
from gieok.memory.reader import Reader
from gieok.memory.sessions.store import SessionRooms
from gieok.refs import check_ref

SessionRef = Annotated[str, AfterValidator(lambda value: check_ref(value, "sessionRef"))]
PlanHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class SessionInputs(Data):
    session_ref: SessionRef


class Resumed(Data):
    known: bool


class ResumeSession(Step[NoData, SessionInputs, Resumed]):
    """Fails the cycle at once where the session last ran another plan."""

    type = "ResumeSession"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[SessionRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: NoData, inputs: SessionInputs, context: StepContext) -> Resumed:
        session = await self._rooms.read(lambda rooms: rooms.sessions.get(inputs.session_ref))
        if session and session.last_execution_plan_hash != context.plan_hash:
            raise PlanHashMismatch(session.last_execution_plan_hash, context.plan_hash)
        return Resumed(known=session is not None)


class RememberPlan(Step[NoData, SessionInputs, NoData]):
    """Records, with everything else of the cycle, which plan the session ran and when."""

    type = "RememberPlan"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: SessionInputs, context: StepContext) -> NoData:
        def remember(rooms: SessionRooms) -> None:
            rooms.sessions.remember(inputs.session_ref, context.plan_hash, context.now)

        context.stage_write(remember)
        return NoData()


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
