"""Decision records as teams write them: Nygard's format, MADR old and new, and mistakes."""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter

import pytest

from gieok.errors import InputRefused
from gieok.interfaces.markdown.records import Defaults, parse

NYGARD = """# 12. Use one database

Date: 2024-03-01

## Status

Accepted

Supercedes [3. Use files](0003-use-files.md)

## Context

Two stores drift apart.

## Decision

We will use one database.

## Consequences

Everything is in one backup.
"""

MADR_2 = """# Use Markdown Architectural Decision Records

* Status: accepted
* Deciders: a, b

## Context and Problem Statement

How to record?
"""

MADR_4 = """---
# These are optional metadata elements.
status: "superseded by ADR-0123"
date: 2024-05-01
decision-makers: [a, b]
consulted:
  - c
  - d
custom:
  nested: {deep: [1, 2]}
---

# Use plain text

## Context and Problem Statement

Which form?
"""

SETEXT = """ADR 7: 저장소는 하나다
====================

상태: 승인됨
"""


def test_the_title_is_the_statement_and_the_sections_are_the_rationale() -> None:
    found = parse(NYGARD)
    assert (found.statement, found.status) == ("Use one database", "accepted")
    assert found.rationale is not None
    assert found.rationale.startswith("Date: 2024-03-01")
    for section in ("## Status", "## Context", "## Decision", "## Consequences"):
        assert section in found.rationale


def test_a_record_without_strength_and_domain_gets_the_defaults() -> None:
    assert (parse(NYGARD).strength, parse(NYGARD).scope) == ("normal", "global")
    found = parse(NYGARD, Defaults("axis", "WMS"))
    assert (found.strength, found.scope, found.domain) == ("axis", "domain", "wms")
    assert found.relations is None


@pytest.mark.parametrize(
    ("text", "statement", "status"),
    [
        (MADR_2, "Use Markdown Architectural Decision Records", "accepted"),
        (MADR_4, "Use plain text", "superseded"),
        (SETEXT, "저장소는 하나다", "accepted"),
        ("# ADR-0007 - Names\n\n**Status**: Draft", "Names", "proposed"),
        ("# x\n\n## 상태\n\n폐기\n", "x", "deprecated"),
        ("# x\n\n## Status\n\n~~Proposed~~ Accepted 2024-01-01\n", "x", "accepted"),
        ("# x\n\n## Status\n\nAccepted, replaced by ADR-9\n", "x", "superseded"),
        ("# x\n\n## Status\n\nAccepted. It replaced the old queue\n", "x", "accepted"),
        ("# x\n\n## Status\n\nAccepted\n\nThe draft was rejected first.\n", "x", "accepted"),
        ("# x\n\n## Status\n\nAccepted\n\nSuperseded by [9](9.md)\n", "x", "superseded"),
        ("# x\n\n## Status\n\n~~Accepted~~ Superseded 2024-01-01\n", "x", "superseded"),
        ("# x\n\n## Status\n\n{proposed | rejected | accepted}\n", "x", "rejected"),
        ("<!-- a note -->\n```\n# code\n```\n# The title #\n", "The title", "accepted"),
        ("# 2 phases", "2 phases", "accepted"),
    ],
)
def test_common_formats(text: str, statement: str, status: str) -> None:
    found = parse(text)
    assert (found.statement, found.status) == (statement, status)


def test_a_status_below_the_first_section_is_ignored() -> None:
    assert parse("# x\n\n## Context\n\nStatus: rejected requests pile up").status == "accepted"


@pytest.mark.parametrize(
    ("front", "domain", "relations"),
    [
        ("domain: WMS # ours", "wms", None),
        ("domain: 'wms'", "wms", None),
        ("Scope: Domain\nDOMAIN: wms", "wms", None),
        ("relations: []", None, []),
        ("relations:", None, []),
        ("relations: depends-on a.md", None, [("DEPENDS_ON", "a.md")]),
        ("relations: [REFINES a, CONSTRAINS b c]", None, [("REFINES", "a"), ("CONSTRAINS", "b c")]),
        ("relations:\n- REFINES a\n\n- IMPLEMENTS 'b'", None, [("REFINES", "a"), ("IMPLEMENTS", "'b'")]),
    ],
)
def test_front_matter_as_people_write_it(
    front: str, domain: str | None, relations: list[tuple[str, str]] | None
) -> None:
    found = parse(f"---\n{front}\n---\n# x")
    assert found.domain == domain
    named = None if found.relations is None else [(each.type, each.target) for each in found.relations]
    assert named == relations


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no title"),
        ("---\nstatement: ''\n---\n \n", "statement: "),
        ("---\nevidence: seven\n---\n# x", "evidence[0]: "),
        ("no title here", "has no title"),
        ("#no space", "has no title"),
        ("# \n", "statement: "),
        ("# " + "x" * 4_001, "statement: "),
        ("---\nstrength: strong\n---\n# x", "strength: "),
        ("---\nscope: wms\n---\n# x", "scope: "),
        ("---\nscope: domain\n---\n# x", "needs a domain"),
        ("---\nscope: global\ndomain: wms\n---\n# x", "needs a domain"),
        ("---\ndomain: a b\n---\n# x", "domain: "),
        ("---\nrelations:\n  - DEPENDS_ON\n---\n# x", "relations: a relation is written"),
        ("---\nrelations:\n  - LIKES a\n---\n# x", "relations[0].type: "),
        ("---\nrelations:\n  deep:\n    - a\n---\n# x", "relations: must be one value, or a list"),
        ("---\ndomain: [a, b]\n---\n# x", "domain: must be one value"),
        ("---\ndomain: a\ndomain: b\n---\n# x", "line 3: 'domain' is there twice"),
        ("---\nevidence: [seven]\n---\n# x", "evidence[0]: "),
        ('---\nstatement: "x\n---\n', "line 2: this is not valid YAML: while scanning a quoted scalar"),
        ("---\nstatement: x\nrationale: y\n---\nz", "rationale: is both in the front matter and in the text"),
        ("---\nnonsense\n---\n# x", "line 2: the front matter must consist of `key: value` lines"),
        ("---\nid: a\n# x", "never ends"),
        ("# x\n\n## Status\n\nMaybe\n", "its status is unknown"),
        ('---\nid: "\\ud800"\n---\n# x', "id: "),
        ("# x\x00", "statement: "),
    ],
)
def test_an_invalid_record_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InputRefused) as refused:
        parse(text)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "template",
    [
        "# x\n\n{}y",
        "# x\n\n*{}status{}y",
        "# x\n\n## {}y",
        "# x{}y",
        "---\na{}y: b\n---\n# x",
        "---\na:\n  -{}y\n---\n# x",
        "---\na: b{}y\n---\n# x",
        "# x\n\nstatus: superseded{}y accepted",
    ],
)
def test_parsing_time_is_linear_in_the_length_of_a_line(template: str) -> None:
    """A line ten times as long may take ten times as long, but not a hundred times."""

    def seconds(spaces: int) -> float:
        text = template.replace("{}", " " * spaces)
        best = 1e9
        for _ in range(3):
            began = perf_counter()
            with suppress(InputRefused):
                parse(text)
            best = min(best, perf_counter() - began)
        return best

    assert seconds(20_000) < 40 * seconds(2_000) + 0.01
