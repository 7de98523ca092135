"""The table of closed loopholes names tests that exist and that prove the clause beside them."""

from __future__ import annotations

import re

import pytest

from tests.docs.generated import DOCS

ROOT = DOCS.parent
_ROW = re.compile(r"^\| (?P<clauses>[A-Z0-9, -]+) \|.*\| `(?P<test>test_\w+)` \|$", re.MULTILINE)
ROWS = [(row["clauses"], row["test"]) for row in _ROW.finditer((DOCS / "requirements.md").read_text("utf-8"))]


def test_the_table_is_found() -> None:
    assert len(ROWS) > 20


@pytest.mark.parametrize(("clauses", "test"), ROWS, ids=[test for _, test in ROWS])
def test_a_closed_loophole_has_its_test(clauses: str, test: str) -> None:
    """The marks stand between the test before it and the test itself."""
    found = [
        text
        for folder in ("tests", "src/gieok/testing")
        for path in (ROOT / folder).rglob("*.py")
        if f"def {test}(" in (text := path.read_text(encoding="utf-8"))
    ]
    assert len(found) == 1
    marks = found[0][: found[0].index(f"def {test}(")].rsplit("def test_", 1)[-1]
    for clause in clauses.split(", "):
        assert f'"{clause}"' in marks
