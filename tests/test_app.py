"""The facade: sessions and their plans, owners and their keys."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from gieok import ExecutionPlan, Gieok, Persona, Settings
from gieok.adapters.sql.lifecycle.owners import ERASE_QUERIES, finish_erasures
from gieok.engine import make_plan
from gieok.errors import NotFound, OwnerErased, PlanHashMismatch, PlanInvalid, RootKeyUnsafe
from gieok.plans import load_plan, read_plan
from gieok.testing.clock import Clock
from gieok.testing.contracts.turns import item, save, search
from gieok.testing.settings import settings_for
from tests.behind import Behind
from tests.turns.run_turn import run_turn

HANA = Persona(name="Hana", language="en", system_prompt="You are Hana.")


def other_plan() -> ExecutionPlan:
    """The shipped plan with another topK."""
    document = json.loads(read_plan("turn_memory").replace('"topK": 5', '"topK": 3'))
    return make_plan(document)


async def test_a_database_in_the_home_folder_may_have_its_key_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`~/gieok.db` with `~/.config/gieok/root.key` is what a new user may well choose, and it is safe."""
    monkeypatch.setenv("HOME", str(tmp_path))
    key_file = tmp_path / ".config" / "gieok" / "root.key"
    async with await Gieok.open(settings_for(f"sqlite:///{tmp_path}/gieok.db", key_file)):
        assert key_file.exists()
    with pytest.raises(RootKeyUnsafe, match="inside the data folder"):
        await Gieok.open(settings_for(f"sqlite:///{tmp_path}/.config/gieok.db", key_file))


@pytest.mark.req("ENG-9")
async def test_a_session_remembers_the_plan_it_ran(settings: Settings) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        await run_turn(user, "s1", "Hello there", persona=HANA)
        started = clock.now
        clock.advance(minutes=5)
        await run_turn(user, "s1", "I moved to Busan", persona=HANA)
        session = (await user.sessions.get("s1")).session
        assert session.last_execution_plan_hash == load_plan("turn_memory").hash
        assert (session.started_at, session.last_activity_at) == (started, started + timedelta(minutes=5))
        assert (session.ended_at, session.message_count) == (None, 0)


