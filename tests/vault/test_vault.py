"""Each owner's keys are created once, loaded again, rotated and destroyed."""

from __future__ import annotations

import copy
import pickle
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.errors import InputRefused, NotFound, OwnerErased, SealBroken, StoreDamaged
from gieok.testing.contracts.keystores import at_once
from gieok.vault import FileRootKey, Place, RootKey, Vault, WrappedKey
from gieok.vault.keys import unwrap
from tests.vault.opening import Opener

HERE = Place("turn_memories", "summary", "018f-01")


def test_an_owner_has_the_same_keys_in_every_process(keystores: Opener, root: FileRootKey) -> None:
    """A value sealed and indexed by one process is opened and found by another."""
    one, other = Vault(keystores.open(), root), Vault(keystores.open(), root)
    made = one.create("철수")
    sealed, token = made.seal(HERE, b"secret"), made.token("turn.word", "영화")
    for found in (other.keys("철수"), other.create("철수"), Vault(keystores.open(), root).keys("철수", 1)):
        assert (found.open(HERE, sealed), found.token("turn.word", "영화")) == (b"secret", token)
        assert (found.owner, found.generation) == ("철수", 1)


@pytest.mark.req("OPS-4")
def test_owners_have_different_keys(vault: Vault) -> None:
    """One owner's keys do not open another's values."""
    with pytest.raises(SealBroken):
        vault.create("lee").open(HERE, vault.create("kim").seal(HERE, b"secret"))


def test_concurrent_creations_give_the_same_keys(keystores: Opener, root: FileRootKey) -> None:
    """Across threads and processes."""
    vaults = [Vault(keystores.open(), root) for _ in range(2)] * 3
    made = at_once(*[lambda vault=vault: vault.create("kim") for vault in vaults])
    assert {keys.token("turn.word", "영화") for keys in made} == {
        vaults[0].keys("kim").token("turn.word", "영화")
    }
    assert all(keys.open(HERE, made[0].seal(HERE, b"secret")) == b"secret" for keys in made)


def test_an_owner_without_keys_is_not_found(vault: Vault) -> None:
    """Reading never creates keys."""
    with pytest.raises(NotFound):
        vault.keys("kim")
    with pytest.raises(NotFound):
        vault.rotate_owner("kim")
    assert vault.status().owners == 0


def test_an_owner_needs_a_name(vault: Vault) -> None:
    """An empty owner is an error everywhere."""
    for refuse in (vault.create, vault.begin_erasure):
        with pytest.raises(InputRefused, match="owner"):
            refuse("")


def test_a_keystore_older_than_the_database_raises_store_damaged(vault: Vault) -> None:
    """The database needs keys that the keystore lacks; other keys are not used instead."""
    with pytest.raises(StoreDamaged, match="older than the database"):
        vault.keys("kim", 1)
    vault.create("kim")
    with pytest.raises(StoreDamaged, match="older than the database"):
        vault.keys("kim", 2)


def test_after_a_rotation_the_new_key_seals_and_the_old_one_still_opens(
    keystores: Opener, root: FileRootKey
) -> None:
    """Tokens do not change, and another process follows when the guard row has the new generation."""
    vault, other = Vault(keystores.open(), root), Vault(keystores.open(), root)
    old = vault.create("kim")
    before = old.seal(HERE, b"before")
    other.keys("kim")
    rotated = vault.rotate_owner("kim")
    after = rotated.seal(HERE, b"after")
    assert (rotated.generation, vault.keys("kim").generation) == (2, 2)
    for keys in (rotated, other.keys("kim", 2)):
        assert (keys.open(HERE, before), keys.open(HERE, after)) == (b"before", b"after")
        assert keys.token("turn.word", "영화") == old.token("turn.word", "영화")
    with pytest.raises(SealBroken):
        old.open(HERE, after)


def test_values_under_a_retired_key_do_not_open(vault: Vault) -> None:
    """Only the newest data key is left."""
    before = vault.create("kim").seal(HERE, b"before")
    after = vault.rotate_owner("kim").seal(HERE, b"after")
    assert vault.retire_old("kim", 2) == 1
    keys = vault.keys("kim", 2)
    assert keys.open(HERE, after) == b"after"
    with pytest.raises(SealBroken):
        keys.open(HERE, before)
    assert vault.retire_old("kim", 2) == 0


