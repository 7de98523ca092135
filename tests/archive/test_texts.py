"""Texts that have left the database: read back on request, found by searches, exported, restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gieok import Gieok, Settings
from gieok.app.archive_restore import Restored, detach
from gieok.errors import Conflict, StoreDamaged, StoreUnavailable
from gieok.memory.sessions.records import ChatMessage
from gieok.settings import ArchiveSettings
from gieok.testing.clock import Clock
from tests.archive.world import SAID, archive_of, fill, move_texts, say, work
from tests.behind import Behind
from tests.mongo import Mongo
from tests.owner_data.world import export

NOWHERE = "mongodb://127.0.0.1:9/gieok?timeoutMS=500"


def texts_in(behind: Behind) -> int:
    """How many messages have their text in the database."""
    return behind.run("SELECT count(*) FROM messages WHERE length(content) > 1")[0][0]


def contents(log: Sequence[ChatMessage]) -> list[str]:
    return [message.content for message in log]


async def test_old_texts_leave_and_are_read_back(kept: Gieok, clock: Clock, behind: Behind) -> None:
    """Every way of reading a session gives them: log, page, window, last messages."""
    user = await fill(kept, "ana", clock)
    before = await user.sessions.log("s1")
    await move_texts(kept, clock)
    assert (texts_in(behind), behind.count("messages")) == (0, 8)
    assert await user.sessions.log("s1") == before
    assert before[0].speaker == "지민"
    assert (await user.sessions.log_page("s2", limit=3)).messages[2].content == SAID[2]
    assert contents(await user.sessions.last_messages("s1", 2)) == list(SAID[2:])
    assert texts_in(behind) == 0
    assert (await archive_of(kept).verify()).is_ok
    assert (await kept.check_integrity()).is_ok


async def test_texts_stay_while_a_session_is_used(kept: Gieok, clock: Clock, behind: Behind) -> None:
    user = await fill(kept, "ana", clock)
    clock.advance(days=20)
    await say(user, "s2", clock, "still here", "yes")
    await move_texts(kept, clock, days=15)
    assert behind.run("SELECT DISTINCT session_ref FROM messages WHERE length(content) > 1") == [("s2",)]
    await move_texts(kept, clock, days=20)
    assert texts_in(behind) == 0
    assert contents(await user.sessions.log("s2")) == [*SAID, "still here", "yes"]


async def test_nothing_leaves_that_is_not_in_the_archive(
    kept: Gieok, clock: Clock, behind: Behind, mongo: Mongo, archive_url: str
) -> None:
    """Neither a missing copy nor one that does not open. What was verified before it has left."""
    await fill(kept, "ana", clock)
    await work(kept, clock)
    name = archive_url.rpartition("/")[2].partition("?")[0]
    with mongo.client() as client:
        client[name]["chat_messages"].delete_one({"_id.session_ref": "s1", "_id.seq": 2})
        client[name]["chat_messages"].update_one(
            {"_id.session_ref": "s2", "_id.seq": 3}, {"$set": {"content": b"\x01" + b"0" * 60}}
        )
    clock.advance(days=40)
    await work(kept, clock)
    assert texts_in(behind) == 8
    await archive_of(kept).restore("ana")
    clock.advance(days=1)
    await work(kept, clock)
    assert texts_in(behind) == 0


async def test_a_search_finds_texts_in_the_archive(kept: Gieok, clock: Clock, behind: Behind) -> None:
    user = await fill(kept, "ana", clock)
    await move_texts(kept, clock)
    for query, text in (("lanterns in the harbour", SAID[1]), ("고양이 이름", SAID[2])):
        found = await user.companion.search("mina", query, kinds="all")
        assert text in [hit.text for hit in found]
        assert found.degraded == ()


async def test_without_the_archive_reads_fail_clearly_and_searches_and_chats_go_on(
    kept: Gieok, archived: Settings, settings: Settings, clock: Clock
) -> None:
    """Whether it is unreachable or not configured. Writes, searches and chats work."""
    await fill(kept, "ana", clock)
    await move_texts(kept, clock)
    away = replace(archived, archive=ArchiveSettings(NOWHERE, 30))
    for chosen, message in ((away, "cannot be reached"), (settings, "set GIEOK_ARCHIVE_URL")):
        async with await Gieok.open(chosen, clock=clock) as gieok:
            user = gieok.user("ana")
            with pytest.raises(StoreUnavailable, match=message):
                await user.sessions.log("s1")
            found = await user.companion.search("mina", "lanterns in the harbour", kinds="all")
            assert found.degraded == ("messages",)
            assert SAID[1] not in [hit.text for hit in found]
            reply = await user.chat.send("mina", "Do you remember the lanterns?", session_ref="s3")
            assert reply.reply
            await gieok.database.check()


async def test_a_lost_copy_of_a_text_is_damage(
    kept: Gieok, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    user = await fill(kept, "ana", clock)
    await move_texts(kept, clock)
    with mongo.client() as client:
        name = archive_url.rpartition("/")[2].partition("?")[0]
        client[name]["chat_messages"].delete_one({"_id.session_ref": "s1", "_id.seq": 2})
    with pytest.raises(StoreDamaged, match="missing in the archive"):
        await user.sessions.log("s1")
    assert contents(await user.sessions.log("s2")) == list(SAID)
    assert [each.row for each in (await archive_of(kept).verify()).differences] == ["s1 2"]


async def test_what_happens_to_a_message_reaches_its_text(kept: Gieok, clock: Clock, behind: Behind) -> None:
    """Withdrawal, rotation, deletion and saving it again, while the text is in the archive."""
    user = await fill(kept, "ana", clock)
    before = await user.sessions.log("s1")
    await move_texts(kept, clock)
    assert (await user.sessions.save_messages("s1", before, remember=False)).added == 0
    with pytest.raises(Conflict, match="another content"):
        await user.sessions.save_messages("s1", [before[0].model_copy(update={"content": "else"})])
    await user.rotate_key()
    assert await user.sessions.log("s1") == before
    await user.sessions.withdraw("s1", "s1-2")
    await work(kept, clock)
    log = await user.sessions.log("s1")
    assert contents(log) == list(SAID)
    assert [message.withdrawn_at is not None for message in log] == [False, False, True, True]
    await user.sessions.delete("s2")
    await work(kept, clock)
    report = await archive_of(kept).verify()
    assert (report.is_ok, report.messages) == (True, 4)


async def test_an_export_and_a_restore_put_texts_back(kept: Gieok, clock: Clock, behind: Behind) -> None:
    user = await fill(kept, "ana", clock)
    await move_texts(kept, clock)
    stream = await export(user)
    assert all(text.encode() in stream for text in SAID)
    assert texts_in(behind) == 8
    clock.advance(days=1)
    await work(kept, clock)
    assert texts_in(behind) == 0
    assert await archive_of(kept).restore() == Restored(texts=8)
    assert texts_in(behind) == 8
    assert (await archive_of(kept).verify()).is_ok
    assert (await kept.check_integrity()).is_ok


async def test_an_archive_is_detached_when_nothing_is_there_only(
    kept: Gieok, settings: Settings, clock: Clock, behind: Behind
) -> None:
    await fill(kept, "ana", clock)
    await move_texts(kept, clock)
    with pytest.raises(Conflict, match="GIEOK_ARCHIVE_URL is set"):
        await detach(kept)
    async with await Gieok.open(settings, clock=clock) as without:
        with pytest.raises(Conflict, match="gieok archive restore"):
            await detach(without)
        await archive_of(kept).restore()
        assert await detach(without) == 1
        assert await without.user("ana").rotate_key() > 0
        assert (await without.user("ana").data.erase()).key_destroyed
