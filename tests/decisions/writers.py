"""Writers of one decision: each appends versions and remembers what it was told. Also a program of its own.

python -m tests.decisions.writers DATABASE_URL KEY_FILE ROOT_ID FIRST_WRITER WRITERS VERSIONS
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from uuid import UUID

from gieok import Gieok
from gieok.app.decisions import Decisions
from gieok.errors import Conflict
from gieok.memory.decisions.records import DecisionProposal
from gieok.testing.settings import settings_for

Told = tuple[int, str, str]
"""The version, its id and its statement, as the writer was told."""


async def write(decisions: Decisions, root_id: UUID, writer: int, versions: int) -> list[Told]:
    """Append versions. Odd writers insist on the version that they have seen, and try again on a conflict."""
    told: list[Told] = []
    for number in range(versions):
        proposal = DecisionProposal(
            statement=f"{writer}.{number}", strength="lock", scope="global", root_id=root_id
        )
        while True:
            seen = (await decisions.get(root_id)).version if writer % 2 else None
            try:
                saved = await decisions.save(proposal, expected_version=seen)
            except Conflict:
                continue
            told.append((saved.version, str(saved.id), saved.statement))
            break
    return told


async def _main(url: str, key_file: str, root_id: str, *numbers: str) -> None:
    first, writers, versions = map(int, numbers)
    async with await Gieok.open(settings_for(url, Path(key_file))) as gieok:
        decisions = gieok.user("minsu").decisions
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        told = await asyncio.gather(
            *(write(decisions, UUID(root_id), first + writer, versions) for writer in range(writers))
        )
    print(json.dumps([each for one in told for each in one]))


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
