"""The archive in MongoDB as a passive store of copies: order of versions, isolation, errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from gieok.adapters.copies import MessageCopy
from gieok.adapters.mongo.archive import MongoArchive, open_mongo
from gieok.errors import SettingsInvalid, StoreDamaged, StoreUnavailable
from tests.mongo import Mongo


@pytest.fixture
async def archive(archive_url: str) -> AsyncIterator[MongoArchive]:
    opened = open_mongo(archive_url)
    yield opened
    await opened.close()


def copy(seq: int = 1, session_ref: str = "s", content: bytes | None = b"sealed") -> MessageCopy:
    return MessageCopy(
        session_ref=session_ref,
        seq=seq,
        id=f"m{seq}",
        role="user",
        at=1_000_000 + seq,
        persona_id="mina",
        withdrawn_at=None,
        revision=1,
        generation=1,
        content=content,
    )


async def test_a_copy_is_stored_once_however_often_it_is_put(archive: MongoArchive) -> None:
    for _ in range(3):
        await archive.messages.put("ana", [copy(1), copy(2)])
    assert await archive.messages.page("ana", (), 10) == [copy(1), copy(2)]
    assert await archive.messages.count() == 2


async def test_an_older_copy_never_replaces_a_newer_one(archive: MongoArchive) -> None:
    withdrawn = replace(copy(), revision=2, withdrawn_at=5)
    await archive.messages.put("ana", [withdrawn])
    await archive.messages.put("ana", [copy()])
    assert await archive.messages.get("ana", [("s", 1)]) == [withdrawn]
    resealed = replace(withdrawn, generation=2, content=b"resealed")
    await archive.messages.put("ana", [resealed])
    await archive.messages.put("ana", [withdrawn])
    assert await archive.messages.get("ana", [("s", 1)]) == [resealed]


async def test_a_copy_without_content_keeps_the_stored_seal(archive: MongoArchive) -> None:
    await archive.messages.put("ana", [copy()])
    await archive.messages.put(
        "ana", [replace(copy(content=None), revision=2, withdrawn_at=5, generation=9), copy(7, content=None)]
    )
    (found,) = await archive.messages.page("ana", (), 10)
    assert found == replace(copy(), revision=2, withdrawn_at=5)


async def test_pages_follow_the_order_of_sessions_and_numbers(archive: MongoArchive) -> None:
    copies = [copy(seq, ref) for ref in ("a", "b") for seq in (1, 2, 10)]
    await archive.messages.put("ana", copies[::-1])
    first = await archive.messages.page("ana", (), 4)
    assert first + await archive.messages.page("ana", first[-1].key, 4) == copies


async def test_owners_are_separate(archive: MongoArchive) -> None:
    """Also names that begin alike, and names with characters that sort low or high."""
    owners = ["an", "ana", "ana ", "ana\U0010ffff", "anb"]
    for owner in owners:
        await archive.messages.put(owner, [copy(content=owner.encode())])
    for owner in owners:
        assert [each.content for each in await archive.messages.page(owner, (), 10)] == [owner.encode()]
    await archive.messages.erase("ana")
    assert [await archive.messages.count(owner) for owner in owners] == [1, 0, 1, 1, 1]


async def test_one_session_can_be_deleted(archive: MongoArchive) -> None:
    await archive.messages.put("ana", [copy(1, "a"), copy(1, "ab"), copy(2, "a"), copy(1, "b")])
    await archive.messages.erase("ana", "a")
    assert [each.session_ref for each in await archive.messages.page("ana", (), 10)] == ["ab", "b"]
    await archive.messages.delete("ana", [("b", 1), ("b", 2)])
    assert await archive.messages.count("ana") == 1


async def test_an_archive_belongs_to_one_database(archive: MongoArchive) -> None:
    own = await archive.claim("database-1", None)
    assert await archive.claim("database-1", own) == own
    with pytest.raises(SettingsInvalid, match="belongs to another"):
        await archive.claim("database-2", None)
    with pytest.raises(StoreDamaged, match="not the one"):
        await archive.claim("database-1", "another")


async def test_an_archive_that_was_emptied_is_noticed(archive: MongoArchive) -> None:
    with pytest.raises(StoreDamaged, match="not the one"):
        await archive.claim("database-1", "known")


async def test_a_refused_write_is_an_error_without_content(archive: MongoArchive, mongo: Mongo) -> None:
    mongo.fail_writes()
    try:
        with pytest.raises(StoreUnavailable, match=r"refused an operation \(code 14031\)"):
            await archive.messages.put("ana", [copy(content=b"canary")])
    finally:
        mongo.allow_writes()
    await archive.messages.put("ana", [copy()])
    assert await archive.messages.count("ana") == 1


async def test_an_unreachable_archive_is_a_clear_error_within_seconds() -> None:
    archive = open_mongo("mongodb://ana:pass%40word@127.0.0.1:9/gieok?replicaSet=tests&timeoutMS=500")
    try:
        with pytest.raises(StoreUnavailable, match="cannot be reached") as caught:
            await archive.ping()
    finally:
        await archive.close()
    assert "pass" not in str(caught.value)
    assert "127.0.0.1:9/gieok" in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "mongodb://",
        "mongodb://ana:pass@word:x@127.0.0.1",
        "mongodb://127.0.0.1:99999",
        "mongodb://ana:pass@127.0.0.1/a b$?w=x",
        "mongodb://127.0.0.1/?authSource",
    ],
)
def test_a_bad_url_is_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="not a valid MongoDB URL") as caught:
        open_mongo(url)
    assert "pass@" not in str(caught.value)
