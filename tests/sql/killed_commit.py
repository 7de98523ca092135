"""A program that is killed in the middle of a large commit on SQLite.

python -m tests.sql.killed_commit DATABASE METHOD CALLS: killed before the given call of a step of the commit.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gieok.adapters.sql.driver import sqlite, sqlite_copy
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.driver.sqlite_staging import StagedCommit

ENTRIES = 20


def add_entries(tx: Tx) -> None:
    """Entries of the audit trail: as many rows as a test can count."""
    for number in range(ENTRIES):
        tx.run(
            "add_audit_entry",
            id=bytes([number]) * 16,
            at=1,
            action="token.created",
            subject=None,
            number=None,
            hash=None,
        )


def _killing(step: Callable[..., Any], calls: int) -> Callable[..., Any]:
    done = 0

    def run(*args: Any, **named: Any) -> Any:
        nonlocal done
        if done == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        return step(*args, **named)

    return run


async def _main(path: Path, method: str, calls: int) -> None:
    sqlite_copy.PART_BYTES = 1
    if method == "advance":
        sqlite.advance = _killing(sqlite.advance, calls)
    else:
        setattr(StagedCommit, method, _killing(getattr(StagedCommit, method), calls))
    await sqlite.SqliteDatabase(path).write("ana", add_entries, heavy=True)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
