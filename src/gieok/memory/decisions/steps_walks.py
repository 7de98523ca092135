"""The deep walk as work for later: asked for, done by a worker, kept with the completion of its job."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import uuid4

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.decisions.exploring import explore
from gieok.memory.decisions.steps_reading import MAX_ANCHORS, WalkMetadata
from gieok.memory.decisions.walks import Reached, Walk, WalkRooms, reached
from gieok.memory.fields import SessionRef
from gieok.memory.jobs.records import Job, JobDraft
from gieok.memory.jobs.store import JobRooms
from gieok.memory.reader import Reader


class QueueInputs(Data):
    session_ref: SessionRef


class QueueWalk(Step[NoData, QueueInputs, NoData]):
    """Has what a session's anchors lead to explored later. The job is what the commit returns."""

    type = "QueueWalk"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: QueueInputs, context: StepContext) -> NoData:
        draft = JobDraft(
            id=uuid4(),
            kind="walk",
            session_ref=inputs.session_ref,
            first_seq=0,
            last_seq=0,
            due_at=context.now,
        )

        def queue(rooms: JobRooms) -> Job | None:
            rooms.jobs.add(draft, context.now)
            return rooms.jobs.get(draft.id)

        context.stage_write(queue)
        return NoData()


class AnchorWalkMetadata(WalkMetadata):
    """`depth` and `limit` as in `LoadDecisions`; `anchors` is how many of the newest are followed."""

    anchors: Annotated[int, Field(ge=1, le=MAX_ANCHORS)]


class WalkInputs(Data):
    job: Job


class Walked(Data):
    reached: tuple[Reached, ...]
    truncated: bool


class WalkAnchors(Step[AnchorWalkMetadata, WalkInputs, Walked]):
    """Follows a session's anchors as deep as the plan says, from one consistent view."""

    type = "WalkAnchors"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[WalkRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: AnchorWalkMetadata, inputs: WalkInputs, context: StepContext) -> Walked:
        def walk(rooms: WalkRooms) -> Walked:
            anchors = rooms.anchors.list(inputs.job.session_ref, metadata.anchors + 1)
            items, is_cut = explore(
                rooms, anchors[: metadata.anchors], depth=metadata.depth, limit=metadata.limit
            )
            return Walked(reached=reached(items), truncated=is_cut or len(anchors) > metadata.anchors)

        walked = await self._rooms.read(walk)
        context.note("reached", len(walked.reached))
        return walked


class KeepWalkMetadata(Data):
    keep_days: Annotated[int, Field(ge=1, le=3_650)]


class KeepWalkInputs(Walked):
    job: Job


class KeepWalk(Step[KeepWalkMetadata, KeepWalkInputs, NoData]):
    """Keeps what a walk found, and forgets walks that are older than `keepDays`."""

    type = "KeepWalk"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: KeepWalkMetadata, inputs: KeepWalkInputs, context: StepContext) -> NoData:
        walk = Walk(
            id=inputs.job.id, reached=inputs.reached, truncated=inputs.truncated, created_at=context.now
        )

        def keep(rooms: WalkRooms) -> None:
            rooms.walks.forget(context.now - timedelta(days=metadata.keep_days))
            rooms.walks.save(walk)

        context.stage_write(keep)
        return NoData()
