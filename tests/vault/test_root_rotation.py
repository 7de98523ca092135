"""Root key rotation while services run; it can be interrupted at any point."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from gieok.errors import Conflict, RootKeyMismatch, RootKeyMissing, SettingsInvalid
from gieok.testing.contracts.keystores import at_once
from gieok.vault import EnvRootKey, FileRootKey, KeyStore, MountedRootKey, Place, RootKey, RootRotation, Vault
from tests.vault.opening import Opener

HERE = Place("turn_memories", "summary", "018f-01")


@pytest.fixture
def root_file(tmp_path: Path) -> Path:
    return tmp_path / "secrets" / "root.key"


def id_in(file: Path) -> str:
    return RootKey.parse(file.read_text(), str(file)).id


def root_id_of(keystore: KeyStore) -> str:
    head = keystore.head()
    assert head is not None
    return head.root_id


def test_a_rotation_changes_the_root_key_and_keeps_the_data(
    keystores: Opener, root: FileRootKey, root_file: Path
) -> None:
    """Same content, same tokens, another key in the file and in the keystore."""
    vault = Vault(keystores.open(), root)
    keys = vault.create("kim")
    sealed, old = keys.seal(HERE, b"secret"), id_in(root_file)
    vault.begin_erasure("lee")
    rotation = vault.rotate_root()
    assert rotation == RootRotation(old, id_in(root_file), keys=2, finished=True)
    assert old != rotation.new_id == vault.status().root_id
    assert os.listdir(root_file.parent) == ["root.key"]
    reopened = Vault(keystores.open(), FileRootKey(root_file))
    assert reopened.keys("kim").open(HERE, sealed) == b"secret"
    assert reopened.keys("kim").token("turn.word", "영화") == keys.token("turn.word", "영화")
    assert reopened.is_erased("lee")


def test_a_running_process_switches_over_after_a_rotation(
    keystores: Opener, root: FileRootKey, root_file: Path
) -> None:
    """Reading, creating and rotating still work in a process that was not notified."""
    vault, running = Vault(keystores.open(), root), Vault(keystores.open(), FileRootKey(root_file))
    sealed = vault.create("kim").seal(HERE, b"secret")
    vault.rotate_root()
    assert running.keys("kim").open(HERE, sealed) == b"secret"
    vault.rotate_root()
    assert running.create("lee").open(HERE, vault.keys("lee").seal(HERE, b"new")) == b"new"
    vault.rotate_root()
    assert running.rotate_owner("kim").generation == 2
    vault.rotate_root()
    assert (running.retire_old("kim", 2), running.is_erased("kim")) == (1, False)
    vault.rotate_root()
    assert running.rotate_root().new_id == id_in(root_file) == running.status().root_id


ROTATE_AND_DIE = """
import os, sys
from pathlib import Path
from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.vault import FileRootKey, Vault

keystore_file, root_file, point = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def die_at(here):
    if here == point:
        os._exit(9)

class Root(FileRootKey):
    def prepare_next(self):
        die_at("before the successor is written")
        successor = super().prepare_next()
        die_at("after the successor was written")
        return successor

    def promote(self, successor):
        die_at("after the keystore went over")
        done = super().promote(successor)
        die_at("after the file was replaced")
        return done

class KeyStore(SqliteKeyStore):
    def rewrap(self, root_id, head, rewrap):
        def rewrap_or_die(key):
            if key.owner == "owner-20":
                # Flush the open transaction, so that the next process finds a journal to roll back.
                self._connection.cache_flush()
                die_at("while keys are wrapped anew")
            return rewrap(key)
        return super().rewrap(root_id, head, rewrap_or_die)

