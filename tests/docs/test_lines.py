"""Lines of the documentation are short enough for an editor and a diff."""

from __future__ import annotations

import pytest

from tests.docs.blocks import ALL_PAGES
from tests.docs.generated import DOCS

LONGEST = 159


@pytest.mark.parametrize(
    "page",
    [*ALL_PAGES, "../ARCHITECTURE.md", "../CHANGELOG.md", "../CONTRIBUTING.md", "../examples/README.md"],
)
def test_no_line_is_too_long(page: str) -> None:
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > LONGEST] == []
