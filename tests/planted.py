"""Planted bugs: `make planted` breaks a copy of the source in twenty ways, and a test must notice each.

Each bug is one replacement in one file, and the test that is to fail with it. Bugs that need a running writer
are planted by a test of the harness itself, which passes when its own check has found the bug. Prints a
table, and fails if a bug is not caught. `python -m tests.planted "dropped fence"` plants only that one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gieok"


@dataclass(frozen=True)
class Bug:
    """A replacement in a file, and the tests that must fail with it."""

    name: str
    file: str
    good: str
    bad: str
    tests: str


@dataclass(frozen=True)
class SelfTest:
    """A test that plants the bug by itself, and passes if its check finds it."""

    name: str
    tests: str
    chosen: str
    """The expression that chooses it in the file."""


_KILL, _POWER = "tests/crash/test_kill.py", "tests/crash/test_power_cut.py"
BUGS: Sequence[Bug | SelfTest] = (
    SelfTest("answer before the commit", _KILL, "planted and answer_early and sqlite"),
    SelfTest("each write in a transaction of its own", _KILL, "planted and split_cycle and sqlite"),
    SelfTest("a memory and its terms in two transactions", _KILL, "planted and split_memory and sqlite"),
    SelfTest("messages and their job in two transactions", _KILL, "queued_after_the_answer and sqlite"),
    SelfTest(
        "a job and its result in two transactions", "tests/jobs/test_kill.py", "commits_in_parts and sqlite"
    ),
    SelfTest("no sync at a commit", _POWER, "without_a_sync and normal"),
    SelfTest("no sync at all", _POWER, "without_a_sync and off"),
    SelfTest("reordered tiers", "tests/decisions/test_loading.py", "swapped"),
    Bug(
        "dropped fence",
        "adapters/sql/queries/common/jobs.sql",
        "WHERE owner = :owner AND id = :id AND fence = :fence AND status = 'running';",
        "WHERE owner = :owner AND id = :id AND fence >= :fence AND status = 'running';",
        "tests/jobs/test_store.py tests/sessions/test_summaries.py",
    ),
    Bug(
        "an event outside of the transaction",
        "adapters/sql/scope.py",
        "            if collector.drafts:\n"
        "                SqlEventStore(tx).record(collector.drafts, consumers, self._outbox.clock())\n"
        "            return result\n\n"
        "        result = await self._database.write(self.owner, run, heavy=heavy)\n",
        "            return result\n\n"
        "        result = await self._database.write(self.owner, run, heavy=heavy)\n"
        "        if found := collector.drafts:\n"
        "            now = self._outbox.clock()\n"
        "            await self._database.write(\n"
        "                self.owner, lambda tx: SqlEventStore(tx).record(found, consumers, now)\n"
        "            )\n",
        "tests/events/test_recording.py",
    ),
    Bug(
        "missing owner filter",
        "adapters/sql/queries/common/companion.sql",
        "FROM memories\nWHERE owner = :owner AND id = :id;\n\n-- name: get_memory_position",
        "FROM memories\nWHERE (owner = :owner OR owner <> '') AND id = :id;\n\n-- name: get_memory_position",
        "tests/companion/test_store.py",
    ),
    Bug(
        "a seal that is not bound to its owner",
        "vault/sealing.py",
        "return self._owner + _column(table, column)",
        "return _column(table, column)",
        "tests/vault/test_sealing.py",
    ),
    Bug(
        "a seal that is not bound to its row",
        "vault/sealing.py",
        '+ length_prefixed(row) + version.to_bytes(8, "big")',
        '+ version.to_bytes(8, "big")',
        "tests/vault/test_sealing.py",
    ),
    Bug(
        "a repeated request is carried out again",
        "app/cycles.py",
        "        if (stored := await _stored(cycles, request)) is not None:",
        "        if (stored := None) is not None:",
        "tests/requests/test_idempotency.py",
    ),
    Bug(
        "a concurrent change is overwritten",
        "memory/chains.py",
        "    if expected is not None and expected != head.latest:",
        "    if expected is not None and expected > head.latest:",
        "tests/decisions/test_chains.py tests/decisions/test_saving.py",
    ),
    Bug(
        "a fact that nobody said",
        "memory/canon/grounding.py",
        "        if find_quote(message.text, observation.quote):\n            own",
        "        if observation.quote:\n            own",
        "tests/canon/test_quotes.py tests/canon/test_turns.py",
    ),
    Bug(
        "an appointment that never passes",
        "memory/canon/validity.py",
        "return draft.until is not None and draft.until < today",
        "return False",
        "tests/canon/test_validity.py",
    ),
    Bug(
        "the most important memory is archived",
        "memory/companion/rules.py",
        "candidates.sort(key=lambda key: (key.importance, key.created), reverse=True)",
        "candidates.sort(key=lambda key: (key.importance, key.created))",
        "tests/companion/test_active_limit.py",
    ),
    Bug(
        "stored text that forges a line of the prompt",
        "text/escaping.py",
        '    return "".join(_escape(char, _MARKS + marks) for char in text)',
        "    return text",
        "tests/text/test_escaping.py",
    ),
    Bug(
        "an expired token",
        "app/tokens.py",
        "        if not found.is_valid(self._clock()):",
        "        if not found.id:",
        "tests/tokens/test_tokens.py",
    ),
    Bug(
        "a memory of small talk",
        "memory/companion/steps/summarize.py",
        'if metadata.small_talk == "skip" and is_only_small_talk(messages):',
        'if metadata.small_talk == "never" and is_only_small_talk(messages):',
        "tests/sessions/test_small_talk.py",
    ),
)


def main(names: Sequence[str]) -> int:
    """Plant the bugs, all or the named ones. Returns 1 if one was not caught."""
    chosen = [bug for bug in BUGS if not names or bug.name in names]
    print("| bug | caught by | |\n|---|---|---|")
    missed = 0
    for bug in chosen:
        if isinstance(bug, SelfTest):
            is_caught = _pytest([bug.tests, "-k", bug.chosen], str(ROOT / "src")) == 0
        else:
            is_caught = fails_with(bug)
        missed += not is_caught
        print(f"| {bug.name} | `{bug.tests}` | {'yes' if is_caught else '**no**'} |", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs were caught")
    return 1 if missed or not chosen else 0


def fails_with(bug: Bug) -> bool:
    """Whether the tests fail on a copy of the source with the bug, and only because of it."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "gieok"
        shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        _replace(copied / bug.file, bug)
        return _pytest(bug.tests.split(), folder) == 1


def _replace(file: Path, bug: Bug) -> None:
    text = file.read_text("utf-8")
    if text.count(bug.good) != 1:
        raise ValueError(f"{bug.name}: {bug.file} must contain its text once; bring the bug up to date")
    file.write_text(text.replace(bug.good, bug.bad), "utf-8")


def _pytest(tests: Sequence[str], source: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environ = os.environ | {"PYTHONPATH": source}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
