"""Transactions of one owner that lock the same rows in different orders: none of them fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg

from gieok import Gieok, Settings
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.driver.postgres.database import PostgresDatabase
from gieok.app.background.worker import Worker
from gieok.errors import Conflict, NotFound, cause_of
from gieok.memory.canon.records import PersonaDraft
from gieok.testing.settings import settings_for
from tests.postgres import Postgres

ROUNDS = 3
EXPECTED = (NotFound, Conflict)
"""What a call may answer when its persona is deleted meanwhile."""


async def test_a_transaction_that_ends_in_a_deadlock_is_repeated(postgres: Postgres) -> None:
    """Each of two locks one row, waits for the other to lock the second row, and then wants that one too."""
    database = PostgresDatabase(postgres.new_database())
    both_hold_one = threading.Barrier(2)
    runs: list[int] = []

    def lock_both(first: int, second: int) -> Callable[[Tx], None]:
        is_first_run = True

        def work(tx: Tx) -> None:
            nonlocal is_first_run
            runs.append(first)
            _touch(tx, first)
            if is_first_run:
                is_first_run = False
                both_hold_one.wait(10)
            _touch(tx, second)

        return work

    try:
        await database.write("ana", lambda tx: tx.run("add_owner", key_generation=1, created_at="2026-01-01"))
        await asyncio.gather(
            database.write("ana", lock_both(1, 2)),
            database.write("ana", lock_both(2, 1)),
        )
        days = await database.read("ana", lambda tx: tx.all("list_usage", since="2026-01-01"))
    finally:
        await database.close()
    assert len(runs) == 3
    assert [row[1] for row in days] == [2, 2]


def _touch(tx: Tx, day: int) -> None:
    """Lock the row of a day by counting one call."""
    tx.run("add_usage", day=f"2026-01-0{day}", calls=1, input_tokens=0, output_tokens=0)


async def test_a_deletion_of_a_persona_locks_its_sessions_first(postgres: Postgres, tmp_path: Path) -> None:
    """As turns do: while it waits for a turn, it holds nothing that the turn locks next."""
    url = postgres.new_database()
    settings = settings_for(url, tmp_path / "root.key")
    async with await Gieok.open(settings, background=False) as gieok:
        user = gieok.user("ana")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await user.chat.send("hana", "나는 부산에 살아", plan="chat_turn_whole")
        admin = postgres.admin_url(url.rsplit("/", 1)[1])
        with psycopg.connect(admin, options="-c search_path=gieok") as turn:
            turn.execute("SELECT 1 FROM sessions FOR UPDATE")
            deleting = asyncio.create_task(user.personas.delete("hana"))
            await _until_somebody_waits(admin)
            for table in ("persona_memory_configs", "fact_revisions", "fact_heads"):
                rows = turn.execute(f"SELECT 1 FROM {table} FOR UPDATE NOWAIT".encode()).fetchall()
                assert rows, table
        await deleting


async def _until_somebody_waits(url: str) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as connection:
        async with asyncio.timeout(60):
            while connection.execute(waiting).fetchall() == [(0,)]:  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.01)


async def test_turns_jobs_and_deletions_of_one_persona_do_not_fail_each_other(settings: Settings) -> None:
    """They lock the persona, its sessions, its memories and the day's usage."""
    failures: list[BaseException] = []
    async with await Gieok.open(settings, background=False) as gieok:
        user, worker = gieok.user("ana"), Worker(gieok)

        async def run_jobs() -> None:
            for _ in range(4):
                await worker.run_once(gieok.engine.clock())

        for number in range(ROUNDS):
            persona = f"hana-{number}"
            await user.personas.create(PersonaDraft(name="하나"), persona_id=persona)
            for plan in ("chat_turn", "chat_turn_whole"):
                await user.chat.send(persona, "내일 면접이 있어", new_session=True, plan=plan)
            results = await asyncio.gather(
                *(
                    user.chat.send(persona, f"{each}번째 이야기", new_session=True, plan=plan)
                    for each in range(3)
                    for plan in ("chat_turn", "chat_turn_whole")
                ),
                run_jobs(),
                user.personas.delete(persona),
                return_exceptions=True,
            )
            failures += [each for each in results if isinstance(each, BaseException)]
        jobs = await gieok.jobs(status="queued")
    assert [each for each in failures if not isinstance(cause_of(each), EXPECTED)] == []
    assert [job.error for job in jobs.jobs if job.error == "STORE_UNAVAILABLE"] == []
