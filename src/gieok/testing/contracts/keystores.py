"""Contract suite for keystores. Subclass it and define the fixture `open_keystore`.

class TestMyKeyStore(KeyStoreContract):
    @pytest.fixture
    def open_keystore(self, tmp_path): ...   # returns a function; each call opens the same keystore again
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from threading import Barrier
from typing import TypeVar

import pytest

from gieok.errors import Conflict, OwnerErased, RootKeyMismatch
from gieok.vault.keystore import Head, KeyStore, Purpose, WrappedKey

T = TypeVar("T")

OpenKeyStore = Callable[[], KeyStore]
ROOT = "00000000000000aa"
OTHER_ROOT = "00000000000000bb"
MADE_AT = 1_700_000_000


def a_key(owner: str, purpose: Purpose = "data", generation: int = 1) -> WrappedKey:
    return WrappedKey(owner, purpose, generation, os.urandom(8), os.urandom(60), MADE_AT)


def first_keys(owner: str) -> list[WrappedKey]:
    return [a_key(owner, "data"), a_key(owner, "index")]


def a_head(root_id: str = ROOT) -> Head:
    return Head(root_id, a_key("", "tags"))


def tag_of(owner: str) -> bytes:
    return owner.encode().ljust(32, b"\0")


def at_once(*actions: Callable[[], T]) -> list[T]:
    """Run all at the same moment, each on its own thread."""
    barrier = Barrier(len(actions))

    def run(action: Callable[[], T]) -> T:
        barrier.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(run, actions))


class KeyStoreContract:
    """Run against every keystore. `claimed` belongs to the root key `ROOT`."""

    @pytest.fixture
    def open_keystore(self) -> OpenKeyStore:
        raise NotImplementedError("a subclass provides the keystore")

    @pytest.fixture
    def claimed(self, open_keystore: OpenKeyStore) -> KeyStore:
        keystore = open_keystore()
        keystore.claim(a_head())
        return keystore

    def test_a_new_keystore_belongs_to_no_root_key(self, open_keystore: OpenKeyStore) -> None:
        assert open_keystore().head() is None

    def test_a_claim_is_durable(self, open_keystore: OpenKeyStore) -> None:
        head = a_head()
        assert open_keystore().claim(head) == head
        assert open_keystore().head() == head

    def test_a_second_claim_changes_nothing(self, claimed: KeyStore) -> None:
        assert claimed.claim(a_head(OTHER_ROOT)) == claimed.head()
        assert claimed.claim(a_head(OTHER_ROOT)).root_id == ROOT

    def test_one_of_two_concurrent_claims_wins(self, open_keystore: OpenKeyStore) -> None:
        one, other = open_keystore(), open_keystore()
        first, second = at_once(lambda: one.claim(a_head()), lambda: other.claim(a_head(OTHER_ROOT)))
        assert first == second == one.head()

    def test_an_owner_without_keys_has_none(self, claimed: KeyStore) -> None:
        assert list(claimed.read(ROOT, "철수", tag_of("철수"))) == []

    def test_inserted_keys_are_returned_unchanged(
        self, claimed: KeyStore, open_keystore: OpenKeyStore
    ) -> None:
        keys = first_keys("철수")
        assert list(claimed.insert(ROOT, tag_of("철수"), keys)) == keys
        assert list(open_keystore().read(ROOT, "철수", tag_of("철수"))) == keys

    def test_keys_belong_to_one_owner(self, claimed: KeyStore) -> None:
        mine, theirs = first_keys("kim"), first_keys("Kim")
        claimed.insert(ROOT, tag_of("kim"), mine)
        claimed.insert(ROOT, tag_of("Kim"), theirs)
        assert list(claimed.read(ROOT, "kim", tag_of("kim"))) == mine

    def test_a_second_insert_returns_the_first_keys(self, claimed: KeyStore) -> None:
        keys = first_keys("kim")
        claimed.insert(ROOT, tag_of("kim"), keys)
        assert list(claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))) == keys

    def test_one_of_two_concurrent_inserts_wins(self, claimed: KeyStore, open_keystore: OpenKeyStore) -> None:
        other = open_keystore()
        first, second = at_once(
            lambda: list(claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))),
            lambda: list(other.insert(ROOT, tag_of("kim"), first_keys("kim"))),
        )
        assert first == second == list(claimed.read(ROOT, "kim", tag_of("kim")))

    def test_an_added_data_key_is_read_after_the_older_one(self, claimed: KeyStore) -> None:
        data, index = claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))
        added = a_key("kim", generation=2)
        claimed.add(ROOT, tag_of("kim"), added)
        assert list(claimed.read(ROOT, "kim", tag_of("kim"))) == [data, added, index]

    @pytest.mark.parametrize("generation", [1, 3])
    def test_a_gap_in_the_generations_is_a_conflict(self, claimed: KeyStore, generation: int) -> None:
        kept = claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))
        with pytest.raises(Conflict):
            claimed.add(ROOT, tag_of("kim"), a_key("kim", generation=generation))
        assert claimed.read(ROOT, "kim", tag_of("kim")) == kept

    def test_adding_a_key_for_an_unknown_owner_is_a_conflict(self, claimed: KeyStore) -> None:
        with pytest.raises(Conflict):
            claimed.add(ROOT, tag_of("kim"), a_key("kim", generation=2))

    def test_deleting_older_keys_leaves_the_newest_and_the_index_key(self, claimed: KeyStore) -> None:
        index = claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))[-1]
        claimed.insert(ROOT, tag_of("lee"), first_keys("lee"))
        newest = a_key("kim", generation=3)
        claimed.add(ROOT, tag_of("kim"), a_key("kim", generation=2))
        claimed.add(ROOT, tag_of("kim"), newest)
        assert claimed.delete_older(ROOT, "kim", 2) == 1
        assert claimed.delete_older(ROOT, "kim", 9) == 1
        assert list(claimed.read(ROOT, "kim", tag_of("kim"))) == [newest, index]
        assert claimed.delete_older(ROOT, "kim", 3) == 0
        assert len(claimed.read(ROOT, "lee", tag_of("lee"))) == 2

    def test_another_root_key_can_neither_read_nor_change(self, claimed: KeyStore) -> None:
        kept = claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))
        head = claimed.head()
        attempts: Sequence[Callable[[], object]] = [
            lambda: claimed.read(OTHER_ROOT, "kim", tag_of("kim")),
            lambda: claimed.insert(OTHER_ROOT, tag_of("lee"), first_keys("lee")),
            lambda: claimed.add(OTHER_ROOT, tag_of("kim"), a_key("kim", generation=2)),
            lambda: claimed.delete_older(OTHER_ROOT, "kim", 2),
            lambda: claimed.rewrap(OTHER_ROOT, a_head(), lambda key: replace(key, wrapped=bytes(60))),
        ]
        for attempt in attempts:
            with pytest.raises(RootKeyMismatch, match=f"{ROOT}.*{OTHER_ROOT}"):
                attempt()
        assert (claimed.head(), claimed.counts().keys) == (head, 2)
        assert claimed.read(ROOT, "kim", tag_of("kim")) == kept

    def test_rewrapping_replaces_the_head_and_every_key(self, claimed: KeyStore) -> None:
        many = [a_key("kim", generation=number) for number in range(1, 1201)] + [a_key("lee"), a_key("박")]
        claimed.insert(ROOT, tag_of("kim"), many)
        head = replace(a_head(OTHER_ROOT), tag_key=replace(_head_of(claimed).tag_key, wrapped=os.urandom(60)))
        assert claimed.rewrap(ROOT, head, _reversed) == 1202
        assert claimed.head() == head
        assert list(claimed.read(OTHER_ROOT, "kim", tag_of("kim"))) == [_reversed(key) for key in many[:1200]]
        assert list(claimed.read(OTHER_ROOT, "박", tag_of("박"))) == [_reversed(many[-1])]

    def test_a_failed_rewrapping_changes_nothing(self, claimed: KeyStore) -> None:
        kept = list(claimed.insert(ROOT, tag_of("kim"), [a_key("kim", generation=n) for n in range(1, 700)]))
        head = claimed.head()

        def fail_at_the_end(key: WrappedKey) -> WrappedKey:
            if key.generation == 699:
                raise ZeroDivisionError
            return _reversed(key)

        with pytest.raises(ZeroDivisionError):
            claimed.rewrap(ROOT, a_head(OTHER_ROOT), fail_at_the_end)
        assert claimed.head() == head
        assert list(claimed.read(ROOT, "kim", tag_of("kim"))) == kept

    def test_erasing_destroys_the_keys_and_blocks_the_owner(self, claimed: KeyStore) -> None:
        claimed.insert(ROOT, tag_of("kim"), first_keys("kim"))
        claimed.begin_erasure("kim", tag_of("kim"))
        attempts: Sequence[Callable[[], object]] = [
            lambda: claimed.read(ROOT, "kim", tag_of("kim")),
            lambda: claimed.insert(ROOT, tag_of("kim"), first_keys("kim")),
            lambda: claimed.add(ROOT, tag_of("kim"), a_key("kim", generation=2)),
        ]
        for attempt in attempts:
            with pytest.raises(OwnerErased):
                attempt()
        assert claimed.counts().keys == 0

    def test_an_erasure_is_pending_until_it_is_finished(self, claimed: KeyStore) -> None:
        claimed.begin_erasure("kim", tag_of("kim"))
        claimed.begin_erasure("kim", tag_of("kim"))
        assert (list(claimed.unfinished_erasures()), claimed.has_tombstone(tag_of("kim"))) == (["kim"], True)
        assert claimed.finish_erasure(tag_of("kim"))
        assert (list(claimed.unfinished_erasures()), claimed.has_tombstone(tag_of("kim"))) == ([], True)

    def test_a_finished_erasure_stays_finished(self, claimed: KeyStore) -> None:
        claimed.begin_erasure("kim", tag_of("kim"))
        assert claimed.finish_erasure(tag_of("kim"))
        assert claimed.finish_erasure(tag_of("kim"))
        claimed.begin_erasure("kim", tag_of("kim"))
        assert list(claimed.unfinished_erasures()) == []

    def test_an_erasure_must_begin_before_it_is_finished(self, claimed: KeyStore) -> None:
        assert not claimed.finish_erasure(tag_of("kim"))
        assert not claimed.has_tombstone(tag_of("kim"))

    def test_a_concurrent_erasure_and_insert_leave_no_key(
        self, claimed: KeyStore, open_keystore: OpenKeyStore
    ) -> None:
        other = open_keystore()

        def insert(owner: str) -> None:
            try:
                other.insert(ROOT, tag_of(owner), first_keys(owner))
            except OwnerErased:
                return

        for owner in [f"owner-{number}" for number in range(20)]:
            at_once(
                lambda owner=owner: insert(owner),
                lambda owner=owner: claimed.begin_erasure(owner, tag_of(owner)),
            )
        assert claimed.counts().keys == 0

    def test_erased_owners_are_listed_in_pages(self, claimed: KeyStore) -> None:
        for owner in ("minsu", "jiyoung", "seojun"):
            claimed.begin_erasure(owner, tag_of(owner))
        claimed.finish_erasure(tag_of("minsu"))
        assert claimed.tombstones(b"", 2) == [tag_of("jiyoung"), tag_of("minsu")]
        assert claimed.tombstones(tag_of("minsu"), 2) == [tag_of("seojun")]
        assert claimed.tombstones(tag_of("seojun"), 2) == []

    def test_owners_with_keys_are_listed_in_pages(self, claimed: KeyStore) -> None:
        for owner in ("kim", "lee", "park"):
            claimed.insert(ROOT, tag_of(owner), first_keys(owner))
        claimed.begin_erasure("lee", tag_of("lee"))
        assert (claimed.owners("", 1), claimed.owners("kim", 5)) == (["kim"], ["park"])

    def test_counts(self, claimed: KeyStore) -> None:
        assert claimed.counts().oldest_key is None
        for owner in ("kim", "lee", "park"):
            claimed.insert(ROOT, tag_of(owner), first_keys(owner))
        claimed.add(ROOT, tag_of("kim"), replace(a_key("kim", generation=2), created_at=MADE_AT + 1))
        claimed.begin_erasure("lee", tag_of("lee"))
        claimed.begin_erasure("park", tag_of("park"))
        claimed.finish_erasure(tag_of("park"))
        counts = claimed.counts()
        assert (counts.owners, counts.keys, counts.erasing, counts.erased) == (1, 3, 1, 1)
        assert counts.oldest_key == datetime.fromtimestamp(MADE_AT, UTC)


def _head_of(keystore: KeyStore) -> Head:
    head = keystore.head()
    assert head is not None
    return head


def _reversed(key: WrappedKey) -> WrappedKey:
    return replace(key, wrapped=key.wrapped[::-1])
