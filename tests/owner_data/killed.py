"""A program that imports a stream and is killed after everything is written and before the commit.

python -m tests.owner_data.killed DATABASE_URL KEY_FILE STREAM
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from gieok import Gieok
from gieok.testing.settings import settings_for
from tests.owner_data.world import pieces


def _die_at_the_end(done: int, there_is: int) -> None:
    if done == there_is:
        print(f"{done} of {there_is}", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


async def _main(url: str, key_file: str, stream: bytes) -> None:
    async with await Gieok.open(settings_for(url, Path(key_file))) as gieok:
        await gieok.user("minsu").data.import_(pieces(stream), report=_die_at_the_end)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes()))
