"""A rendered record parses to the same record."""

from __future__ import annotations

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st
from pydantic import ValidationError

from gieok.interfaces.markdown.records import DecisionRecord, Defaults, NamedRelation, parse, render
from gieok.memory.decisions.records import RELATION_TYPES, STRENGTHS

LINES = st.sampled_from(
    [
        *("# title", "## Status", "Proposed", "Status: rejected", "---", "...", "```", "=====", "- item"),
        *(
            "1. first",
            "ADR-7: name",
            "key: value",
            "저장소는 하나다",
            "closed #",
            "# x #",
            "\r",
            "\r\n",
            "\u2028",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(LINES, max_size=6).map("\n".join))
NAMES = st.one_of(st.uuids().map(str), st.text(max_size=20))


RELATIONS = st.fixed_dictionaries({"type": st.sampled_from(RELATION_TYPES), "target": NAMES})


@st.composite
def records(draw: st.DrawFn) -> DecisionRecord:
    """Any valid record."""
    domain = draw(st.sampled_from([None, "wms", "결제/정산", "ui.web"]))
    drawn = {
        "id": draw(st.none() | NAMES),
        "status": draw(st.sampled_from(["accepted", "proposed", "superseded"])),
        "statement": draw(TEXTS),
        "rationale": draw(st.none() | TEXTS),
        "strength": draw(st.sampled_from(STRENGTHS)),
        "scope": "domain" if domain else "global",
        "domain": domain,
        "relations": draw(st.none() | st.lists(RELATIONS, max_size=3)),
        "evidence_ids": draw(st.lists(st.uuids(), max_size=2)),
    }
    try:
        return DecisionRecord.model_validate(drawn, strict=False)
    except ValidationError:
        reject()


def record(statement: str, rationale: str | None = None) -> DecisionRecord:
    return DecisionRecord(statement=statement, rationale=rationale, strength="lock", scope="global")


@given(records())
@example(record("1. a number of its own"))
@example(record("two\nlines", "and\r\na carriage return"))
@example(record("a title", "## Status\n\nProposed"))
@example(record("a title", "```\n# not a title"))
@example(record("한 줄 # 닫힘 #", "\x1c begins with a separator"))
def test_parse_inverts_render(one: DecisionRecord) -> None:
    assert parse(render(one)) == one


@given(records())
def test_windows_line_ends_and_a_byte_order_mark_are_ignored(one: DecisionRecord) -> None:
    written = render(one)
    if "\r" not in written:
        assert parse("\ufeff" + written.replace("\n", "\r\n")) == one


def test_an_ordinary_record_needs_no_quotes() -> None:
    one = DecisionRecord(
        id="7c9e6679-7425-40de-944b-e07fc1f90ae7",
        statement="재고는 한 곳에서만 바꾼다",
        rationale="## Context\n\n두 곳에서 바꾸면 어긋난다.",
        strength="lock",
        scope="domain",
        domain="wms",
        relations=(NamedRelation(type="DEPENDS_ON", target="0001-one-database.md"),),
    )
    assert render(one) == (
        "---\n"
        "id: 7c9e6679-7425-40de-944b-e07fc1f90ae7\n"
        "status: accepted\n"
        "strength: lock\n"
        "scope: domain\n"
        "domain: wms\n"
        "relations:\n"
        "  - DEPENDS_ON 0001-one-database.md\n"
        "---\n"
        "\n"
        "# 재고는 한 곳에서만 바꾼다\n"
        "\n"
        "## Context\n"
        "\n"
        "두 곳에서 바꾸면 어긋난다.\n"
    )


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_file_takes_precedence_over_the_defaults(strength: str) -> None:
    found = parse(f"---\nstrength: {strength}\ndomain: ui\n---\n# x", Defaults("lock", "wms"))
    assert (found.strength, found.domain) == (strength, "ui")
