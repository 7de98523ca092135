"""The tables in docs/rooms/decisions.md match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gieok.memory.decisions.graph.impact import DIRECTIONS, Direction
from gieok.memory.decisions.loading.layers import TIERS

PAGE = (Path(__file__).parents[2] / "docs" / "rooms" / "decisions.md").read_text(encoding="utf-8")
REACHES: dict[tuple[str, str], Direction] = {
    ("B", "A"): "target to source",
    ("A", "B"): "source to target",
    ("either", "the other"): "both",
}


@pytest.mark.req("DEC-8")
def test_the_page_lists_the_direction_of_every_relation() -> None:
    rows = re.findall(r"^\| A `(\w+)` B \| (.+?) \| (.+?) \|", PAGE, flags=re.MULTILINE)
    assert {kind: REACHES[origin, affected] for kind, origin, affected in rows} == DIRECTIONS


@pytest.mark.req("DEC-10")
def test_the_page_lists_the_loading_order() -> None:
    rows = re.findall(r"^\| (\d) \| ([\w+]+) \|", PAGE, flags=re.MULTILINE)
    assert rows == [(str(tier), name) for tier, name in enumerate(TIERS, start=1)]
