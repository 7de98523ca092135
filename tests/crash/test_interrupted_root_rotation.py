"""An interrupted rotation of the root key is finished by the next process, even by two concurrently."""

from __future__ import annotations

from pathlib import Path

import pytest

from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.vault import FileRootKey, Vault
from gieok.vault.root_key import RootKey


class Interrupted(FileRootKey):
    """Dies before it can replace the old key by the new one."""

    def promote(self, successor: RootKey) -> bool:
        return False


class Overtaken(FileRootKey):
    """Another process promotes the new key after this one has read the first of the two files."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._other: FileRootKey | None = FileRootKey(file)

    def load(self) -> RootKey | None:
        return self._then_overtaken(super().load())

    def load_next(self) -> RootKey | None:
        return self._then_overtaken(super().load_next())

    def _then_overtaken(self, found: RootKey | None) -> RootKey | None:
        other, self._other = self._other, None
        if other and (successor := other.load_next()):
            other.promote(successor)
        return found


@pytest.mark.req("ENG-6")
def test_a_root_key_that_is_promoted_while_it_is_loaded_is_found(tmp_path: Path) -> None:
    file, keys = tmp_path / "config" / "root.key", tmp_path / "data" / "keys"
    keystore = SqliteKeyStore(keys)
    rotated = Vault(keystore, Interrupted(file)).rotate_root()
    assert not rotated.finished
    assert Vault(keystore, Overtaken(file)).status().root_id == rotated.new_id
    keystore.close()
