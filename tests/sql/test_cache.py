"""The caches of decrypted data: bounded in bytes, and cleared together with the owner's keys."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.adapters.sql.cache import OWNER_BYTES, UNCACHED, Caches, DecryptedCache
from gieok.adapters.sql.scope import SqlView
from gieok.testing.contracts.companion import memory, save

KIB = 1024


def test_owners_do_not_share_entries() -> None:
    cache = DecryptedCache(10 * KIB)
    cache.of("kim").put("row", "철수", 10)
    assert cache.of("lee").get("row") is None
    cache.of("lee").put("row", "영희", 10)
    assert [cache.of(owner).get("row") for owner in ("kim", "lee")] == ["철수", "영희"]


def test_the_least_recently_used_owner_is_evicted_whole() -> None:
    cache = DecryptedCache(3 * OWNER_BYTES + 4 * KIB)
    for owner in ("kim", "lee"):
        for row in range(2):
            cache.of(owner).put(row, "value", KIB)
    cache.of("kim")
    cache.of("park").put("row", "value", KIB)
    assert [cache.of(owner).get(0) for owner in ("kim", "lee")] == ["value", None]
    assert cache.of("park").get("row") == "value"


def test_the_size_never_exceeds_the_limit() -> None:
    """A value that does not fit at all is not kept either."""
    cache = DecryptedCache(4 * KIB)
    for row in range(20):
        cache.of("kim").put(row, "value", KIB)
        assert cache.bytes <= 4 * KIB
    cache.of("kim").put("large", "value", 5 * KIB)
    assert (cache.bytes, cache.of("kim").get("large")) == (0, None)


def test_a_value_replaces_the_one_under_the_same_key_and_its_size() -> None:
    cache = DecryptedCache(10 * KIB)
    entries = cache.of("kim")
    assert entries.get("index") is None
    entries.put("index", "first", 300)
    entries.put("index", "second", 500)
    assert (entries.get("index"), cache.bytes) == ("second", OWNER_BYTES + 500)


def test_a_transaction_that_began_before_a_clear_caches_nothing_more() -> None:
    """It may still decrypt a row after an erasure."""
    cache = DecryptedCache(10 * KIB)
    entries = cache.of("kim")
    entries.put("row", "plaintext", 10)
    cache.clear("kim")
    entries.put("row", "again", 10)
    assert (entries.get("row"), cache.of("kim").get("row")) == (None, None)
    assert cache.bytes == OWNER_BYTES


def test_nothing_is_cached_without_caches() -> None:
    UNCACHED.values.put("row", "plaintext", 0)
    assert UNCACHED.values.get("row") is None


@pytest.mark.req("OPS-2")
@pytest.mark.parametrize("end", ["erased", "rotated", "forgotten"])
async def test_both_caches_are_cleared_together_with_the_keys(gieok: Gieok, end: str) -> None:
    scope = gieok.scope("kim")
    await save(scope, memory())
    await gieok.user("kim").companion.search("hana", "면접")
    assert min(gieok.caches.values.bytes, gieok.caches.indexes.bytes) > OWNER_BYTES
    if end == "erased":
        gieok.vault.begin_erasure("kim")
    elif end == "rotated":
        gieok.vault.rotate_owner("kim")
    else:
        gieok.vault.forget("kim")
    assert gieok.caches.bytes == 0


async def test_an_erasure_during_a_transaction_leaves_nothing_in_the_caches(gieok: Gieok) -> None:
    scope = gieok.scope("kim")
    await save(scope, memory())

    def erase_then_read(view: SqlView) -> int:
        gieok.vault.begin_erasure("kim")
        return len(view.companion.load("hana", 5))

    assert await scope.read(erase_then_read) == 1
    assert gieok.caches.bytes == 0


def test_the_two_caches_are_bounded_separately() -> None:
    caches = Caches.create(values_bytes=KIB, indexes_bytes=10 * KIB)
    kim = caches.of("kim")
    kim.values.put("row", "value", 2 * KIB)
    kim.indexes.put("index", "index", 2 * KIB)
    assert (kim.values.get("row"), kim.indexes.get("index")) == (None, "index")
