"""Validation of proposals, domains, evidence, anchors and cursors."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gieok.errors import InputRefused
from gieok.memory.cursors import decode_cursor, encode_cursor
from gieok.memory.decisions.records import (
    AnchorDraft,
    DecisionPosition,
    DecisionProposal,
    EvidenceDraft,
    Relation,
    normal_domain,
)
from gieok.memory.decisions.rules import read_proposal
from gieok.testing.clock import Clock

GOOD: dict[str, Any] = {"statement": "결정", "strength": "lock", "scope": "domain", "domain": "WMS"}


@pytest.mark.req("DEC-7")
def test_spellings_of_a_domain_are_normalised() -> None:
    spellings = ["Straße", "STRASSE", "strasse"]
    assert {normal_domain(spelling) for spelling in spellings} == {"strasse"}
    assert normal_domain("물류/창고-2") == normal_domain("\u1106\u116e\u11af류/창고-2")


@pytest.mark.req("DEC-7")
@given(st.text(max_size=80))
def test_normalising_a_domain_is_idempotent(text: str) -> None:
    try:
        name = normal_domain(text)
    except ValueError:
        return
    assert normal_domain(name) == name
    assert 1 <= len(name) <= 64


@pytest.mark.req("DEC-7")
@pytest.mark.parametrize(
    "name", ["", " ", "a b", "-a", "/", "a\nb", "a\x00", "global", "GLOBAL", "x" * 65, "a;--", "\u202ea"]
)
def test_an_invalid_domain_name_is_refused(name: str) -> None:
    with pytest.raises(InputRefused, match="domain"):
        read_proposal(GOOD | {"domain": name})


@pytest.mark.req("DEC-7")
@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"domain": None}, "proposal"),
        ({"scope": "global"}, "proposal"),
        ({"scope": "everywhere"}, "scope"),
        ({"strength": "strong"}, "strength"),
        ({"statement": "  "}, "statement"),
        ({"statement": "x" * 4_001}, "statement"),
        ({"statement": "a\x00b"}, "statement"),
        ({"rationale": "x" * 20_001}, "rationale"),
        ({"relations": [{"type": "LIKES", "target": str(uuid4())}]}, "relations[0].type"),
        ({"relations": [{"type": "REFINES", "target": "nowhere"}]}, "relations[0].target"),
        ({"evidenceIds": [str(uuid4())] * 101}, "evidenceIds"),
        ({"id": str(uuid4())}, "id"),
        ({"version": 3}, "version"),
    ],
)
def test_an_invalid_proposal_is_refused_with_the_field_name(change: dict[str, Any], at: str) -> None:
    with pytest.raises(InputRefused) as refused:
        read_proposal(GOOD | change)
    assert refused.value.at == at


@pytest.mark.req("DEC-2")
def test_a_proposal_has_neither_id_nor_version() -> None:
    proposal = read_proposal(GOOD | {"rationale": "왜", "rootId": str(uuid4())})
    assert proposal.domain == "wms"
    assert not {"id", "version", "is_active", "created_at"} & set(DecisionProposal.model_fields)


def test_a_relation_of_a_decision_to_itself_is_refused() -> None:
    root = uuid4()
    with pytest.raises(ValidationError, match="itself"):
        Relation(id=uuid4(), source=root, type="REFINES", target=root)


@pytest.mark.parametrize(
    "change",
    [
        {"title": ""},
        {"title": "x" * 301},
        {"content": ""},
        {"content": "가" * 333_334},
        {"source": "x" * 2_001},
    ],
)
def test_evidence_beyond_its_limits_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        EvidenceDraft(**{"title": "t", "content": "c"} | change)
    EvidenceDraft(title="t", content="가" * 333_333)


def test_an_anchor_without_targets_is_refused() -> None:
    with pytest.raises(ValidationError, match="targets"):
        AnchorDraft(session_ref="s", hint="h", targets=())


def test_a_cursor_round_trips_and_anything_else_is_refused() -> None:
    position = DecisionPosition(strength="lock", created_at=Clock().now, root_id=uuid4())
    assert decode_cursor(DecisionPosition, encode_cursor(position)) == position
    for invalid in ("", "x", "e30=", "가", encode_cursor(position)[:-8]):
        with pytest.raises(InputRefused, match="cursor"):
            decode_cursor(DecisionPosition, invalid)
