"""Which root keys are accepted, and from where."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from gieok.errors import RootKeyMissing, RootKeyUnsafe
from gieok.vault import EnvRootKey, FileRootKey, MountedRootKey, RootKey, RootKeySource, choose_root_key

KEY = bytes(range(100, 131)) + b"\0"
TEXT = base64.b64encode(KEY).decode()


def choose(tmp_path: Path, **environ: str) -> RootKeySource:
    return choose_root_key(environ, tmp_path / "secrets" / "root.key", tmp_path / "data")


def mounted(tmp_path: Path, text: str = TEXT, mode: int = 0o600) -> Path:
    file = tmp_path / "mounted"
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.rstrip("="),
        f"  {TEXT}\n",
        base64.urlsafe_b64encode(KEY).decode(),
        KEY.hex(),
        KEY.hex().upper(),
    ],
)
def test_a_key_may_be_written_in_base64_or_hexadecimal(text: str) -> None:
    """Each encoding of the same bytes is the same key."""
    assert RootKey.parse(text, "here").id == RootKey(KEY).id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "password",
        TEXT[:-4],
        TEXT + TEXT,
        "!" * 44,
        "열쇠" * 22,
        KEY.hex()[:-2] + "zz",
        base64.b64encode(KEY[:16]).decode(),
        base64.b64encode(KEY + KEY).decode(),
    ],
)
def test_an_invalid_key_is_refused_without_showing_it(text: str) -> None:
    """The error has the remedy, but not the text."""
    with pytest.raises(RootKeyUnsafe, match=r"GIEOK_ROOT_KEY.*openssl rand -base64 32") as refused:
        RootKey.parse(text, "GIEOK_ROOT_KEY")
    assert not text or text not in str(refused.value)


@pytest.mark.parametrize(
    "key", [bytes(32), b"\xff" * 32, b"ab" * 16, b"12345678" * 4, bytes(range(32)), bytes(range(64, 0, -2))]
)
def test_a_weak_key_is_refused(key: bytes) -> None:
    """Zeros, repetitions and counting sequences are typed by people, not random."""
    with pytest.raises(RootKeyUnsafe, match="not random"):
        RootKey.parse(base64.b64encode(key).decode(), "GIEOK_ROOT_KEY")


def test_random_keys_are_accepted() -> None:
    """The check for weak keys never refuses a good one."""
    for _ in range(500):
        RootKey.parse(RootKey.generate().to_text(), "here")


def test_the_id_of_a_root_key_has_not_changed() -> None:
    """A keystore stores this id."""
    assert RootKey(bytes(range(100, 132))).id == "5b580a5509b2e914"


def test_the_environment_has_priority_over_the_mounted_file_and_that_over_the_default_file(
    tmp_path: Path,
) -> None:
    """As documented."""
    file = str(mounted(tmp_path))
    assert choose(tmp_path, GIEOK_ROOT_KEY=TEXT, GIEOK_ROOT_KEY_FILE=file).name == "GIEOK_ROOT_KEY"
    assert choose(tmp_path, GIEOK_ROOT_KEY_FILE=file).name == file
    assert choose(tmp_path).name == str(tmp_path / "secrets" / "root.key")


def test_an_empty_variable_is_not_ignored(tmp_path: Path) -> None:
    """A secret that was not injected must not lead to a new key."""
    with pytest.raises(RootKeyUnsafe, match="GIEOK_ROOT_KEY does not hold"):
        choose(tmp_path, GIEOK_ROOT_KEY="").load()


@pytest.mark.parametrize("inside", ["root.key", "deeper/root.key", "../data/root.key"])
def test_a_key_inside_the_data_folder_is_refused(tmp_path: Path, inside: str) -> None:
    """A copy of the data folder must not contain its key."""
    data = tmp_path / "data"
    with pytest.raises(RootKeyUnsafe, match="inside the data folder"):
        choose_root_key({}, data / inside, data)
    with pytest.raises(RootKeyUnsafe, match="inside the data folder"):
        choose_root_key({"GIEOK_ROOT_KEY_FILE": str(data / inside)}, tmp_path / "root.key", data)


def test_a_generated_key_is_private_and_persistent(tmp_path: Path) -> None:
    """Mode 0600 in a folder with mode 0700; the next process reads it again; no other file is left."""
    file = tmp_path / "secrets" / "root.key"
    made = FileRootKey(file).create()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert FileRootKey(file).create().id == made.id
    assert os.listdir(file.parent) == ["root.key"]
    loaded = FileRootKey(file).load()
    assert loaded is not None
    assert loaded.id == made.id


def test_a_partially_written_key_is_ignored(tmp_path: Path) -> None:
    """A process that died while writing its first key does not block the next one."""
    file = tmp_path / "root.key"
    (tmp_path / "root.key.unfinished").write_text(TEXT[:10])
    assert FileRootKey(file).load() is None
    made = FileRootKey(file).create()
    assert file.read_text().strip() == made.to_text()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o660])
def test_a_file_that_other_users_can_access_is_refused(tmp_path: Path, mode: int) -> None:
    """The error has the command that fixes it."""
    file = mounted(tmp_path, mode=mode)
    with pytest.raises(RootKeyUnsafe, match=f"chmod 600 {file}"):
        MountedRootKey(file).load()


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_file_is_accepted(tmp_path: Path, mode: int) -> None:
    """Writable or not."""
    assert MountedRootKey(mounted(tmp_path, mode=mode)).load() is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could read and change it in any mode."""
    file = mounted(tmp_path)
    os.chown(file, 12345, -1)
    with pytest.raises(RootKeyUnsafe, match="uid 12345"):
        MountedRootKey(file).load()


def test_a_path_that_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    """A folder or a pipe is not a key, and opening a pipe does not hang."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for unusable in (tmp_path, pipe):
        with pytest.raises(RootKeyUnsafe, match="not a regular file"):
            MountedRootKey(unusable).load()


def test_a_mounted_secret_may_be_a_symbolic_link(tmp_path: Path) -> None:
    """Orchestrators mount a link to the current version of a secret."""
    link = tmp_path / "link"
    link.symlink_to(mounted(tmp_path))
    assert MountedRootKey(link).load() is not None


def test_a_missing_variable_or_mounted_file_is_not_created(tmp_path: Path) -> None:
    """It is a configuration error, not a reason for a new key."""
    for source in (EnvRootKey({}), MountedRootKey(tmp_path / "absent")):
        assert source.load() is None
        for make in (source.create, source.prepare_next):
            with pytest.raises(RootKeyMissing):
                make()
    assert not os.listdir(tmp_path)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """With the file and the other ways to configure a key."""
    (tmp_path / "secrets").write_text("a file where a folder is needed")
    with pytest.raises(RootKeyMissing, match=r"root\.key.*GIEOK_ROOT_KEY"):
        FileRootKey(tmp_path / "secrets" / "root.key").create()