def test_more_owners_than_the_cache_holds_are_all_served(sqlite_keystores: Opener, root: FileRootKey) -> None:
    """Evicted keys are loaded again."""
    vault = Vault(sqlite_keystores.open(), root, cached_owners=2)
    sealed = {owner: vault.create(owner).seal(HERE, owner.encode()) for owner in ("a", "b", "c", "d", "e")}
    assert all(vault.keys(owner).open(HERE, value) == owner.encode() for owner, value in sealed.items())


def test_listeners_are_called_for_every_owner_whose_keys_are_removed(
    sqlite_keystores: Opener, root: FileRootKey
) -> None:
    """Decrypted data is cleared together with the keys."""
    vault = Vault(sqlite_keystores.open(), root, cached_owners=2)
    removed: list[str] = []
    vault.on_keys_removed(removed.append)
    for owner in ("evicted", "rotated", "erased"):
        vault.create(owner)
    vault.rotate_owner("rotated")
    vault.begin_erasure("erased")
    vault.forget("unknown")
    assert removed == ["evicted", "rotated", "erased", "unknown"]


@pytest.mark.req("OPS-2")
def test_listeners_are_called_after_a_rotation_by_another_process(
    keystores: Opener, root: FileRootKey
) -> None:
    vault = Vault(keystores.open(), root)
    removed: list[str] = []
    vault.on_keys_removed(removed.append)
    vault.create("kim")
    Vault(keystores.open(), root).rotate_owner("kim")
    assert removed == []
    vault.keys("kim", 2)
    assert removed == ["kim"]


def test_cached_keys_are_the_same_object(vault: Vault) -> None:
    """No key is unwrapped twice while it is cached."""
    made = vault.create("kim")
    assert vault.keys("kim") is vault.keys("kim", 1) is made


@pytest.mark.req("OPS-3")
def test_an_erasure_by_another_process_is_noticed_when_keys_are_created(
    keystores: Opener, root: FileRootKey
) -> None:
    """Cached keys do not restore an erased owner."""
    vault = Vault(keystores.open(), root)
    vault.create("kim")
    Vault(keystores.open(), root).begin_erasure("kim")
    with pytest.raises(OwnerErased):
        vault.create("kim")


@pytest.mark.req("OPS-3")
def test_an_erased_owner_is_unreadable_at_once_and_permanently(keystores: Opener, root: FileRootKey) -> None:
    """Keys are destroyed first: nothing opens even while rows exist, and the name is refused."""
    vault = Vault(keystores.open(), root)
    vault.create("kim")
    vault.create("lee")
    vault.begin_erasure("kim")
    for refuse in (vault.keys, vault.create, vault.rotate_owner, Vault(keystores.open(), root).create):
        with pytest.raises(OwnerErased):
            refuse("kim")
    vault.finish_erasure("kim")
    with pytest.raises(OwnerErased):
        vault.create("kim")
    assert vault.keys("lee")


