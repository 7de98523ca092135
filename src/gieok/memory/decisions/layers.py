"""What decision memory loads: seven layers, and the items that they hold."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from gieok.engine import Data
from gieok.memory.decisions.evidence import EvidenceCard
from gieok.memory.decisions.records import Decision, PathEdge, Scope, Strength

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

Through = Literal["scope", "anchor", "words"]
"""How a decision was found: it applies here, an anchor leads to it, or it shares words with the question."""


class PolicyItem(Data):
    """A principle of the system, from the plan itself."""

    kind: Literal["policy"] = "policy"
    statement: str


class StructuralItem(Data):
    """A decision that stands in relation to the focus."""

    kind: Literal["structural"] = "structural"
    root_id: UUID
    strength: Strength
    scope: Scope
    domain: str | None
    statement: str | None
    """None for an axis or a lock that applies here: its words are in a later tier, if the budget lasts."""
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


class EvidenceItem(EvidenceCard):
    """Evidence that can be opened by its id. Its words stay where they are until someone does."""

    kind: Literal["evidence"] = "evidence"
    anchor_id: UUID
    hint: str


LayerItem = Annotated[PolicyItem | StructuralItem | DecisionItem | EvidenceItem, Field(discriminator="kind")]


class Layer(Data):
    """One tier of the loading order."""

    tier: Annotated[int, Field(ge=1, le=len(TIERS))]
    name: TierName
    items: tuple[LayerItem, ...]
    left_out: int | None
    """How many more it would have held. None where it was not looked into, because the budget had ended."""


class LoadedContext(Data):
    """Decision memory for one domain, always in seven layers."""

    domain: str
    phase: str | None
    """Given back as it came: it routes a workflow and filters nothing."""
    layers: Annotated[tuple[Layer, ...], Field(min_length=len(TIERS), max_length=len(TIERS))]
    tokens: int
    """About how many tokens they take in a prompt, headings and ids included; no less than the block does."""
    truncated: bool
    """Whether the plan's bounds cut off what the structure, or the anchors, lead to."""
