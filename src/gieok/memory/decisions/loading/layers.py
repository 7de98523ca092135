"""The seven layers that decision memory loads, and their items."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from gieok.engine import Data
from gieok.memory.decisions.records import Decision, EvidenceCard, PathEdge, Scope, Strength


def _is_empty(value: tuple[object, ...]) -> bool:
    return not value


TierName = Literal[
    "policy", "structural", "global+axis", "domain+axis", "domain+lock", "domain+normal", "anchors"
]
TIERS: tuple[TierName, ...] = (
    "policy",
    "structural",
    "global+axis",
    "domain+axis",
    "domain+lock",
    "domain+normal",
    "anchors",
)
"""The loading order. Tiers are numbered from 1."""

Through = Literal["scope", "anchor", "relation", "words"]
"""How a decision was found: by its scope, by an anchor, by relations of the decision at which a walk began,
or by words shared with the question.
"""


Path = Annotated[tuple[PathEdge, ...], Field(exclude_if=_is_empty)]
"""The relations from the origin of a walk to the decision, or to the decision that cites the evidence.

Left out of the JSON where it is empty.
"""


class PolicyItem(Data):
    """A principle of the plan or of the owner."""

    kind: Literal["policy"] = "policy"
    statement: str


class StructuralItem(Data):
    """A decision that is related to the focus: its id and how it is related.

    Its statement is in the tier of its own strength, or nowhere if it belongs to another domain.
    """

    kind: Literal["structural"] = "structural"
    root_id: UUID
    strength: Strength
    scope: Scope
    domain: str | None
    is_affected: bool
    """Whether a change of the focus reaches it; otherwise the focus rests on it."""
    distance: int
    path: tuple[PathEdge, ...]


class DecisionItem(Decision):
    """The active version of a decision."""

    kind: Literal["decision"] = "decision"
    through: Through
    anchor_id: UUID | None = None
    hint: str | None = None
    path: Path = ()


class EvidenceItem(EvidenceCard):
    """Evidence without its content, which is read by its id."""

    kind: Literal["evidence"] = "evidence"
    anchor_id: UUID | None
    """The anchor that led to it; None in a walk that began at a decision."""
    hint: str | None
    path: Path = ()


LayerItem = Annotated[PolicyItem | StructuralItem | DecisionItem | EvidenceItem, Field(discriminator="kind")]


class Layer(Data):
    """One tier of the loading order."""

    tier: Annotated[int, Field(ge=1, le=len(TIERS))]
    name: TierName
    items: tuple[LayerItem, ...]
    left_out: int | None
    """How many items did not fit. None where the tier was not read, because the budget was used up."""


class LoadedContext(Data):
    """Decision memory for one domain, always in seven layers."""

    domain: str
    phase: str | None
    """Returned as given: it routes a workflow and filters nothing."""
    layers: Annotated[tuple[Layer, ...], Field(min_length=len(TIERS), max_length=len(TIERS))]
    tokens: int
    """The estimated size in a prompt, headings and ids included; the block is never larger."""
    truncated: bool
    """Whether the limits of the plan cut off the structural walk or the anchors."""
