"""Deep walks through decisions: queued as a job, run by a worker, and read later.

A walk begins at the anchors of a session, at one anchor, or at one decision. It stores ids and no contents.
Reading it returns the versions that are active at that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Protocol
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import InputRefused, NotFound
from gieok.memory.decisions.checks import check_decisions
from gieok.memory.decisions.graph.impact import WalkMetadata
from gieok.memory.decisions.loading.layers import DecisionItem, EvidenceItem
from gieok.memory.decisions.loading.order import strongest_first
from gieok.memory.decisions.loading.sources import follow_anchors, follow_relations, reached_item
from gieok.memory.decisions.records import MAX_ANCHORS, Anchor, Lead, Reached, Target, Walk, WalkOrigin
from gieok.memory.decisions.store import DecisionView
from gieok.memory.fields import SessionRef, Timestamp
from gieok.memory.jobs.records import Job, JobDraft
from gieok.memory.jobs.store import JobView


class WalkResult(Data):
    """What a walk found: active versions and evidence, in the order of tier 7."""

    items: tuple[Annotated[DecisionItem | EvidenceItem, Field(discriminator="kind")], ...]
    truncated: bool
    """Whether depth or limit cut off the walk."""
    walked_at: Timestamp


def read_walk(view: DecisionView, walk: Walk) -> WalkResult:
    """The results of a walk with their current contents. Results that no longer exist are left out."""
    decisions, evidence = _reached(walk, "decision"), _reached(walk, "evidence")
    items = [
        *(
            reached_item(one, decisions[one.root_id].lead, decisions[one.root_id].path)
            for one in view.decisions.active([*decisions])
        ),
        *(
            reached_item(card, evidence[card.id].lead, evidence[card.id].path)
            for card in view.evidence.cards([*evidence])
        ),
    ]
    return WalkResult(
        items=tuple(sorted(items, key=strongest_first)), truncated=walk.truncated, walked_at=walk.created_at
    )


def _reached(walk: Walk, kind: str) -> Mapping[UUID, Reached]:
    return {one.target.id: one for one in walk.reached if one.target.kind == kind}


class WalkView(DecisionView, JobView, Protocol):
    """Decision memory and jobs."""


class QueueInputs(Data):
    session_ref: SessionRef | None = None
    anchor_id: UUID | None = None
    root_id: UUID | None = None
    depth: Annotated[int, Field(ge=1)] | None = None


class QueueWalk(WriteStep[NoData, QueueInputs, Job]):
    """Queues a walk from a session, an anchor or a decision, and returns its job.

    InputRefused unless exactly one origin is given, NotFound for an anchor or a decision that does not exist.
    """

    type = "QueueWalk"

    def apply(self, view: WalkView, metadata: NoData, inputs: QueueInputs, context: StepContext) -> Job:
        origin = _origin(view, inputs)
        draft = JobDraft(id=uuid4(), kind="walk", subject=origin.id, due_at=context.now)
        view.walks.save(Walk(id=draft.id, origin=origin, is_done=False, created_at=context.now))
        view.jobs.add(draft, context.now)
        job = view.jobs.get(draft.id)
        if job is None:
            raise NotFound(f"there is no job {draft.id}")
        return job


def _origin(view: DecisionView, inputs: QueueInputs) -> WalkOrigin:
    given = [inputs.session_ref, inputs.anchor_id, inputs.root_id]
    if sum(one is not None for one in given) != 1:
        raise InputRefused("give exactly one of anchorId, rootId and sessionId", at="anchorId")
    if inputs.root_id is not None:
        check_decisions(view, (inputs.root_id,))
        return WalkOrigin(kind="decision", id=str(inputs.root_id), depth=inputs.depth)
    if inputs.anchor_id is not None:
        _anchor(view, inputs.anchor_id)
        return WalkOrigin(kind="anchor", id=str(inputs.anchor_id), depth=inputs.depth)
    return WalkOrigin(kind="session", id=str(inputs.session_ref), depth=inputs.depth)


def _anchor(view: DecisionView, anchor_id: UUID) -> Anchor:
    anchor = view.anchors.get(anchor_id)
    if anchor is None:
        raise NotFound(f"there is no anchor {anchor_id}")
    return anchor


class AnchorWalkMetadata(WalkMetadata):
    """`depth` and `limit` as in `LoadDecisions`; `anchors` is how many of the newest are followed."""

    anchors: Annotated[int, Field(ge=1, le=MAX_ANCHORS)]


class WalkInputs(Data):
    job: Job


class Walked(Data):
    origin: WalkOrigin
    reached: tuple[Reached, ...]
    truncated: bool


class WalkAnchors(ReadStep[AnchorWalkMetadata, WalkInputs, Walked]):
    """Follows anchors or the relations of a decision, on one consistent snapshot.

    The depth is what the request asked for, at most that of the plan. The step from an anchor to its targets
    counts as one, and so does each relation.
    """

    type = "WalkAnchors"
    stages = frozenset({Stage.CONTEXT_SELECT})
    heavy = True

    def read(
        self, view: DecisionView, metadata: AnchorWalkMetadata, inputs: WalkInputs, context: StepContext
    ) -> Walked:
        walk = view.walks.get(inputs.job.id)
        origin = (walk and walk.origin) or WalkOrigin(kind="session", id=inputs.job.subject)
        depth = min(origin.depth or metadata.depth, metadata.depth)
        if origin.kind == "decision":
            roots: dict[UUID, Lead | None] = {UUID(origin.id): None}
            items, is_cut = follow_relations(view, roots, {}, depth=depth, limit=metadata.limit)
        else:
            anchors = (
                [_anchor(view, UUID(origin.id))]
                if origin.kind == "anchor"
                else view.anchors.list(origin.id, metadata.anchors + 1)
            )
            items, is_cut = follow_anchors(
                view, anchors[: metadata.anchors], depth=depth, limit=metadata.limit
            )
            is_cut = is_cut or len(anchors) > metadata.anchors
        context.note("reached", len(items))
        return Walked(origin=origin, reached=tuple(_to_reached(items)), truncated=is_cut)


def _to_reached(items: Iterable[DecisionItem | EvidenceItem]) -> Iterable[Reached]:
    for item in items:
        lead = None
        if item.anchor_id is not None and item.hint is not None:
            lead = Lead(id=item.anchor_id, hint=item.hint)
        target = Target(kind=item.kind, id=item.root_id if item.kind == "decision" else item.id)
        yield Reached(target=target, lead=lead, path=item.path)


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
            Walk(
                id=inputs.job.id,
                origin=inputs.origin,
                is_done=True,
                reached=inputs.reached,
                truncated=inputs.truncated,
                created_at=context.now,
            )
        )
