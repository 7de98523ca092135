"""MongoDB killed, frozen, restarted and full under load: nothing is lost and nothing is duplicated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from gieok import Gieok, Settings
from gieok.app.background.worker import Background
from gieok.errors import OwnerErased, StoreUnavailable
from gieok.settings import ArchiveSettings
from gieok.testing.clock import Clock
from tests.archive.world import SAID, archive_of, fill, move_texts, say, work
from tests.behind import Behind
from tests.mongo import Mongo

TURNS = 30
NOWHERE = "mongodb://127.0.0.1:9/gieok?timeoutMS=500"


async def talk(gieok: Gieok, owner: str, clock: Clock) -> None:
    """Save and delete while the test does something to MongoDB. No call may notice it."""
    user = gieok.user(owner)
    for number in range(TURNS):
        await say(user, "s1", clock, f"question {number}", f"answer {number}")
        if number % 10 == 9:
            await user.sessions.start("mina", plan="chat_turn", session_ref=f"short-{number}")
            await say(user, f"short-{number}", clock, "to be deleted", "yes")
            await user.sessions.delete(f"short-{number}")
        await asyncio.sleep(0.02)


async def kill(mongo: Mongo) -> None:
    await asyncio.sleep(0.3)
    await asyncio.to_thread(mongo.kill)
    await asyncio.sleep(0.5)
    await asyncio.to_thread(mongo.restart)


async def freeze(mongo: Mongo) -> None:
    await asyncio.sleep(0.3)
    mongo.freeze()
    await asyncio.sleep(1.0)
    mongo.thaw()


async def fill_up(mongo: Mongo) -> None:
    await asyncio.sleep(0.2)
    await asyncio.to_thread(mongo.fail_writes)
    await asyncio.sleep(0.8)
    await asyncio.to_thread(mongo.allow_writes)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("happens", [kill, freeze, fill_up], ids=["killed", "frozen", "full"])
async def test_nothing_is_lost_or_duplicated(
    archived: Settings, mongo: Mongo, happens: Callable[[Mongo], Awaitable[None]]
) -> None:
    """Two processes with a worker each, two owners who talk, and MongoDB fails meanwhile."""
    clock = Clock()
    async with await Gieok.open(archived, clock=clock) as one, await Gieok.open(archived, clock=clock) as two:
        owners = ("ana", "bora")
        talking = list(zip((one, two), owners, strict=True))
        for gieok, owner in talking:
            await fill(gieok, owner, clock)
        workers = [Background(gieok) for gieok in (one, two)]
        try:
            await asyncio.gather(happens(mongo), *(talk(gieok, owner, clock) for gieok, owner in talking))
        finally:
            for worker in workers:
                await worker.close()
        clock.advance(minutes=10)  # the longest wait for a retry
        await work(one, clock)
        expected = [f"{word} {number}" for number in range(TURNS) for word in ("question", "answer")]
        for owner in owners:
            log = [message.content for message in await one.user(owner).sessions.log("s1", after=4)]
            assert log == expected
        report = await archive_of(one).verify()
        assert report.differences == ()
        assert (report.messages, report.undelivered) == (2 * (8 + 2 * TURNS), 0)
        status = await archive_of(one).status()
        assert (status.messages, status.summaries) == (report.messages, report.summaries)


async def test_texts_do_not_leave_while_the_archive_fails(
    kept: Gieok, clock: Clock, mongo: Mongo, behind: Behind
) -> None:
    """The copies are not written, so the texts stay; later they leave."""
    user = await fill(kept, "ana", clock)
    mongo.fail_writes()
    try:
        await move_texts(kept, clock)
    finally:
        mongo.allow_writes()
    assert behind.run("SELECT count(*) FROM messages WHERE length(content) > 1") == [(8,)]
    assert [message.content for message in await user.sessions.log("s1")] == list(SAID)
    await move_texts(kept, clock)
    assert behind.run("SELECT count(*) FROM messages WHERE length(content) > 1") == [(0,)]
    assert [message.content for message in await user.sessions.log("s1")] == list(SAID)


async def test_an_erasure_reaches_the_archive(kept: Gieok, clock: Clock) -> None:
    user = await fill(kept, "ana", clock)
    await fill(kept, "bora", clock)
    await move_texts(kept, clock)
    await user.data.erase()
    report = await archive_of(kept).verify()
    assert (report.is_ok, report.owners) == (True, 1)
    assert (await archive_of(kept).status()).messages == 8


async def test_an_erasure_is_not_finished_while_the_archive_is_away(
    kept: Gieok, archived: Settings, settings: Settings, clock: Clock
) -> None:
    """The key is destroyed at once, so nobody can read the copies. A worker deletes them later."""
    await fill(kept, "ana", clock)
    await work(kept, clock)
    for chosen in (replace(archived, archive=ArchiveSettings(NOWHERE)), settings):
        async with await Gieok.open(chosen, clock=clock) as away:
            with pytest.raises(StoreUnavailable):
                await away.user("ana").data.erase()
            assert away.vault.unfinished_erasures() == ["ana"]
    with pytest.raises(OwnerErased):
        await kept.user("ana").sessions.log("s1")
    assert (await archive_of(kept).status()).messages == 8
    await kept.user("ana").data.erase()
    assert kept.vault.unfinished_erasures() == []
    assert (await archive_of(kept).status()).messages == 0


async def test_a_rotation_is_refused_while_the_archive_is_away(
    kept: Gieok, archived: Settings, clock: Clock
) -> None:
    """Nothing is destroyed, and a later rotation works."""
    user = await fill(kept, "ana", clock)
    await move_texts(kept, clock)
    async with await Gieok.open(replace(archived, archive=ArchiveSettings(NOWHERE)), clock=clock) as away:
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await away.user("ana").rotate_key()
    assert [message.content for message in await user.sessions.log("s1")] == list(SAID)
    await user.rotate_key()
    assert [message.content for message in await user.sessions.log("s1")] == list(SAID)
