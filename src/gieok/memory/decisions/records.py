"""Decisions, proposals and the relations between decisions: frozen data with a limit on everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from gieok.engine import Data
from gieok.memory.chains.records import VersionNumber
from gieok.memory.decisions.domain import normal_domain
from gieok.memory.fields import Timestamp, storable

MAX_STATEMENT_CHARS = 4_000
MAX_RATIONALE_CHARS = 20_000
MAX_EVIDENCE_IDS = 100
MAX_RELATIONS = 100

Strength = Literal["axis", "lock", "normal"]
STRENGTHS: tuple[Strength, ...] = ("axis", "lock", "normal")
"""Strongest first. Nothing weaker ever comes before something stronger."""

Scope = Literal["global", "domain"]

RelationType = Literal["DEPENDS_ON", "CONSTRAINS", "VALIDATES", "REFINES", "CONFLICTS_WITH", "IMPLEMENTS"]
RELATION_TYPES: tuple[RelationType, ...] = (
    "DEPENDS_ON",
    "CONSTRAINS",
    "VALIDATES",
    "REFINES",
    "CONFLICTS_WITH",
    "IMPLEMENTS",
)

Domain = Annotated[str, AfterValidator(normal_domain)]
Statement = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_STATEMENT_CHARS),
    AfterValidator(storable),
]
Rationale = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_RATIONALE_CHARS),
    AfterValidator(storable),
]


class DecisionContent(Data):
    """What is decided, how strongly, and where it applies. Only the scope `domain` has a `domain`."""

    statement: Statement
    rationale: Rationale | None = None
    strength: Strength
    scope: Scope
    domain: Domain | None = None
    evidence_ids: Annotated[tuple[UUID, ...], Field(max_length=MAX_EVIDENCE_IDS)] = ()

    @model_validator(mode="after")
    def _domain_stands_with_its_scope(self) -> Self:
        if (self.scope == "domain") != (self.domain is not None):
            raise ValueError("scope 'domain' needs a domain, and scope 'global' has none")
        return self


_CONTENT_FIELDS = tuple(DecisionContent.model_fields)


class Decision(DecisionContent):
    """One version of a decision. `root_id` names the decision through all of its versions."""

    id: UUID
    root_id: UUID
    version: VersionNumber
    is_active: bool
    created_at: Timestamp


class DecisionPage(Data):
    """One page of a list of decisions. `next_cursor` is None on the last page."""

    decisions: tuple[Decision, ...]
    next_cursor: str | None


class ProposedRelation(Data):
    """A relation from the decision at hand to another one."""

    type: RelationType
    target: UUID


class DecisionProposal(DecisionContent):
    """A decision that nobody has taken yet: a runtime object without id and version.

    No store takes one. With `root_id` it proposes the next version of that decision.
    """

    root_id: UUID | None = None
    relations: Annotated[tuple[ProposedRelation, ...], Field(max_length=MAX_RELATIONS)] = ()

    @property
    def content(self) -> DecisionContent:
        """What would be decided, apart from where it would stand."""
        return DecisionContent.trusted(**{name: getattr(self, name) for name in _CONTENT_FIELDS})


class Relation(Data):
    """`source` stands in a relation to `target`. Both are roots, so a new version keeps it."""

    id: UUID
    source: UUID
    type: RelationType
    target: UUID

    @model_validator(mode="after")
    def _joins_two(self) -> Self:
        if self.source == self.target:
            raise ValueError("a decision has no relation to itself")
        return self


class DecisionPosition(Data):
    """A place in the order of a list: by strength, then newest, then root."""

    strength: Strength
    created_at: Timestamp
    root_id: UUID


@dataclass(slots=True, unsafe_hash=True)
class PathEdge:
    """One relation on a path, as it was declared: `source` and `target` are `from` and `to` on the wire.

    A walk makes thousands of these from stored keys, so they are plain records, not even frozen: that alone
    would take a quarter of a walk. The report checks their types where it is read from a document.
    """

    source: Annotated[UUID, Field(alias="from")]
    type: RelationType
    target: Annotated[UUID, Field(alias="to")]


@dataclass(slots=True, unsafe_hash=True)
class ImpactNode:
    """A decision that a change reaches, and the shortest path by which it does. Plain like `PathEdge`."""

    root_id: Annotated[UUID, Field(alias="rootId")]
    distance: int
    path: tuple[PathEdge, ...]


class Impact(Data):
    """The blast radius of a decision. `truncated` where depth or limit cut anything off."""

    origin: UUID
    nodes: tuple[ImpactNode, ...]
    truncated: bool
    visited: int