class InterruptedKeyStore(SqliteKeyStore):
    """Runs a callback between reading keys and using them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.then: Callable[[], None] = lambda: None

    def read(self, root_id: str, owner: str, tag: bytes) -> Sequence[WrappedKey]:
        kept = super().read(root_id, owner, tag)
        then, self.then = self.then, lambda: None
        then()
        return kept


@pytest.mark.req("OPS-3")
def test_keys_erased_while_they_are_loaded_are_not_cached(tmp_path: Path, root: FileRootKey) -> None:
    """A slow reader does not cache the keys of an erased owner."""
    Vault(keystore := InterruptedKeyStore(tmp_path / "keys"), root).create("kim")
    vault = Vault(keystore, root)
    keystore.then = lambda: vault.begin_erasure("kim")
    vault.keys("kim")
    with pytest.raises(OwnerErased):
        vault.keys("kim")
    vault.close()


@pytest.mark.req("OPS-3")
def test_an_erasure_is_resumed_by_another_process(keystores: Opener, root: FileRootKey) -> None:
    """The tombstone holds the name until the erasure is finished, and only a tag afterwards."""
    Vault(keystores.open(), root).begin_erasure("kim")
    vault = Vault(keystores.open(), root)
    assert vault.unfinished_erasures() == ["kim"]
    vault.begin_erasure("kim")
    vault.finish_erasure("kim")
    vault.finish_erasure("kim")
    assert vault.unfinished_erasures() == []
    assert [Vault(keystores.open(), root).is_erased(owner) for owner in ("kim", "lee")] == [True, False]


def test_an_erasure_that_was_not_begun_cannot_be_finished(vault: Vault) -> None:
    """Rows are never deleted while their keys exist."""
    with pytest.raises(NotFound):
        vault.finish_erasure("kim")


def test_status_for_operators(sqlite_keystores: Opener, root: FileRootKey, tmp_path: Path) -> None:
    """Counts, locations and the age of the oldest key."""
    vault = Vault(sqlite_keystores.open(), root, clock=lambda: 1_700_000_000.9)
    for owner in ("kim", "lee", "park"):
        vault.create(owner)
    vault.begin_erasure("lee")
    vault.begin_erasure("park")
    vault.finish_erasure("park")
    status = vault.status()
    assert (status.owners, status.keys, status.erased, status.unfinished_erasures) == (1, 2, 1, 1)
    assert status.oldest_key == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert status.root_source == str(tmp_path / "secrets" / "root.key")
    assert status.root_id == root.create().id


def test_an_altered_wrapped_key_raises_store_damaged(
    vault: Vault, sqlite_keystores: Opener, root: FileRootKey, tmp_path: Path
) -> None:
    """Swapping two owners' rows in the keystore is detected."""
    vault.create("kim")
    vault.create("lee")
    keystore = sqlite_file.connect(tmp_path / "data" / "gieok.db.keys", lock_seconds=1)
    keystore.execute(
        "UPDATE wrapped_keys SET (key_id, wrapped) = (SELECT key_id, wrapped FROM wrapped_keys AS other "
        "WHERE other.owner = 'lee' AND other.purpose = wrapped_keys.purpose) WHERE owner = 'kim'"
    )
    keystore.close()
    fresh = Vault(sqlite_keystores.open(), root)
    with pytest.raises(StoreDamaged, match="altered or damaged"):
        fresh.keys("kim")


def test_the_stored_format_of_a_wrapped_key_has_not_changed() -> None:
    """A key that an earlier version wrapped can still be unwrapped."""
    wrapped = bytes.fromhex(
        "00112233445566778899aabb"
        "7bb14d4b27cc354a5b7e5b775cf602161ae8d98f6a5ead366b7b903e3bc5f00160c2b0e5e761bd5a6277b7e15fe1f055"
    )
    key = WrappedKey("kim", "data", 7, bytes(range(8)), wrapped, created_at=0)
    assert unwrap(RootKey(bytes(range(100, 132))), key) == bytes(range(32))


def test_keys_are_never_shown_or_serialised(vault: Vault, root: FileRootKey) -> None:
    """repr, pickle and copy do not reveal a key."""
    root_key = root.create()
    owner_keys = vault.create("kim")
    assert repr(root_key) == str(root_key) == f"<RootKey {root_key.id}>"
    assert repr(owner_keys) == str(owner_keys) == "<OwnerKeys generation=1>"
    for holder in (root_key, owner_keys):
        for write_out in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="never pickled or copied"):
                write_out(holder)
        assert not hasattr(holder, "__dict__")
    assert root_key.to_text() not in repr(vault)


def test_a_failure_shows_no_key_and_no_content(vault: Vault) -> None:
    """A traceback in a log holds neither."""
    sealed = vault.create("kim").seal(HERE, b"my secret")
    with pytest.raises(SealBroken) as refused:
        vault.keys("kim").open(HERE._replace(row="other"), sealed)
    shown = "".join(traceback.format_exception(refused.value))
    assert "my secret" not in shown
    assert sealed.hex() not in shown
