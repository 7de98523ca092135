"""Retention: what is too old is deleted in the background, and everything else stays consistent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.lifecycle import retention
from gieok.app.background.worker import Worker
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.requests import RequestKey
from gieok.settings import RetentionSettings
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.owner_data.world import export, fill, pieces
from tests.sessions.conversation import said

OWNER = "mina"
ALL = RetentionSettings(30, 7, 90, 60, 180)
MINA = PersonaDraft(name="미나", language="ko", system_prompt="너는 미나야.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def kept(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    changed = replace(settings, retention=ALL)
    async with await Gieok.open(changed, clock=clock) as opened:
        yield opened


async def work(gieok: Gieok, clock: Clock) -> None:
    """Let a worker do everything that is due, and visit all owners after that."""
    worker = Worker(gieok)
    while await worker.run_once(clock()):
        pass
    clock.advance(hours=7)
    await worker.run_once(clock())


async def test_content_is_kept_by_default(settings: Settings, clock: Clock, behind: Behind) -> None:
    async with await Gieok.open(settings, clock=clock) as gieok:
        await fill(gieok.user(OWNER))
        await work(gieok, clock)
        clock.advance(days=10)
        await work(gieok, clock)
        tables = ("messages", "memories", "turn_memories", "chain_versions", "audit_entries")
        before = [behind.count(table) for table in tables]
        clock.advance(days=3000)  # less than the time to live of a document
        await work(gieok, clock)
        assert [behind.count(table) for table in tables] == before
        assert behind.run("SELECT count(*) FROM jobs WHERE created_at < 1800000000000000") == [(0,)]


async def test_each_kind_has_its_own_time(kept: Gieok, clock: Clock, behind: Behind) -> None:
    user = kept.user(OWNER)
    await user.personas.create(MINA, persona_id="mina")
    await user.chat.send("mina", "내일 면접이 있어", session_ref="s1", wait_memory=True)
    await user.sessions.close("s1", wait=True)
    await kept.tokens.create(OWNER)
    key = RequestKey(key="k", body=b"x")
    await kept.scope(OWNER).write(
        lambda view: view.requests.save_result(key, "1", now=clock(), until=clock() + timedelta(hours=24))
    )
    await work(kept, clock)
    counts: dict[int, tuple[int, ...]] = {}
    tables = ("requests", "jobs", "usage_days", "audit_entries", "messages")
    for day in (0, 2, 31, 61, 91, 181):
        clock.now = Clock().now + timedelta(days=day, hours=1)
        await work(kept, clock)
        counts[day] = tuple(behind.count(table) for table in tables)
    requests, jobs, usage, audit, messages = zip(*counts.values(), strict=True)
    assert requests == (1, 0, 0, 0, 0, 0)
    assert jobs[1] > 0 == jobs[2]
    assert usage[2] > 0 == usage[3]
    assert messages[4] == 2
    assert messages[5] == 0
    assert audit[0] > 0
    actions = behind.run("SELECT action FROM audit_entries ORDER BY number")
    assert actions == [("audit.trimmed",)], "a checkpoint stays, and only one"
    assert await user.audit.verify() == 1
    assert (await kept.check_integrity()).damage == ()


async def test_watches_end_sooner_than_other_jobs(kept: Gieok, clock: Clock, behind: Behind) -> None:
    user = kept.user(OWNER)
    await user.personas.create(MINA, persona_id="mina")
    await user.sessions.start("mina", plan="chat_turn", session_ref="s1")
    await user.sessions.save_messages("s1", said(1, 4))
    clock.advance(days=1)
    await work(kept, clock)
    kinds = "SELECT DISTINCT kind FROM jobs ORDER BY kind"
    assert ("watch",) in behind.run(kinds)
    clock.advance(days=8)
    await work(kept, clock)
    assert ("watch",) not in behind.run(kinds)
    assert behind.run(kinds)


async def test_a_session_without_its_messages_stays(kept: Gieok, clock: Clock) -> None:
    """The fact says that its source is gone; the session can be read, exported and imported."""
    user = kept.user(OWNER)
    await user.personas.create(MINA, persona_id="mina")
    await user.chat.send("mina", "나는 부산에 살아", session_ref="s1", wait_memory=True)
    (fact,) = await user.canon.facts("mina")
    assert fact.source is not None
    assert not fact.source.is_deleted
    clock.advance(days=200)
    await work(kept, clock)
    (fact,) = await user.canon.facts("mina")
    assert fact.source is not None
    assert fact.source.is_deleted
    state = await user.canon.state("mina")
    assert [each.source and each.source.is_deleted for each in (*state.facts, *state.others)] == [True]
    stored = await user.sessions.get("s1")
    assert stored.session.message_count == 2
    assert list(stored.messages) == []
    assert (await kept.check_integrity()).damage == ()
    copy = await export(user)
    await kept.user("copy").data.import_(pieces(copy))
    assert (await kept.user("copy").sessions.get("s1")).messages == stored.messages
    again = await user.data.import_(pieces(copy))
    assert not again.counts.get("message")
    assert (await kept.check_integrity()).damage == ()


async def test_an_older_export_is_imported_over_deleted_messages(kept: Gieok, clock: Clock) -> None:
    user = kept.user(OWNER)
    await fill(user)
    await work(kept, clock)
    copy = await export(user)
    clock.advance(days=200)
    await work(kept, clock)
    await user.data.import_(pieces(copy))
    assert (await kept.check_integrity()).damage == ()


async def test_one_transaction_deletes_a_bounded_number(
    kept: Gieok, clock: Clock, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 5)
    user = kept.user(OWNER)
    await user.personas.create(MINA, persona_id="mina")
    await user.sessions.start("mina", plan="chat_turn_without_summaries", session_ref="s1")
    await user.sessions.save_messages("s1", said(1, 23))
    for _ in range(12):
        await kept.tokens.create(OWNER)
    await work(kept, clock)
    behind.run("DELETE FROM jobs")
    now = clock.advance(days=200)
    deleted: list[int] = []
    while count := await kept.scope(OWNER).write(lambda view: retention.delete_old(view, ALL, now)):
        deleted.append(count)
        assert (await user.audit.verify()) >= 0
        assert (await kept.check_integrity()).damage == ()
    assert max(deleted) <= 4 * 5
    assert len(deleted) >= 3
    assert behind.count("messages") == 0


async def test_one_process_visits_all_owners_in_an_interval(
    kept: Gieok, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[str] = []

    async def visit(_run: object, owner: str, _now: object) -> int:
        visited.append(owner)
        return 0

    monkeypatch.setattr(retention.RetentionRun, "_visit", visit)
    for number in range(45):
        await kept.user(f"user-{number:02}").profile.set(display_name="x")
    first, second = Worker(kept), Worker(kept)
    for _ in range(4):
        await first.run_once(clock())
        await second.run_once(clock())
    assert visited == [f"user-{number:02}" for number in range(45)]
    clock.advance(hours=7)
    await second.run_once(clock())
    assert len(visited) == 65
