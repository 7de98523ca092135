"""The records of decision memory: decisions, proposals, relations, evidence, anchors and walks."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from gieok.engine import Data
from gieok.memory.chains import VersionNumber
from gieok.memory.fields import AS_SESSION_ID, SessionRef, Timestamp, storable

MAX_STATEMENT_CHARS = 4_000
MAX_RATIONALE_CHARS = 20_000
MAX_EVIDENCE_IDS = 100
MAX_RELATIONS = 100
MAX_DOMAIN_CHARS = 64
MAX_TITLE_CHARS = 300
MAX_SOURCE_CHARS = 2_000
MAX_CONTENT_BYTES = 1_000_000
MAX_HINT_CHARS = 500
MAX_TARGETS = 50
MAX_ANCHORS = 100
MAX_PRINCIPLES = 100
_DOMAIN_MARKS = frozenset("._-/")

Strength = Literal["axis", "lock", "normal"]
STRENGTHS: tuple[Strength, ...] = ("axis", "lock", "normal")
"""Strongest first."""

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


@lru_cache(maxsize=1_024)
def normal_domain(value: str) -> str:
    """The normalized domain: `WMS` and `wms` are the same. ValueError for an invalid name.

    1 to 64 letters, digits and `. _ - /`, of any script, beginning with a letter or a digit. `global` is a
    scope and not a domain.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", value).casefold())
    if not 1 <= len(folded) <= MAX_DOMAIN_CHARS:
        raise ValueError(f"a domain has 1 to {MAX_DOMAIN_CHARS} characters")
    if not _is_letter_or_digit(folded[0]) or not all(map(_is_allowed, folded)):
        raise ValueError("a domain has letters, digits and . _ - / and begins with a letter or a digit")
    if folded == "global":
        raise ValueError("'global' is a scope, not a domain; leave the domain out")
    return folded


def _is_letter_or_digit(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "L" or category == "Nd"


def _is_allowed(character: str) -> bool:
    # Marks (category M) carry the vowels of many scripts.
    return (
        character in _DOMAIN_MARKS
        or _is_letter_or_digit(character)
        or unicodedata.category(character)[0] == "M"
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


Principles = Annotated[tuple[Statement, ...], Field(max_length=MAX_PRINCIPLES)]


class Policy(Data):
    """One version of the owner's principles, which are tier 1 of every context."""

    version: Annotated[int, Field(ge=0)]
    """0 where no principles were ever set."""
    principles: Principles
    created_at: Timestamp | None


class DecisionContent(Data):
    """The content of a decision: statement, strength and scope. Only the scope `domain` has a `domain`."""

    statement: Statement
    rationale: Rationale | None = None
    strength: Strength
    scope: Scope
    domain: Domain | None = None
    evidence_ids: Annotated[tuple[UUID, ...], Field(max_length=MAX_EVIDENCE_IDS)] = ()

    @model_validator(mode="after")
    def _check_domain(self) -> Self:
        if (self.scope == "domain") != (self.domain is not None):
            raise ValueError("scope 'domain' needs a domain, and scope 'global' has none")
        return self


def content_of(record: DecisionContent) -> DecisionContent:
    """The content of a record without the fields that a subclass adds."""
    return DecisionContent(**{name: getattr(record, name) for name in DecisionContent.model_fields})


class Decision(DecisionContent):
    """One version of a decision. `root_id` identifies the decision across its versions."""

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
    """A relation from the proposed decision to another one."""

    type: RelationType
    target: UUID


class DecisionProposal(DecisionContent):
    """A decision that is not saved: a runtime object without id and version.

    No store accepts one. With `root_id` it proposes the next version of that decision.
    """

    root_id: UUID | None = None
    relations: Annotated[tuple[ProposedRelation, ...], Field(max_length=MAX_RELATIONS)] = ()

    @property
    def content(self) -> DecisionContent:
        """The content of the version that would be saved."""
        return content_of(self)


class Relation(Data):
    """A declared relation. `source` and `target` are roots, so that it holds for new versions too."""

    id: UUID
    source: UUID
    type: RelationType
    target: UUID

    @model_validator(mode="after")
    def _check_ends(self) -> Self:
        if self.source == self.target:
            raise ValueError("a decision cannot have a relation to itself")
        return self


class DecisionPosition(Data):
    """A position in a list that is ordered by strength, then newest, then root."""

    strength: Strength
    created_at: Timestamp
    root_id: UUID


@dataclass(slots=True, unsafe_hash=True)
class PathEdge:
    """One relation on a path, as it was declared: `source` and `target` are `from` and `to` on the wire.

    A plain dataclass, because a walk creates thousands. Not frozen: that would make a walk a quarter slower.
    """

    source: Annotated[UUID, Field(alias="from")]
    type: RelationType
    target: Annotated[UUID, Field(alias="to")]


@dataclass(slots=True, unsafe_hash=True)
class ImpactNode:
    """A decision that a change reaches, with a shortest path. A plain dataclass like `PathEdge`."""

    root_id: Annotated[UUID, Field(alias="rootId")]
    distance: int
    path: tuple[PathEdge, ...]


class Impact(Data):
    """The blast radius of a decision. `truncated` where depth or limit cut it off."""

    origin: UUID
    nodes: tuple[ImpactNode, ...]
    truncated: bool
    visited: int


def _check_content_bytes(value: str) -> str:
    if len(value.encode()) > MAX_CONTENT_BYTES:
        raise ValueError(f"may have at most {MAX_CONTENT_BYTES} bytes in UTF-8")
    return value


Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE_CHARS),
    AfterValidator(storable),
]
Source = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SOURCE_CHARS),
    AfterValidator(storable),
]
Content = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_CONTENT_BYTES),
    AfterValidator(storable),
    AfterValidator(_check_content_bytes),
]
Hint = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_HINT_CHARS),
    AfterValidator(storable),
]


