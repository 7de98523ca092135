"""Evidence: snapshots of sources. Anchors: signposts that lead back to evidence and decisions."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from gieok.engine import Data
from gieok.memory.fields import AS_SESSION_ID, SessionRef, Timestamp, storable

MAX_TITLE_CHARS = 300
MAX_SOURCE_CHARS = 2_000
MAX_CONTENT_BYTES = 1_000_000
MAX_HINT_CHARS = 500
MAX_TARGETS = 50


def _within_a_megabyte(value: str) -> str:
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
    AfterValidator(_within_a_megabyte),
]
Hint = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_HINT_CHARS),
    AfterValidator(storable),
]


class EvidenceDraft(Data):
    """A snapshot that is about to be kept, word for word."""

    title: Title
    source: Source | None = None
    content: Content

    @property
    def sha256(self) -> str:
        """What makes it the same evidence as another: its content, and nothing else."""
        return sha256(self.content.encode()).hexdigest()


class EvidenceCard(Data):
    """What is known of evidence without reading it."""

    id: UUID
    sha256: str
    title: Title
    source: Source | None
    created_at: Timestamp


class Evidence(EvidenceCard):
    """A snapshot with its content."""

    content: Content


class Target(Data):
    """Where an anchor leads. A decision is named by its root."""

    kind: Literal["evidence", "decision"]
    id: UUID


Targets = Annotated[tuple[Target, ...], Field(min_length=1, max_length=MAX_TARGETS)]


class Lead(Data):
    """What is said of an anchor beside the thing that it led to."""

    id: UUID
    hint: Hint


class AnchorDraft(Data):
    """A signpost that is about to be set up."""

    session_ref: SessionRef
    hint: Hint
    targets: Targets


class Anchor(Data):
    """A hint of what was said in a session, and where its original is. It never replaces the original."""

    id: UUID
    session_ref: Annotated[SessionRef, AS_SESSION_ID]
    hint: Hint
    targets: Targets
    created_at: Timestamp
