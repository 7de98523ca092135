"""The steps that read the structure: what a change reaches, what a proposal meets, what is loaded."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from gieok.engine import Data, Stage, Step, StepContext
from gieok.memory.decisions.blocks import block_tokens, frame_tokens
from gieok.memory.decisions.exploring import structure_around
from gieok.memory.decisions.graph import ReadingRooms
from gieok.memory.decisions.guardian import GuardianReport
from gieok.memory.decisions.guarding import guard
from gieok.memory.decisions.impact import MAX_DEPTH, MAX_LIMIT, impact_of
from gieok.memory.decisions.known import check_decisions
from gieok.memory.decisions.layers import LoadedContext, PolicyItem
from gieok.memory.decisions.loading import load
from gieok.memory.decisions.records import DecisionProposal, Domain, Impact, Statement
from gieok.memory.decisions.rules import MAX_LIST
from gieok.memory.decisions.sources import Exploring, StoredSources
from gieok.memory.fields import SessionRef
from gieok.memory.reader import Reader

MAX_BUDGET = 50_000
MAX_POLICY = 100
MAX_ANCHORS = 100
MAX_FOCUS = 100

Less = Annotated[int, Field(ge=1)]
"""What a request asks for. Where it asks for more than the plan gives, it gets what the plan gives."""


class WalkMetadata(Data):
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)]


class BlastRadiusInputs(Data):
    root_id: UUID
    depth: Less | None = None
    limit: Less | None = None


LARGEST_REPORT = 4 * 1024 * 1024
"""No report of a walk has more bytes, by the limits of walks."""


class BlastRadius(Step[WalkMetadata, BlastRadiusInputs, Impact]):
    """What a change of a decision reaches, by explicit relations only."""

    type = "BlastRadius"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[ReadingRooms]) -> None:
        self._rooms = rooms

    def largest_output(self, metadata: WalkMetadata, inputs: BlastRadiusInputs) -> int:
        return LARGEST_REPORT

    async def run(self, metadata: WalkMetadata, inputs: BlastRadiusInputs, context: StepContext) -> Impact:
        depth = _at_most(metadata.depth, inputs.depth)
        limit = _at_most(metadata.limit, inputs.limit)

        def walk(rooms: ReadingRooms) -> Impact:
            check_decisions(rooms, (inputs.root_id,))
            return impact_of(inputs.root_id, rooms.graph.edges, depth=depth, limit=limit)

        impact = await self._rooms.read(walk)
        context.note("visited", impact.visited)
        return impact


class ProposalInputs(Data):
    proposal: DecisionProposal


class AnalyzeImpact(Step[WalkMetadata, ProposalInputs, GuardianReport]):
    """The guardian: reports what a proposal would meet and break. It refuses nothing and changes nothing."""

    type = "AnalyzeImpact"
    stages = frozenset({Stage.CONTEXT_SELECT, Stage.POST_PROCESS})

    def __init__(self, rooms: Reader[ReadingRooms]) -> None:
        self._rooms = rooms

    async def run(
        self, metadata: WalkMetadata, inputs: ProposalInputs, context: StepContext
    ) -> GuardianReport:
        report = await self._rooms.read(
            lambda rooms: guard(rooms, inputs.proposal, depth=metadata.depth, limit=metadata.limit)
        )
        context.note("affected", len(report.impact.nodes))
        return report


class LoadMetadata(WalkMetadata):
    """`depth` and `limit` bound the structural walk, and the deep one of tier 7."""

    policy: Annotated[tuple[Statement, ...], Field(max_length=MAX_POLICY)]
    budget: Annotated[int, Field(ge=1, le=MAX_BUDGET)]
    normals: Annotated[int, Field(ge=0, le=MAX_LIST)]
    anchors: Annotated[int, Field(ge=0, le=MAX_ANCHORS)]
    top_k: Annotated[int, Field(ge=1, le=MAX_LIST)]
    deep: bool
    """Whether tier 7 goes on from what anchors lead to. It is costly, and may run later by another plan."""


class LoadInputs(Data):
    domain: Domain
    phase: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    q: str | None = None
    session_ref: SessionRef | None = None
    roots: Annotated[tuple[UUID, ...], Field(max_length=MAX_FOCUS)] = ()
    """The focus of tier 2. Without one it is the domain's own axes and locks."""
    budget: Less | None = None
    depth: Less | None = None


class LoadDecisions(Step[LoadMetadata, LoadInputs, LoadedContext]):
    """Decision memory of one domain in the loading order, from one consistent view."""

    type = "LoadDecisions"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[ReadingRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: LoadMetadata, inputs: LoadInputs, context: StepContext) -> LoadedContext:
        loaded = await self._rooms.read(lambda rooms: _load(rooms, metadata, inputs))
        context.note("tokens", loaded.tokens)
        for layer in loaded.layers:
            context.note(layer.name, len(layer.items))
        return loaded


def _load(rooms: ReadingRooms, metadata: LoadMetadata, inputs: LoadInputs) -> LoadedContext:
    depth = _at_most(metadata.depth, inputs.depth)
    check_decisions(rooms, inputs.roots)
    structural, truncated = structure_around(
        rooms, inputs.roots, inputs.domain, depth=depth, limit=metadata.limit
    )
    exploring = Exploring(
        session_ref=inputs.session_ref,
        anchors=metadata.anchors,
        depth=depth if metadata.deep else 1,
        limit=metadata.limit,
        question=inputs.q,
        top_k=metadata.top_k,
    )
    policy = [PolicyItem(statement=statement) for statement in metadata.policy]
    sources = StoredSources(rooms, inputs.domain, policy, structural, exploring)
    budget = _at_most(metadata.budget, inputs.budget) - frame_tokens(inputs.domain, inputs.phase)
    layers = load(sources, budget=budget, normals=metadata.normals)
    return LoadedContext(
        domain=inputs.domain,
        phase=inputs.phase,
        layers=layers,
        tokens=block_tokens(inputs.domain, inputs.phase, layers),
        truncated=truncated or sources.truncated,
    )


def _at_most(most: int, asked: int | None) -> int:
    return most if asked is None else min(most, asked)