class EvidenceDraft(Data):
    """A snapshot of a source to save, word for word."""

    title: Title
    source: Source | None = None
    content: Content

    @property
    def sha256(self) -> str:
        """The digest of the content, which identifies evidence."""
        return sha256(self.content.encode()).hexdigest()


class EvidenceCard(Data):
    """Evidence without its content."""

    id: UUID
    sha256: str
    title: Title
    source: Source | None
    created_at: Timestamp


class Evidence(EvidenceCard):
    """Evidence with its content."""

    content: Content


class Target(Data):
    """A target of an anchor. A decision is identified by its root."""

    kind: Literal["evidence", "decision"]
    id: UUID


Targets = Annotated[tuple[Target, ...], Field(min_length=1, max_length=MAX_TARGETS)]


class Lead(Data):
    """The anchor that led to a result."""

    id: UUID
    hint: Hint


class AnchorDraft(Data):
    """An anchor to save."""

    session_ref: SessionRef
    hint: Hint
    targets: Targets


class Anchor(Data):
    """A hint of what was said in a session, with targets. It never replaces the original."""

    id: UUID
    session_ref: Annotated[SessionRef, AS_SESSION_ID]
    hint: Hint
    targets: Targets
    created_at: Timestamp


class Reached(Data):
    """One result of a walk, and what led to it."""

    target: Target
    lead: Lead | None
    """The anchor that led to it; None in a walk that began at a decision."""
    path: tuple[PathEdge, ...] = ()
    """The relations to the decision, or to the decision that cites the evidence. Older walks have none."""


class WalkOrigin(Data):
    """Where a walk begins: at the anchors of a session, at one anchor, or at one decision."""

    kind: Literal["session", "anchor", "decision"]
    id: str
    depth: Annotated[int, Field(ge=1)] | None = None
    """How many steps the caller asked for; None for the plan's depth."""


class Walk(Data):
    """A walk, queued or done. Its id is that of its job."""

    id: UUID
    origin: WalkOrigin | None
    """None in walks of older versions, which began at the session that their job names."""
    is_done: bool
    reached: tuple[Reached, ...] = ()
    truncated: bool = False
    """Whether the limits of the plan cut off the walk."""
    created_at: Timestamp
