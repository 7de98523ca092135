"""The archive follows the database: copies, changes, deletions, backfill, two workers, isolation, seals."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from gieok import Gieok, Settings
from gieok.app.archive_restore import Restored
from gieok.app.background.worker import Worker
from gieok.errors import Conflict, NotFound, SettingsInvalid, StoreUnavailable
from gieok.memory.companion.records import MemoryChanges
from gieok.testing.clock import Clock
from tests.archive.world import SAID, archive_of, fill, say, work
from tests.behind import Behind
from tests.mongo import Mongo

RAW = CodecOptions(document_class=RawBSONDocument)


def documents(mongo: Mongo, url: str, collection: str, **where: Any) -> list[dict[str, Any]]:
    """What MongoDB has, read without Gieok."""
    name = url.rpartition("/")[2].partition("?")[0]
    with mongo.client() as client:
        return list(client[name][collection].find(where).sort("_id"))


@pytest.mark.req("COMP-10")
async def test_messages_and_memories_are_copied(
    kept: Gieok, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    await fill(kept, "ana", clock)
    await work(kept, clock)
    messages = documents(mongo, archive_url, "chat_messages")
    assert [each["_id"] for each in messages] == [
        {"owner": "ana", "session_ref": ref, "seq": seq} for ref in ("s1", "s2") for seq in (1, 2, 3, 4)
    ]
    assert len(documents(mongo, archive_url, "memory_summary_archives")) == 3
    report = await archive_of(kept).verify()
    assert (report.is_ok, report.messages, report.summaries) == (True, 8, 3)


@pytest.mark.req("COMP-10")
async def test_changes_and_deletions_follow(
    kept: Gieok, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    user = await fill(kept, "ana", clock)
    await work(kept, clock)
    first, second, third = (await user.companion.list()).memories
    await user.companion.edit(first.id, MemoryChanges(summary="Bora likes new harbours"))
    await user.companion.archive(second.id)
    await user.companion.delete(third.id)
    await user.sessions.withdraw("s2", "s2-2")
    await user.sessions.delete("s1")
    await work(kept, clock)
    stored = documents(mongo, archive_url, "memory_summary_archives")
    assert {each["_id"]["id"] for each in stored} == {str(first.id), str(second.id)}
    assert {each["_id"]["id"] for each in stored if each["archived_at"]} == {str(second.id)}
    messages = documents(mongo, archive_url, "chat_messages")
    assert [(each["_id"]["session_ref"], bool(each["withdrawn_at"])) for each in messages] == [
        *[("s2", False)] * 2,
        *[("s2", True)] * 2,
    ]
    assert (await archive_of(kept).verify()).is_ok


async def test_what_was_stored_before_is_backfilled(
    settings: Settings, archived: Settings, clock: Clock
) -> None:
    """Also more than one batch, and in several runs."""
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = await fill(gieok, "ana", clock)
        await fill(gieok, "bora", clock)
        for _ in range(3):
            await say(user, "s1", clock, *(f"text {number}" for number in range(150)))
    async with await Gieok.open(archived, clock=clock) as gieok:
        assert not (await archive_of(gieok).verify()).is_ok
        await work(gieok, clock)
        report = await archive_of(gieok).verify()
        assert (report.is_ok, report.messages) == (True, 466)
        assert report.summaries > 6  # the worker has summarised the long session
        status = await archive_of(gieok).status()
        assert (status.is_reachable, status.messages, status.summaries) == (True, 466, report.summaries)
        assert (status.undelivered, status.backfilling) == (0, 0)


async def test_two_workers_copy_each_row_once(archived: Settings, clock: Clock) -> None:
    async with await Gieok.open(archived, clock=clock) as one, await Gieok.open(archived, clock=clock) as two:
        await fill(one, "ana", clock)
        await fill(two, "bora", clock)

        async def talk(gieok: Gieok, owner: str) -> None:
            for _ in range(10):
                await say(gieok.user(owner), "s1", clock, "first", "second")

        workers = [Worker(one), Worker(two)]
        await asyncio.gather(
            talk(one, "ana"),
            talk(two, "bora"),
            *(worker.run_once(clock()) for _ in range(10) for worker in workers),
        )
        await asyncio.gather(work(one, clock), work(two, clock))
        report = await archive_of(one).verify()
        assert (report.is_ok, report.messages) == (True, 56)
        assert (await archive_of(two).status()).messages == 56


async def test_owners_are_separate_and_copies_cannot_be_swapped(
    kept: Gieok, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    """A copy under another owner, session, number or time does not open."""
    await fill(kept, "ana", clock)
    await fill(kept, "bora", clock)
    await work(kept, clock)
    name = archive_url.rpartition("/")[2].partition("?")[0]
    with mongo.client() as client:
        messages, memories = client[name]["chat_messages"], client[name]["memory_summary_archives"]
        first = {"owner": "ana", "session_ref": "s1", "seq": 1}
        for other in ({**first, "owner": "bora"}, {**first, "session_ref": "s2"}, {**first, "seq": 3}):
            content = messages.find_one({"_id": first}) or {}
            messages.update_one({"_id": other}, {"$set": {"content": content["content"]}})
        messages.update_one({"_id": {**first, "seq": 4}}, {"$set": {"at": 7}})
        memories.update_one({"_id.owner": "ana"}, {"$set": {"importance": 1, "version": 2}})
    report = await archive_of(kept).verify()
    assert sorted(
        (each.owner, each.row, each.problem) for each in report.differences if len(each.row) < 9
    ) == [
        ("ana", "s1 3", "seal"),
        ("ana", "s1 4", "seal"),
        ("ana", "s2 1", "seal"),
        ("bora", "s1 1", "seal"),
    ]
    assert [each.problem for each in report.differences if len(each.row) > 9] == ["seal"]
    assert (await archive_of(kept).verify("bora")).differences[0].row == "s1 1"


async def test_verify_lists_what_is_missing_extra_or_different(
    kept: Gieok, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    await fill(kept, "ana", clock)
    await work(kept, clock)
    name = archive_url.rpartition("/")[2].partition("?")[0]
    with mongo.client() as client:
        messages = client[name]["chat_messages"]
        messages.delete_one({"_id.seq": 1, "_id.session_ref": "s1"})
        messages.update_one({"_id.seq": 2, "_id.session_ref": "s1"}, {"$set": {"withdrawn_at": 5}})
        extra = messages.find_one({"_id.seq": 3, "_id.session_ref": "s1"}) or {}
        messages.insert_one({**extra, "_id": {"owner": "ana", "session_ref": "zz", "seq": 1}})
        messages.insert_one({**extra, "_id": {"owner": "nobody", "session_ref": "s1", "seq": 1}})
    report = await archive_of(kept).verify()
    assert [(each.owner, each.row, each.problem) for each in report.differences] == [
        ("ana", "s1 1", "missing"),
        ("ana", "s1 2", "different"),
        ("ana", "zz 1", "extra"),
        ("nobody", "s1 1", "extra"),
    ]


async def test_a_key_rotation_reseals_the_copies(
    kept: Gieok, archived: Settings, settings: Settings, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    """The old key is destroyed, and what was sealed with it is readable. Without the archive it stays."""
    await fill(kept, "ana", clock)
    await work(kept, clock)
    assert await kept.user("ana").rotate_key() > 11
    assert {each["generation"] for each in documents(mongo, archive_url, "chat_messages")} == {2}
    assert {each["generation"] for each in documents(mongo, archive_url, "memory_summary_archives")} == {2}
    assert (await archive_of(kept).verify()).is_ok
    async with await Gieok.open(settings, clock=clock) as without:
        with pytest.raises(StoreUnavailable, match="set GIEOK_ARCHIVE_URL"):
            await without.user("ana").rotate_key()
    assert (await archive_of(kept).verify()).is_ok


async def test_a_copy_under_a_key_that_is_being_replaced_is_written_again(
    kept: Gieok, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rotation begins and ends between the read and the write of a delivery."""
    await fill(kept, "ana", clock)
    archive = archive_of(kept)
    put, rotations = archive._mongo.messages.put, [1]  # pyright: ignore[reportPrivateUsage]

    async def put_late(owner: str, copies: Any, *, force: bool = False) -> None:
        if rotations:
            rotations.pop()
            await kept.user("ana").rotate_key()
        await put(owner, copies, force=force)

    monkeypatch.setattr(archive._mongo.messages, "put", put_late)  # pyright: ignore[reportPrivateUsage]
    await work(kept, clock)
    assert not rotations
    assert (await archive.verify()).is_ok


