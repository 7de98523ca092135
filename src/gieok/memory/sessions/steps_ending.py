"""How a session begins, is watched over and ends, and how its messages are queued for a summary."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.memory.fields import SessionRef
from gieok.memory.jobs.records import Job, JobDraft, JobOutcome
from gieok.memory.reader import Reader
from gieok.memory.sessions.records import MAX_MESSAGES, MessageRange, SessionStart
from gieok.memory.sessions.rules import check_active, inactive_from, unclaimed, watch_id
from gieok.memory.sessions.store import LogRooms, SessionRooms


class StartInputs(Data):
    start: SessionStart


class Named(Data):
    session_ref: SessionRef


class StartSession(Step[NoData, StartInputs, Named]):
    """Begins a session. Conflict where its name is taken."""

    type = "StartSession"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: StartInputs, context: StepContext) -> Named:
        context.stage_write(lambda rooms: rooms.sessions.start(inputs.start, context.now))
        return Named(session_ref=inputs.start.session_ref)


class WatchSession(Step[NoData, Named, NoData]):
    """Has a session watched, so that it ends when nobody uses it any more. Once is enough.

    The watch is due at once: for how long a session may be unused, the watch's own plan says.
    """

    type = "WatchSession"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: Named, context: StepContext) -> NoData:
        draft = JobDraft(
            id=watch_id(inputs.session_ref),
            kind="watch",
            session_ref=inputs.session_ref,
            first_seq=0,
            last_seq=0,
            due_at=context.now,
        )

        def watch(rooms: LogRooms) -> None:
            rooms.jobs.add(draft, context.now)

        context.stage_write(watch)
        return NoData()


class EndSession(Step[NoData, Named, Named]):
    """Ends a session. One that has ended stays as it is."""

    type = "EndSession"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: Named, context: StepContext) -> Named:
        def end(rooms: SessionRooms) -> None:
            rooms.sessions.end(inputs.session_ref, context.now)

        context.stage_write(end)
        return Named(session_ref=inputs.session_ref)


class InactivityMetadata(Data):
    inactivity_minutes: Annotated[int, Field(ge=1, le=60 * 24 * 365)]


class RequireActive(Step[InactivityMetadata, Named, NoData]):
    """Fails the cycle where the session was not used for so long: it is over, also while no worker runs."""

    type = "RequireActive"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[SessionRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: InactivityMetadata, inputs: Named, context: StepContext) -> NoData:
        session = await self._rooms.read(lambda rooms: rooms.sessions.get(inputs.session_ref), brief=True)
        if session is not None:
            check_active(session, metadata.inactivity_minutes, context.now)
        return NoData()


class WatchInputs(Data):
    job: Job


class EndIfInactive(Step[InactivityMetadata, WatchInputs, Named]):
    """The work of a watch: ends a session that was not used for long enough, or looks again when it could be.

    It decides inside the commit: a message that arrives at the last moment keeps the session open.
    """

    type = "EndIfInactive"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: InactivityMetadata, inputs: WatchInputs, context: StepContext) -> Named:
        job = inputs.job

        def end_or_look_again(rooms: LogRooms) -> None:
            session = rooms.sessions.hold(job.session_ref)
            over_at = inactive_from(session, metadata.inactivity_minutes)
            if session.ended_at is None and over_at > context.now:
                rooms.jobs.settle(job, JobOutcome(status="queued", due_at=over_at))
                return
            rooms.sessions.end(job.session_ref, context.now)
            rooms.jobs.settle(job, JobOutcome(status="done"))

        context.stage_write(end_or_look_again)
        return Named(session_ref=job.session_ref)


class QueueMetadata(Data):
    summarize_after: Annotated[int, Field(ge=1)]
    at_most: Annotated[int, Field(ge=1, le=MAX_MESSAGES)]


class QueueSummary(Step[QueueMetadata, Named, NoData]):
    """Queues a summary of the messages that have none, once `summarizeAfter` of them have come together.

    Of a session that has ended, all of them. The queue and the claim on the messages are one commit, so
    each message is summarised once. No summary has more than `atMost` messages.
    """

    type = "QueueSummary"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: QueueMetadata, inputs: Named, context: StepContext) -> NoData:
        def queue(rooms: LogRooms) -> tuple[UUID, ...]:
            session = rooms.sessions.hold(inputs.session_ref)
            due = unclaimed(session, summarize_after=metadata.summarize_after, at_most=metadata.at_most)
            drafts = [_summary_of(inputs.session_ref, span, context) for span in due]
            for draft in drafts:
                rooms.jobs.add(draft, context.now)
            if due:
                rooms.sessions.claim(inputs.session_ref, due[-1].last)
            return tuple(draft.id for draft in drafts)

        context.stage_write(queue)
        return NoData()


def _summary_of(session_ref: str, span: MessageRange, context: StepContext) -> JobDraft:
    return JobDraft(
        id=uuid4(),
        kind="summary",
        session_ref=session_ref,
        first_seq=span.first,
        last_seq=span.last,
        due_at=context.now,
    )
