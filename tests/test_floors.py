"""The floors that users were promised, held as ratios: a machine says how fast it is by a bare transaction.

Load within 500 ms, save within 1 s, a summary within 5 s. On a machine where one row is durable after a few
milliseconds, the bounds here are far below those times, and they do not fail for a machine that is busy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from gieok import Gieok, MemoryDraft, PersonaDraft
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.settings import settings_for

ROUNDS = 5


async def seconds(work: Callable[[], Awaitable[object]]) -> float:
    """The median over some rounds."""
    took: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        await work()
        took.append(perf_counter() - started)
    return median(took)


def one_row(connection: sqlite3.Connection) -> Callable[[], Awaitable[None]]:
    """A bare transaction of one row that is on disk when it returns."""
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE bare (text)")

    async def insert() -> None:
        connection.execute("INSERT INTO bare VALUES (?)", ("가" * 300,))

    return insert


@pytest.mark.req("OPS-1")
async def test_loading_saving_and_summarising_stay_far_below_their_floors(tmp_path: Path) -> None:
    settings = settings_for(f"sqlite:///{tmp_path}/data/gieok.db", tmp_path / "root.key")
    async with await Gieok.open(settings) as gieok:
        user = gieok.user("minsu")
        persona = await user.personas.create(PersonaDraft(name="하루", language="ko"))
        draft = MemoryDraft(persona_id=persona.id, summary="사용자가 면접을 보았다고 함.", topics=("면접",))

        async def summarise() -> None:
            session = await user.sessions.start(persona.id, plan="chat_turn")
            said = [
                ChatMessage(
                    id=str(number),
                    role="user",
                    content=f"오늘은 {number}번째 면접을 봤는데 정말 떨렸어",
                    timestamp=gieok.engine.clock(),
                )
                for number in range(20)
            ]
            await user.sessions.save_messages(session.session_ref, said)
            await user.sessions.close(session.session_ref, wait=True)

        with closing(sqlite3.connect(tmp_path / "bare.db", isolation_level=None)) as connection:
            bare = await seconds(one_row(connection))
        assert await seconds(lambda: user.companion.create(draft, account_plan="premium")) < 50 * bare
        assert await seconds(lambda: user.companion.load(persona.id)) < 25 * bare
        assert await seconds(summarise) < 250 * bare
