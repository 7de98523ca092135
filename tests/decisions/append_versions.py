"""Append versions to one decision and return what was saved. Also runs as a program with several writers.

python -m tests.decisions.append_versions DATABASE_URL KEY_FILE ROOT_ID FIRST_WRITER WRITERS VERSIONS
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

SavedVersion = tuple[int, str, str]
"""Version number, id and statement, as `save` returned them."""


async def append_versions(
    decisions: Decisions, root_id: UUID, writer: int, versions: int
) -> list[SavedVersion]:
    """Append versions. Odd writers pass the version that they have read, and retry on a conflict."""
    saved_versions: list[SavedVersion] = []
    for number in range(versions):
        proposal = DecisionProposal(
            statement=f"{writer}.{number}", strength="lock", scope="global", root_id=root_id
        )
        while True:
            expected = (await decisions.get(root_id)).version if writer % 2 else None
            try:
                saved = await decisions.save(proposal, expected_version=expected)
            except Conflict:
                continue
            saved_versions.append((saved.version, str(saved.id), saved.statement))
            break
    return saved_versions


async def _main(url: str, key_file: str, root_id: str, *numbers: str) -> None:
    first, writers, versions = map(int, numbers)
    async with await Gieok.open(settings_for(url, Path(key_file))) as gieok:
        decisions = gieok.user("minsu").decisions
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        saved_versions = await asyncio.gather(
            *(
                append_versions(decisions, UUID(root_id), first + writer, versions)
                for writer in range(writers)
            )
        )
    print(json.dumps([each for one in saved_versions for each in one]))


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
