"""The deep walk from a session's anchors: queued as a job, run by a worker, and read later.

A walk stores ids and no contents. Reading it returns the versions that are active at that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import NotFound
from gieok.memory.decisions.graph.impact import WalkMetadata
from gieok.memory.decisions.loading.layers import DecisionItem, EvidenceItem
from gieok.memory.decisions.loading.order import strongest_first
from gieok.memory.decisions.loading.sources import decision_item, evidence_item, follow_anchors
from gieok.memory.decisions.records import MAX_ANCHORS, Lead, Reached, Target, Walk
from gieok.memory.decisions.store import DecisionView
from gieok.memory.fields import SessionRef, Timestamp
from gieok.memory.jobs.records import Job, JobDraft
from gieok.memory.jobs.store import JobView


class Exploration(Data):
    """The result of a walk: active versions, in the order of tier 7."""

    items: tuple[DecisionItem | EvidenceItem, ...]
    truncated: bool
    walked_at: Timestamp


def read_walk(view: DecisionView, walk: Walk) -> Exploration:
    """The results of a walk with their current contents. Results that no longer exist are left out."""
    decisions = _leads(walk, "decision")
    evidence = _leads(walk, "evidence")
    items: Sequence[DecisionItem | EvidenceItem] = [
        *(
            decision_item(one, "anchor", decisions[one.root_id])
            for one in view.decisions.active([*decisions])
        ),
        *(evidence_item(card, evidence[card.id]) for card in view.evidence.cards([*evidence])),
    ]
    return Exploration(
        items=tuple(sorted(items, key=strongest_first)), truncated=walk.truncated, walked_at=walk.created_at
    )


def _leads(walk: Walk, kind: str) -> dict[UUID, Lead]:
    return {one.target.id: one.lead for one in walk.reached if one.target.kind == kind}


class QueueInputs(Data):
    session_ref: SessionRef


class QueueWalk(WriteStep[NoData, QueueInputs, Job]):
    """Queues the walk of a session's anchors and returns its job."""

    type = "QueueWalk"

    def apply(self, view: JobView, metadata: NoData, inputs: QueueInputs, context: StepContext) -> Job:
        draft = JobDraft(
            id=uuid4(),
            kind="walk",
            subject=inputs.session_ref,
            due_at=context.now,
        )
        view.jobs.add(draft, context.now)
        job = view.jobs.get(draft.id)
        if job is None:
            raise NotFound(f"there is no job {draft.id}")
        return job


class AnchorWalkMetadata(WalkMetadata):
    """`depth` and `limit` as in `LoadDecisions`; `anchors` is how many of the newest are followed."""

    anchors: Annotated[int, Field(ge=1, le=MAX_ANCHORS)]


class WalkInputs(Data):
    job: Job


class Walked(Data):
    reached: tuple[Reached, ...]
    truncated: bool


class WalkAnchors(ReadStep[AnchorWalkMetadata, WalkInputs, Walked]):
    """Follows a session's anchors to the plan's depth, on one consistent snapshot."""

    type = "WalkAnchors"
    stages = frozenset({Stage.CONTEXT_SELECT})
    heavy = True

    def read(
        self, view: DecisionView, metadata: AnchorWalkMetadata, inputs: WalkInputs, context: StepContext
    ) -> Walked:
        anchors = view.anchors.list(inputs.job.subject, metadata.anchors + 1)
        items, is_cut = follow_anchors(
            view, anchors[: metadata.anchors], depth=metadata.depth, limit=metadata.limit
        )
        context.note("reached", len(items))
        return Walked(reached=_reached(items), truncated=is_cut or len(anchors) > metadata.anchors)


def _reached(items: Iterable[DecisionItem | EvidenceItem]) -> tuple[Reached, ...]:
    return tuple(
        Reached(
            target=Target(kind=item.kind, id=item.root_id if item.kind == "decision" else item.id),
            lead=Lead(id=item.anchor_id, hint=item.hint),
        )
        for item in items
        if item.anchor_id is not None and item.hint is not None
    )


class KeepWalkMetadata(Data):
    keep_days: Annotated[int, Field(ge=1, le=3_650)]


class KeepWalkInputs(Walked):
    job: Job


class KeepWalk(WriteStep[KeepWalkMetadata, KeepWalkInputs, None]):
    """Stores what a walk found, and deletes walks that are older than `keepDays`."""

    type = "KeepWalk"

    def apply(
        self, view: DecisionView, metadata: KeepWalkMetadata, inputs: KeepWalkInputs, context: StepContext
    ) -> None:
        view.walks.delete_before(context.now - timedelta(days=metadata.keep_days))
        view.walks.save(
            Walk(id=inputs.job.id, reached=inputs.reached, truncated=inputs.truncated, created_at=context.now)
        )
