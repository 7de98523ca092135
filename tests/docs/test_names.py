"""Files named on a page exist, and translations have the same commands."""

from __future__ import annotations

import re

import pytest

from tests.docs.blocks import ALL_PAGES, SHELL, blocks_of
from tests.docs.generated import DOCS

ROOT = DOCS.parent
_NAMED = re.compile(r"`((?:bench|deploy|docs|examples|src|tests)/[\w./-]*)`")
_COMMAND = re.compile(r"gieok [a-z]+|curl|pip install|export \w+")


@pytest.mark.parametrize("page", ALL_PAGES)
def test_files_named_on_a_page_exist(page: str) -> None:
    named = _NAMED.findall((DOCS / page).read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_korean_quickstart_has_the_commands_of_the_english_one() -> None:
    """In the same order."""
    english, korean = (
        [_COMMAND.findall(block.text) for block in blocks_of(page) if block.language in SHELL]
        for page in ("quickstart.md", "quickstart.ko.md")
    )
    assert english == korean
    assert len(english) > 5