Vault(KeyStore(keystore_file), Root(root_file)).rotate_root()
"""


@pytest.mark.parametrize(
    ("point", "goes_over"),
    [
        ("before the successor is written", False),
        ("after the successor was written", False),
        ("while keys are wrapped anew", False),
        ("after the keystore went over", True),
        ("after the file was replaced", True),
    ],
)
def test_a_rotation_may_be_interrupted_at_any_point(
    sqlite_keystores: Opener, root: FileRootKey, root_file: Path, tmp_path: Path, point: str, goes_over: bool
) -> None:
    """New and running processes find the right key; a later rotation succeeds."""
    keystore_file = tmp_path / "data" / "gieok.db.keys"
    running = Vault(sqlite_keystores.open(), root)
    for number in range(40):
        running.create(f"owner-{number}")
    sealed = running.keys("owner-20").seal(HERE, b"secret")
    old = id_in(root_file)
    command = [sys.executable, "-c", ROTATE_AND_DIE, str(keystore_file), str(root_file), point]
    assert subprocess.run(command, check=False, timeout=60).returncode == 9

    keystore = sqlite_keystores.open()
    reopened = Vault(keystore, FileRootKey(root_file))
    assert (root_id_of(keystore) != old) is goes_over
    assert id_in(root_file) == root_id_of(keystore)
    assert reopened.keys("owner-20").open(HERE, sealed) == b"secret"
    assert running.create("new").open(HERE, reopened.keys("new").seal(HERE, b"new")) == b"new"
    rotation = running.rotate_root()
    assert (rotation.keys, rotation.new_id) == (82, id_in(root_file))
    assert os.listdir(root_file.parent) == ["root.key"]
    assert reopened.keys("owner-7").open(HERE, Vault(keystore, root).keys("owner-7").seal(HERE, b"7")) == b"7"


def test_concurrent_rotations_lose_nothing(keystores: Opener, root: FileRootKey, root_file: Path) -> None:
    """The second one rotates again or gets a Conflict; the key in the file is always the right one."""
    vaults = [Vault(keystores.open(), FileRootKey(root_file)) for _ in range(3)]
    sealed = vaults[0].create("kim").seal(HERE, b"secret")

    def rotate(vault: Vault) -> bool:
        try:
            vault.rotate_root()
        except Conflict:
            return False
        return True

    for _ in range(5):
        assert any(at_once(*[lambda vault=vault: rotate(vault) for vault in vaults]))
        keystore = keystores.open()
        assert Vault(keystore, FileRootKey(root_file)).keys("kim").open(HERE, sealed) == b"secret"
        assert id_in(root_file) == root_id_of(keystore)


class Overtaken(FileRootKey):
    """Another process rotates right after this one has read the head of the keystore."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.others: list[Vault] = []

    def load_next(self) -> RootKey | None:
        if self.others:
            self.others.pop().rotate_root()
        return super().load_next()


def test_a_rotation_continues_after_a_concurrent_one_has_finished(keystores: Opener, root_file: Path) -> None:
    source = Overtaken(root_file)
    vault, other = (Vault(keystores.open(), each) for each in (source, FileRootKey(root_file)))
    sealed = vault.create("kim").seal(HERE, b"secret")
    source.others.append(other)
    rotation = vault.rotate_root()
    assert (rotation.new_id, rotation.finished) == (id_in(root_file), True)
    source.others.append(other)
    assert Vault(keystores.open(), source).keys("kim").open(HERE, sealed) == b"secret"


def test_a_later_rotation_is_not_promoted_by_an_earlier_one(root: FileRootKey, root_file: Path) -> None:
    """A slow process must not install a key that wraps nothing yet."""
    first = root.create()
    successor = root.prepare_next()
    assert root.promote(successor)
    later = root.prepare_next()
    assert later.id not in (first.id, successor.id)
    assert root.promote(successor)
    assert id_in(root_file) == successor.id


def test_an_existing_successor_is_used_and_not_replaced(root: FileRootKey) -> None:
    """Another process may be about to rotate to it."""
    root.create()
    assert root.prepare_next().id == root.prepare_next().id


