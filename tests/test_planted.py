"""The planted bugs are up to date with the source, and one of each kind is caught."""

from __future__ import annotations

import pytest

from tests.planted import BUGS, SOURCE, Bug, fails_with


def test_there_are_twenty_bugs_and_each_fits_the_source() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 20
    stale = [
        bug.name
        for bug in BUGS
        if isinstance(bug, Bug) and (SOURCE / bug.file).read_text("utf-8").count(bug.good) != 1
    ]
    assert stale == [], "bring these bugs of tests/planted.py up to date"


@pytest.mark.parametrize("name", ["a seal that is not bound to its row", "an appointment that never passes"])
def test_a_planted_bug_is_caught(name: str) -> None:
    """The others take longer: `make planted`."""
    bug = next(bug for bug in BUGS if bug.name == name)
    assert isinstance(bug, Bug)
    assert fails_with(bug)


def test_a_harmless_change_is_not_reported_as_caught() -> None:
    name = "an appointment that never passes"
    bug = next(bug for bug in BUGS if bug.name == name)
    assert isinstance(bug, Bug)
    assert not fails_with(Bug(bug.name, bug.file, bug.good, bug.good, bug.tests))
