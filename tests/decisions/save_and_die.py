"""A program that saves a decision, prints its id and kills itself before it closes anything.

python -m tests.decisions.save_and_die DATABASE_URL KEY_FILE STATEMENT
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from gieok import Gieok
from gieok.memory.decisions.records import DecisionProposal
from gieok.testing.settings import settings_for


async def _main(url: str, key_file: str, statement: str) -> None:
    async with await Gieok.open(settings_for(url, Path(key_file))) as gieok:
        proposal = DecisionProposal(statement=statement, strength="axis", scope="global")
        saved = await gieok.user("minsu").decisions.save(proposal)
        print(saved.root_id, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
