"""After a change of shipped plans: update the hashes that plans name, the pins, and the former hashes.

Run `python -m tests.plan_hashes` before a commit. A hash that the last commit pinned and that is not in use
any more goes into `former_hashes.txt`, so that sessions under it are still closed by their own plans.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from gieok.engine import parse_plan

ROOT = Path(__file__).parents[1]
PLANS = ROOT / "src/gieok/plans"
FORMER = PLANS / "former_hashes.txt"
PINS = ROOT / "tests/test_plan_hashes.py"
_PIN = re.compile(r'^    "(?P<name>\w+)": "(?P<hash>[0-9a-f]{64})",(?:  # noqa: E501)?$', re.MULTILINE)
_LINE_CHARS = 110


def main() -> None:
    """Update the files and print what has changed."""
    paths = sorted(PLANS.glob("*.json"))
    for path in paths:  # plans that are named by others name none themselves
        path.write_text(_with_hashes(path.read_text(encoding="utf-8")), encoding="utf-8")
    hashes = {path.stem: _hash(path) for path in paths}
    rows = [f'    "{name}": "{plan_hash}",' for name, plan_hash in hashes.items()]
    pins = "\n".join(row if len(row) <= _LINE_CHARS else f"{row}  # noqa: E501" for row in rows)
    text = PINS.read_text(encoding="utf-8")
    first, last = text.index("PINNED = {\n") + len("PINNED = {\n"), text.index("\n}\n")
    PINS.write_text(text[:first] + pins + text[last:], encoding="utf-8")
    _add_former(hashes)


def _with_hashes(plan: str) -> str:
    """The plan with the present hash of each plan that it names."""
    return re.sub(r'"(\w+)@[0-9a-f]*"', lambda ref: f'"{ref[1]}@{_hash(PLANS / f"{ref[1]}.json")}"', plan)


def _hash(path: Path) -> str:
    return parse_plan(path.read_text(encoding="utf-8")).hash


def _add_former(hashes: dict[str, str]) -> None:
    command = ["git", "show", "HEAD:tests/test_plan_hashes.py"]
    committed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = FORMER.read_text(encoding="utf-8")
    for pin in _PIN.finditer(committed):
        name, plan_hash = pin["name"], pin["hash"]
        if plan_hash not in hashes.values() and plan_hash not in known:
            print(f"{name}: {plan_hash[:12]} is a former hash now")
            known += f"{plan_hash} {name}\n"
    FORMER.write_text(known, encoding="utf-8")


if __name__ == "__main__":
    main()