def test_the_environment_rotates_to_the_next_key(sqlite_keystores: Opener) -> None:
    """Every process that has both keys keeps working; a person then replaces the variables."""
    old, new = RootKey.generate(), RootKey.generate()
    both = {"GIEOK_ROOT_KEY": old.to_text(), "GIEOK_ROOT_KEY_NEXT": new.to_text()}
    vault, running = (
        Vault(sqlite_keystores.open(), EnvRootKey(both)),
        Vault(sqlite_keystores.open(), EnvRootKey(both)),
    )
    sealed = vault.create("kim").seal(HERE, b"secret")
    assert vault.rotate_root() == RootRotation(old.id, new.id, keys=2, finished=False)
    swapped = Vault(sqlite_keystores.open(), EnvRootKey({"GIEOK_ROOT_KEY": new.to_text()}))
    for other in (running, swapped, Vault(sqlite_keystores.open(), EnvRootKey(both))):
        assert other.keys("kim").open(HERE, sealed) == b"secret"


def test_a_process_without_the_next_key_fails_after_a_rotation(sqlite_keystores: Opener) -> None:
    """It neither reads with a wrong key nor adds keys that cannot be unwrapped."""
    old, new = RootKey.generate(), RootKey.generate()
    both = {"GIEOK_ROOT_KEY": old.to_text(), "GIEOK_ROOT_KEY_NEXT": new.to_text()}
    vault = Vault(sqlite_keystores.open(), EnvRootKey(both))
    behind = Vault(sqlite_keystores.open(), EnvRootKey({"GIEOK_ROOT_KEY": old.to_text()}))
    vault.create("kim")
    vault.rotate_root()
    retire_old = partial(behind.retire_old, generation=2)
    for refuse in (behind.keys, behind.create, behind.rotate_owner, retire_old):
        with pytest.raises(RootKeyMismatch, match=f"{new.id}.*{old.id}"):
            refuse("kim")
    assert vault.status().owners == 1


def test_a_rotation_needs_another_key(sqlite_keystores: Opener) -> None:
    """Without a successor, or with the same key, nothing is changed."""
    text = RootKey.generate().to_text()
    vault = Vault(sqlite_keystores.open(), EnvRootKey({"GIEOK_ROOT_KEY": text}))
    with pytest.raises(RootKeyMissing, match="GIEOK_ROOT_KEY_NEXT"):
        vault.rotate_root()
    same = EnvRootKey({"GIEOK_ROOT_KEY": text, "GIEOK_ROOT_KEY_NEXT": text})
    with pytest.raises(SettingsInvalid, match="the one in use"):
        Vault(sqlite_keystores.open(), same).rotate_root()


def test_a_mounted_secret_rotates_to_the_file_beside_it(sqlite_keystores: Opener, tmp_path: Path) -> None:
    """Gieok reads both files and writes neither."""
    old, new = RootKey.generate(), RootKey.generate()
    file, beside = tmp_path / "root", tmp_path / "root.next"
    for path, key in ((file, old), (beside, new)):
        path.write_text(key.to_text())
        path.chmod(0o400)
    vault = Vault(sqlite_keystores.open(), MountedRootKey(file))
    assert vault.rotate_root() == RootRotation(old.id, new.id, keys=0, finished=False)
    assert (id_in(file), id_in(beside)) == (old.id, new.id)
    assert Vault(sqlite_keystores.open(), MountedRootKey(file)).status().root_id == new.id


@pytest.mark.req("OPS-2")
def test_a_lost_root_key_is_never_replaced_by_a_new_one(
    sqlite_keystores: Opener, root: FileRootKey, root_file: Path
) -> None:
    """If sealed data exists, the error names the missing key and no key is created."""
    Vault(sqlite_keystores.open(), root).create("kim")
    lost = id_in(root_file)
    root_file.unlink()
    with pytest.raises(RootKeyMissing, match=lost):
        Vault(sqlite_keystores.open(), root)
    assert os.listdir(root_file.parent) == []


def test_another_root_key_is_refused_with_both_ids(
    sqlite_keystores: Opener, root: FileRootKey, root_file: Path
) -> None:
    """The operator sees which key is needed and which is configured."""
    Vault(sqlite_keystores.open(), root)
    other = RootKey.generate()
    with pytest.raises(RootKeyMismatch, match=f"{id_in(root_file)}.*{other.id}"):
        Vault(sqlite_keystores.open(), EnvRootKey({"GIEOK_ROOT_KEY": other.to_text()}))
