"""The long proofs: `make soak` repeats tests in batches until each has reached its number of trials.

The counts are stored after each batch, in `.soak/counts.json`, so that an interrupted run continues where it
was. Every test here also runs in `make test`, with few trials. Name proofs to run only those:
`python -m tests.soak "power losses"`. A failed batch stops the run; its output names the seed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

STORED_COUNTS = Path(".soak/counts.json")
_TRIALS = "GIEOK_TRIALS_FILE"
BOTH = ("sqlite", "postgres")


def count(name: str, trials: int, database: str) -> None:
    """Report trials of a proof that were successful, if this is a long run."""
    if file := os.environ.get(_TRIALS):
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([name, database, trials]) + "\n")


@dataclass(frozen=True)
class Proof:
    """A test that is repeated until it has counted `goal` trials on each database."""

    name: str
    goal: int
    file: str
    test: str
    """A part of its name."""
    rounds: int
    """`GIEOK_CRASH_ROUNDS` of a batch."""
    databases: Sequence[str] = BOTH


PROOFS = (
    Proof("kills between a turn and its remembering", 200, "crash/test_kill.py", "remembered_once", 20),
    Proof("kills of a writing process", 1_000, "crash/test_kill.py", "all_or_nothing", 10),
    Proof("kills of workers", 200, "jobs/test_kill.py", "every_session", 10),
    Proof("kills of the service", 1_000, "service/test_kill_server.py", "loses_no", 20),
    Proof("power losses", 10_000, "crash/test_power_cut.py", "survive", 100, ("sqlite",)),
    Proof("crashes of PostgreSQL", 100, "crash/test_server_death.py", "a_crash", 50, ("postgres",)),
    Proof("PostgreSQL terminated", 300, "crash/test_server_death.py", "terminated", 50, ("postgres",)),
    Proof("PostgreSQL paused", 300, "crash/test_server_death.py", "paused", 50, ("postgres",)),
    Proof("turns on a full disk", 1_000, "crash/test_power_cut.py", "full_disk", 100, ("sqlite",)),
    Proof("interrupted withdrawals and replies", 200, "crash/test_withdrawals.py", "whole_or_not", 80),
    Proof("clock jumps", 1_000, "crash/test_kill.py", "clock_jumps", 50),
)


def main(names: Sequence[str]) -> int:
    """Run the proofs, all or the named ones. Returns the exit code."""
    unknown = set(names) - {proof.name for proof in PROOFS}
    if unknown:
        print(f"no such proof: {', '.join(sorted(unknown))}. There are: {', '.join(p.name for p in PROOFS)}")
        return 2
    counts = Counter({tuple(key.split(", ")): n for key, n in _stored().items()})
    for proof in PROOFS:
        for database in proof.databases if not names or proof.name in names else ():
            while counts[proof.name, database] < proof.goal:
                trials, output = _batch(proof, database)
                if not trials:
                    print(output)
                    print(f"FAILED: {proof.name} on {database}")
                    return 1
                counts[proof.name, database] += trials
                _store({", ".join(key): n for key, n in counts.items()})
                done = f"{counts[proof.name, database]:,} of {proof.goal:,}"
                print(f"{time.strftime('%H:%M:%S')} {proof.name}, {database}: {done}", flush=True)
    print("\n".join(table(counts)))
    return 0


def table(counts: Counter[tuple[str, ...]]) -> Iterator[str]:
    """The counts that were reached, as a table in Markdown."""
    yield "| proof | database | trials without a violation | goal |"
    yield "|---|---|---:|---:|"
    for proof in PROOFS:
        for database in proof.databases:
            yield f"| {proof.name} | {database} | {counts[proof.name, database]:,} | {proof.goal:,} |"


def _batch(proof: Proof, database: str) -> tuple[int, str]:
    """The trials that a batch has counted, 0 if it failed, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        trials = Path(folder) / "trials"
        trials.touch()
        environ = os.environ | {
            _TRIALS: str(trials),
            "GIEOK_CRASH_ROUNDS": str(proof.rounds),
            "GIEOK_SOAK": "1",
        }
        tests = f"{proof.test} and {database}" if len(proof.databases) > 1 else proof.test
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += [f"tests/{proof.file}", "-k", tests]
        ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in trials.read_text("utf-8").splitlines()]
    counted = sum(n for name, on, n in lines if (name, on) == (proof.name, database))
    return (counted if ran.returncode == 0 else 0), ran.stdout + ran.stderr


def _stored() -> dict[str, int]:
    return json.loads(STORED_COUNTS.read_text("utf-8")) if STORED_COUNTS.exists() else {}


def _store(counts: dict[str, int]) -> None:
    """Replace the file at once, so that a run that is stopped keeps the last counts."""
    STORED_COUNTS.parent.mkdir(exist_ok=True)
    new = STORED_COUNTS.with_suffix(".new")
    new.write_text(json.dumps(counts, indent=1), "utf-8")
    new.replace(STORED_COUNTS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
