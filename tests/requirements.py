"""Each clause of the requirements with the tests that prove it: `make requirements`.

The clauses stand in docs/requirements.md. It fails when a clause has no test, or when a test names a clause
that does not exist.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLAUSES = ROOT / "docs" / "requirements.md"
_CLAUSE = re.compile(r"^- (?P<id>[A-Z]+-\d+) (?P<text>.+)$", re.MULTILINE)


class Collected:
    """Gathers the marks of every test that pytest finds."""

    def __init__(self) -> None:
        self.tests: dict[str, set[str]] = defaultdict(set)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for mark in item.iter_markers("req"):
                for clause in mark.args:
                    self.tests[clause].add(item.nodeid.split("[")[0])


def clauses() -> dict[str, str]:
    """Every clause by its id."""
    return {found["id"]: found["text"] for found in _CLAUSE.finditer(CLAUSES.read_text(encoding="utf-8"))}


def main() -> int:
    """Print the table; 1 when a clause has no test or a test names an unknown clause."""
    collected = Collected()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = pytest.main(["--collect-only", "-q", str(ROOT / "tests")], plugins=[collected])
    if status is not pytest.ExitCode.OK:
        print(printed.getvalue(), file=sys.stderr)
        return 1
    known = clauses()
    missing = [clause for clause in known if not collected.tests[clause]]
    for clause, text in known.items():
        tests = sorted(collected.tests[clause])
        print(f"{clause:9} {len(tests):3} tests  {text[:80]}")
        for test in tests:
            print(f"                     {test}")
    unknown = sorted(set(collected.tests) - set(known))
    for clause in missing:
        print(f"{clause} has no test", file=sys.stderr)
    for clause in unknown:
        print(
            f"{clause} is named by a test and is no clause: {sorted(collected.tests[clause])}",
            file=sys.stderr,
        )
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