@pytest.mark.req("ENG-9", "ENG-8")
async def test_another_plan_fails_fast_and_changes_nothing(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await run_turn(user, "s1", "I have an interview tomorrow", persona=HANA)
    before = (await user.sessions.get("s1")).session
    for attempt in (
        run_turn(user, "s1", "the interview went well", persona=HANA, plan=other_plan()),
        user.sessions.resume("s1", other_plan()),
    ):
        with pytest.raises(PlanHashMismatch) as mismatch:
            await attempt
        assert mismatch.value.expected == load_plan("turn_memory").hash
        assert mismatch.value.actual == other_plan().hash
        assert mismatch.value.expected in str(mismatch.value)
        assert mismatch.value.actual in str(mismatch.value)
    assert (await user.sessions.get("s1")).session == before
    assert len((await run_turn(user, "s1", "interview", persona=HANA)).recalled) == 1


@pytest.mark.req("ENG-9")
async def test_a_session_moves_to_another_plan_only_on_purpose_and_audited(settings: Settings) -> None:
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        await run_turn(user, "s1", "I have an interview tomorrow", persona=HANA)
        moved = await user.sessions.move("s1", other_plan())
        assert (moved.from_hash, moved.to_hash) == (load_plan("turn_memory").hash, other_plan().hash)
        assert moved.moved_at == clock.now
        assert await user.sessions.moves("s1") == [moved]
        assert (await user.sessions.resume("s1", other_plan())).last_execution_plan_hash == other_plan().hash
        result = await run_turn(user, "s1", "the interview went well", persona=HANA, plan=other_plan())
        assert len(result.recalled) == 1
        with pytest.raises(PlanHashMismatch):
            await run_turn(user, "s1", "again", persona=HANA)


async def test_a_session_that_never_ran_is_not_found(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    for attempt in (user.sessions.get("s1"), user.sessions.resume("s1", "turn_memory")):
        with pytest.raises(NotFound):
            await attempt
    await run_turn(gieok.user("other"), "s1", "Hello", persona=HANA)
    with pytest.raises(NotFound):
        await user.sessions.get("s1")


async def test_a_plan_that_cannot_run_is_refused_before_anything_runs(gieok: Gieok) -> None:
    document = json.loads(read_plan("turn_memory"))
    document["steps"][1]["type"] = "Nonsense"
    with pytest.raises(PlanInvalid, match=r"steps\[1\]\.type"):
        await run_turn(gieok.user("minsu"), "s1", "Hello", persona=HANA, plan=make_plan(document))


@pytest.mark.req("OPS-2")
async def test_a_new_data_key_reseals_everything(gieok: Gieok) -> None:
    """The old seals are gone from the rows, everything is still found, and the old key is destroyed."""
    scope = gieok.scope("minsu")
    await save(scope, *(item("interview", minute=minute) for minute in range(7)))
    before = await search(scope, "interview")
    old_keys = gieok.vault.keys("minsu")
    assert await gieok.user("minsu").rotate_key() == 7
    assert await search(scope, "interview") == before
    assert gieok.vault.keys("minsu").generation == old_keys.generation + 1
    assert gieok.vault.status().keys == 2
    await save(scope, item("interview", minute=9))
    assert len(await search(scope, "interview")) == 8


async def test_another_process_follows_a_new_data_key(settings: Settings) -> None:
    """Two open Gieoks on one database: one rotates, the other goes on reading and writing."""
    async with await Gieok.open(settings) as one, await Gieok.open(settings) as other:
        here, there = (each.scope("minsu") for each in (one, other))
        await save(there, item("interview"))
        await save(here, item("interview", minute=1))
        await one.user("minsu").rotate_key()
        assert len(await search(there, "interview")) == 2
        await save(there, item("interview", minute=2))
        assert len(await search(here, "interview")) == 3


@pytest.mark.req("OPS-4")
async def test_erasing_an_owner_leaves_the_others_whole(settings: Settings) -> None:
    async with await Gieok.open(settings) as gieok, await Gieok.open(settings) as other_process:
        minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
        for user in (minsu, jiyoung, other_process.user("minsu")):
            await run_turn(user, "s1", "I have an interview tomorrow", persona=HANA)
        await minsu.sessions.move("s1", other_plan())
        erased = (await minsu.data.erase()).erased
        assert erased["turn_memories"] == 2
        assert erased["sessions"] == erased["session_plan_moves"] == 1
        for user in (minsu, other_process.user("minsu")):
            with pytest.raises(OwnerErased):
                await run_turn(user, "s1", "Hello again", persona=HANA)
        assert len((await run_turn(jiyoung, "s1", "the interview", persona=HANA)).recalled) == 1


async def test_a_stopped_erasure_is_finished_on_the_next_start(settings: Settings, behind: Behind) -> None:
    async with await Gieok.open(settings) as gieok:
        await run_turn(gieok.user("minsu"), "s1", "I have an interview tomorrow", persona=HANA)
        gieok.vault.begin_erasure("minsu")
    async with await Gieok.open(settings) as gieok:
        assert gieok.vault.unfinished_erasures() == []
        assert await finish_erasures(gieok.database, gieok.vault) == []
    assert {table: behind.count(table) for table in (*ERASE_QUERIES, "owners")} == dict.fromkeys(
        (*ERASE_QUERIES, "owners"), 0
    )


def test_every_table_with_an_owner_is_erased(gieok: Gieok, behind: Behind) -> None:
    """A new table that erasure does not know of fails here."""
    if gieok.database.dialect == "sqlite":
        sql = (
            "SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c "
            "WHERE t.type = 'table' AND c.name = 'owner'"
        )
    else:
        sql = (
            "SELECT table_name FROM information_schema.columns "
            "WHERE column_name = 'owner' AND table_schema = 'gieok'"
        )
    assert {row[0] for row in behind.run(sql)} == {*ERASE_QUERIES, "owners"}