async def test_a_row_that_is_deleted_while_it_is_copied_is_not_left_behind(
    kept: Gieok, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = await fill(kept, "ana", clock)
    archive = archive_of(kept)
    (memory, *_) = (await user.companion.list()).memories
    put = archive._mongo.summaries.put  # pyright: ignore[reportPrivateUsage]

    async def put_late(owner: str, copies: Any, *, force: bool = False) -> None:
        if memory.id in {each.id for each in (await user.companion.list()).memories}:
            await user.companion.delete(memory.id)
        await put(owner, copies, force=force)

    monkeypatch.setattr(archive._mongo.summaries, "put", put_late)  # pyright: ignore[reportPrivateUsage]
    await work(kept, clock)
    report = await archive.verify()
    assert (report.is_ok, report.summaries) == (True, 2)


@pytest.mark.req("OPS-2")
async def test_documents_hold_no_clear_text(
    kept: Gieok, clock: Clock, mongo: Mongo, archive_url: str
) -> None:
    """BSON stores text as UTF-8. The owner's name is in clear, so the check works."""
    await fill(kept, "ana-canary", clock)
    await work(kept, clock)
    mongo.admin({"fsync": 1})
    name = archive_url.rpartition("/")[2].partition("?")[0]
    with mongo.client() as client:
        database: Any = client[name]
        raw = b"".join(
            each.raw
            for collection in database.list_collection_names()
            for each in database.get_collection(collection, codec_options=RAW).find()
        )
    texts = (*SAID, "지민", "Bora likes old harbours", "Nabi the cat is three")
    assert b"ana-canary" in raw
    assert [text for text in texts if text.encode() in raw] == []
    words = {word for text in texts for word in text.split() if len(word.encode()) > 5}
    assert [word for word in words if word.encode() in raw] == []


async def test_an_archive_of_another_database_is_refused(
    kept: Gieok, archived: Settings, clock: Clock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await fill(kept, "ana", clock)
    await work(kept, clock)
    folder = tmp_path_factory.mktemp("other")
    other = replace(
        archived,
        database_url=f"sqlite:///{folder / 'gieok.db'}",
        keystore_url=f"sqlite:///{folder / 'gieok.db.keys'}",
    )
    async with await Gieok.open(other, clock=clock) as gieok:
        with pytest.raises(SettingsInvalid, match="belongs to another Gieok database"):
            await archive_of(gieok).verify()
        assert "belongs to another" in str((await archive_of(gieok).status()).problem)


async def test_a_restore_brings_back_what_the_database_has_lost(
    kept: Gieok, clock: Clock, behind: Behind
) -> None:
    """As after the restore of an older backup, without the last messages, a session and two memories."""
    user = await fill(kept, "ana", clock)
    await user.sessions.withdraw("s2", "s2-2")
    await work(kept, clock)
    before = [await user.sessions.log(ref) for ref in ("s1", "s2")]
    memories = {each.summary for each in (await user.companion.list()).memories}
    behind.run("DELETE FROM messages WHERE session_ref = 's1' AND seq > 2")
    behind.run("UPDATE sessions SET message_count = 2 WHERE session_ref = 's1'")
    behind.run("DELETE FROM messages WHERE session_ref = 's2'")
    behind.run("DELETE FROM jobs WHERE subject = 's2'")
    behind.run("DELETE FROM sessions WHERE session_ref = 's2'")
    for id_ in [each.id for each in (await user.companion.list()).memories[:2]]:
        await kept.scope("ana").write(lambda view, id_=id_: view.companion.delete(id_))
    behind.run("DELETE FROM events")
    behind.run("UPDATE event_consumers SET position = (SELECT last_number FROM event_heads)")
    archive = archive_of(kept)
    assert await archive.restore("ana") == Restored(messages=6, summaries=2)
    assert [await user.sessions.log(ref) for ref in ("s1", "s2")] == before
    assert {each.summary for each in (await user.companion.list()).memories} == memories
    await work(kept, clock)
    assert (await archive.verify()).is_ok
    assert await archive.restore() == Restored()


async def test_a_restore_waits_for_deletions_and_creates_no_owner(kept: Gieok, clock: Clock) -> None:
    user = await fill(kept, "ana", clock)
    await work(kept, clock)
    await user.sessions.delete("s1")
    with pytest.raises(Conflict, match="not delivered yet"):
        await archive_of(kept).restore("ana")
    await work(kept, clock)
    assert await archive_of(kept).restore("ana") == Restored()
    with pytest.raises(NotFound):
        await archive_of(kept).restore("nobody")
    assert not await kept.user("nobody").data.exists()
