"""Evidence and anchors, as clients send them and see them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gieok import wire
from gieok.interfaces.rest.wire.base import Answer, Asked, example
from gieok.interfaces.rest.wire.fields import Ref, Uuid
from gieok.memory.decisions.evidence import (
    MAX_TARGETS,
    Anchor,
    Content,
    Evidence,
    EvidenceCard,
    Hint,
    Source,
    Title,
)

_ID = "8c6e4f1a-3d5b-4c9e-8f2a-4c6e8b0d1f3a"
_EVIDENCE: dict[str, Any] = {
    "id": _ID,
    "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "title": "창고 회의록",
    "source": "https://example.com/minutes/12",
    "createdAt": "2025-10-27T12:00:00Z",
}
_ANCHOR: dict[str, Any] = {
    "id": _ID,
    "sessionId": "session_456",
    "hint": "재고 계산 방식을 정한 이유",
    "targets": [{"kind": "evidence", "id": _ID}],
    "createdAt": "2025-10-27T12:00:00Z",
}


class KeepEvidence(Asked):
    """A snapshot of a source, word for word."""

    model_config = example(title="창고 회의록", content="…", source="https://example.com/minutes/12")

    title: Title
    content: Content
    source: Source | None = None


class TargetIn(Asked):
    """Where an anchor leads. A decision is named by its root."""

    kind: Literal["evidence", "decision"]
    id: Uuid


class AddAnchor(Asked):
    model_config = example(
        sessionId="session_456", hint="재고 계산 방식을 정한 이유", targets=[{"kind": "evidence", "id": _ID}]
    )

    session_id: Ref
    hint: Hint
    targets: Annotated[list[TargetIn], Field(min_length=1, max_length=MAX_TARGETS)]


class EvidenceCardAnswer(Answer):
    model_config = example(success=True, evidence=_EVIDENCE)

    evidence: EvidenceCard


class EvidenceAnswer(Answer):
    model_config = example(success=True, evidence=_EVIDENCE | {"content": "…"})

    evidence: Evidence


class AnchorAnswer(Answer):
    model_config = example(success=True, anchor=_ANCHOR)

    anchor: wire.Anchor


class AnchorsAnswer(Answer):
    model_config = example(success=True, anchors=[_ANCHOR])

    anchors: tuple[wire.Anchor, ...]


def anchor_view(anchor: Anchor) -> wire.Anchor:
    return wire.Anchor(
        id=anchor.id,
        session_id=anchor.session_ref,
        hint=anchor.hint,
        targets=anchor.targets,
        created_at=anchor.created_at,
    )
