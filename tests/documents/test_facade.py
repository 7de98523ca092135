"""`user.documents`: batches, times to live, explained hits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gieok import Gieok, Settings
from gieok.app.background.worker import Worker
from gieok.app.documents import put_operation
from gieok.errors import InputRefused, NotFound
from gieok.memory.documents.records import (
    MAX_OPERATIONS,
    ChangeResult,
    DeleteDocument,
    GetDocument,
    ListNamespaces,
    ReadResult,
    SearchDocuments,
)
from gieok.testing.clock import Clock

NOTES = ("notes", "mina")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, clock=clock, background=False) as opened:
        yield opened


@pytest.mark.req("INT-3")
async def test_a_batch_reads_the_state_before_it_and_commits_once(gieok: Gieok) -> None:
    documents = gieok.user("mina").documents
    await documents.put(NOTES, "a", {"text": "before"})
    results = await documents.batch(
        [
            GetDocument(namespace=NOTES, key="a"),
            put_operation(NOTES, "a", {"text": "after"}),
            put_operation(NOTES, "b", {"text": "new"}),
            DeleteDocument(namespace=NOTES, key="c"),
            SearchDocuments(namespace=("notes",)),
            ListNamespaces(),
        ]
    )
    got, put, _, deleted, searched, listed = results
    assert isinstance(got, ReadResult)
    assert got.document is not None
    assert got.document.value == {"text": "before"}
    assert isinstance(put, ChangeResult)
    assert put.saved is not None
    assert put.saved.version == 2
    assert deleted == ChangeResult(deleted=False)
    assert isinstance(searched, ReadResult)
    assert searched.documents is not None
    assert [each.key for each in searched.documents] == ["a"]
    assert listed == ReadResult(namespaces=(NOTES,))
    after = await documents.get(NOTES, "a")
    assert after is not None
    assert after.value == {"text": "after"}


async def test_a_batch_with_a_wrong_read_stores_nothing(gieok: Gieok) -> None:
    documents = gieok.user("mina").documents
    with pytest.raises(InputRefused, match="operator"):
        await documents.batch([put_operation(NOTES, "a", {}), SearchDocuments(filter={"n": {"$near": 1}})])
    assert await documents.get(NOTES, "a") is None


async def test_a_hit_says_why_it_was_found(gieok: Gieok, clock: Clock) -> None:
    documents = gieok.user("mina").documents
    await documents.put(NOTES, "interview", {"text": "내일 회사 면접이 있다"})
    await documents.put(NOTES, "other", {"text": "회사 점심은 맛있다"})
    clock.now += timedelta(days=30)
    best, second = await documents.search(("notes",), "회사 면접은 언제?")
    assert (best.key, second.key) == ("interview", "other")
    assert best.why is not None
    assert best.score is not None
    assert set(best.why.matched_words) == {"회사", "면접"}
    assert best.why.age_days == pytest.approx(30)
    assert best.why.signals["bm25"].rank == 1
    assert best.score == pytest.approx(
        sum(signal.value * signal.weight for signal in best.why.signals.values())
    )
    assert best.why.signals["recency"].value == pytest.approx(0.5)
    (listed,) = await documents.search(("notes",), filter={"text": "회사 점심은 맛있다"})
    assert (listed.score, listed.why) == (None, None)


async def test_reading_begins_the_time_to_live_again_unless_asked_not_to(gieok: Gieok, clock: Clock) -> None:
    documents = gieok.user("mina").documents
    await documents.put(NOTES, "a", {"n": 1}, ttl=timedelta(minutes=10))
    clock.now += timedelta(minutes=8)
    assert await documents.get(NOTES, "a", refresh_ttl=False) is not None
    assert await documents.get(NOTES, "a") is not None
    clock.now += timedelta(minutes=8)
    assert len(await documents.search(NOTES)) == 1
    clock.now += timedelta(minutes=8)
    assert len(await documents.search(NOTES, refresh_ttl=False)) == 1
    clock.now += timedelta(minutes=2)
    assert await documents.get(NOTES, "a") is None
    assert await documents.sweep() == 1
    with pytest.raises(NotFound):
        await documents.history(NOTES, "a")


async def test_background_work_deletes_expired_documents(gieok: Gieok, clock: Clock) -> None:
    user = gieok.user("mina")
    await user.documents.put(NOTES, "a", {"n": 1}, ttl=timedelta(minutes=10))
    clock.now += timedelta(minutes=11)
    while await Worker(gieok).run_once(clock.now):
        pass
    assert await user.documents.sweep() == 0


@pytest.mark.parametrize(
    ("namespace", "key", "at"),
    [((), "k", "namespace"), (("",), "k", "namespace"), (("a",), "", "key"), (("a",), "\x00", "key")],
)
async def test_a_wrong_name_is_refused(gieok: Gieok, namespace: tuple[str, ...], key: str, at: str) -> None:
    with pytest.raises(InputRefused) as refused:
        await gieok.user("mina").documents.put(namespace, key, {})
    assert str(refused.value.at).startswith(at)


async def test_limits_are_refused_with_their_place(gieok: Gieok) -> None:
    documents = gieok.user("mina").documents
    with pytest.raises(InputRefused, match="at most"):
        await documents.batch([GetDocument(namespace=NOTES, key="a")] * (MAX_OPERATIONS + 1))
    with pytest.raises(InputRefused) as refused:
        await documents.search(limit=0)
    assert refused.value.at == "limit"
