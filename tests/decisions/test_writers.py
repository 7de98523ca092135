"""16 concurrent writers of one decision: one active version, no gaps, no duplicates, correct results.

Each appends 20 versions, or 200 with `GIEOK_SOAK=1`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gieok import Gieok, Settings
from gieok.app.decisions import Decisions
from gieok.memory.decisions.records import Decision, DecisionProposal
from tests.behind import Behind
from tests.decisions.append_versions import SavedVersion, append_versions

WRITERS = 16
VERSIONS = 200 if os.environ.get("GIEOK_SOAK") else 20
FIRST = DecisionProposal(statement="first", strength="lock", scope="global")
ROOT = Path(__file__).parents[2]


async def chain(decisions: Decisions, first: Decision) -> list[Decision]:
    """The whole history, read page by page."""
    found: list[Decision] = []
    while page := await decisions.history(first.root_id, after=len(found), limit=1_000):
        found += page
    return found


async def check(
    decisions: Decisions, first: Decision, returned: Iterable[SavedVersion], behind: Behind
) -> None:
    """Check that the chain is complete and equals what the writers were returned."""
    kept = await chain(decisions, first)
    assert [version.version for version in kept] == list(range(1, WRITERS * VERSIONS + 2))
    assert [version.version for version in kept if version.is_active] == [len(kept)]
    assert sorted((version.version, str(version.id), version.statement) for version in kept[1:]) == sorted(
        returned
    )
    assert (await decisions.list()).decisions == (kept[-1],)
    assert await decisions.get(first.root_id) == kept[-1]
    assert (behind.count("chain_heads"), behind.count("decision_heads")) == (1, 1)


@pytest.mark.timeout(600)
@pytest.mark.req("DEC-4")
async def test_sixteen_threads_append_to_one_chain(gieok: Gieok, behind: Behind) -> None:
    decisions = gieok.user("minsu").decisions
    first = await decisions.save(FIRST)

    barrier = threading.Barrier(WRITERS, timeout=60)

    def run_writer(writer: int) -> list[SavedVersion]:
        barrier.wait()
        return asyncio.run(append_versions(decisions, first.root_id, writer, VERSIONS))

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(WRITERS) as threads:
        returned = await asyncio.gather(
            *(loop.run_in_executor(threads, run_writer, writer) for writer in range(WRITERS))
        )
    await check(decisions, first, [each for one in returned for each in one], behind)


@pytest.mark.timeout(600)
@pytest.mark.req("DEC-4")
async def test_two_processes_append_to_one_chain(settings: Settings, behind: Behind) -> None:
    async with await Gieok.open(settings) as gieok:
        decisions = gieok.user("minsu").decisions
        first = await decisions.save(FIRST)
        processes = [_start(settings, first, number) for number in (0, WRITERS // 2)]
        for process in processes:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
        outputs = await asyncio.gather(
            *(asyncio.to_thread(process.communicate, "go\n") for process in processes)
        )
        assert [process.returncode for process in processes] == [0, 0]
        returned = [
            (version, version_id, statement)
            for output, _ in outputs
            for version, version_id, statement in json.loads(output)
        ]
        await check(decisions, first, returned, behind)


def _start(settings: Settings, first: Decision, writer: int) -> subprocess.Popen[str]:
    numbers = [str(number) for number in (writer, WRITERS // 2, VERSIONS)]
    arguments = [settings.database_url, str(settings.own_key_file), str(first.root_id), *numbers]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.decisions.append_versions", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
