"""The three places that a root key may come from, in the order in which they are asked.

1. `GIEOK_ROOT_KEY`: the key itself. Its successor is `GIEOK_ROOT_KEY_NEXT`.
2. `GIEOK_ROOT_KEY_FILE`: a mounted secret, which Gieok only reads. Its successor is mounted as `<file>.next`.
3. A file that Gieok makes and rotates itself, outside the data folder: a copy of the data carries no key.

A key file must be a regular file of this user or of root that nobody else can read. One that belongs to
root may also be readable by its group (mode 0440): so orchestrators hand a secret to a process that is not
root.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gieok.errors import RootKeyMissing, RootKeyUnsafe
from gieok.vault.root_key import RootKey, RootKeySource

ENV_KEY = "GIEOK_ROOT_KEY"
ENV_NEXT = "GIEOK_ROOT_KEY_NEXT"
ENV_FILE = "GIEOK_ROOT_KEY_FILE"
_LONGEST_FILE = 1024


def choose_root_key(
    environ: Mapping[str, str], default_file: Path, data_folder: Path | None
) -> RootKeySource:
    """The first source that is set. A key file inside `data_folder` is refused with `RootKeyUnsafe`."""
    if ENV_KEY in environ:
        return EnvRootKey(environ)
    mounted = environ.get(ENV_FILE)
    file = Path(mounted) if mounted is not None else default_file
    if data_folder is not None and file.resolve().is_relative_to(data_folder.resolve()):
        raise RootKeyUnsafe(
            f"the root key file {file} is inside the data folder {data_folder}, and a copy of that would "
            f"carry it; move the file elsewhere and set {ENV_FILE} to it"
        )
    return MountedRootKey(file) if mounted is not None else FileRootKey(file)


class EnvRootKey:
    """The root key in an environment variable. Gieok never changes it: after a rotation a person does."""

    name = ENV_KEY

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def load(self) -> RootKey | None:
        return self._read(ENV_KEY)

    def load_next(self) -> RootKey | None:
        return self._read(ENV_NEXT)

    def create(self) -> RootKey:
        raise RootKeyMissing(f"{ENV_KEY} is not set; set it to a root key, as from `openssl rand -base64 32`")

    def prepare_next(self) -> RootKey:
        successor = self.load_next()
        if successor is None:
            raise RootKeyMissing(f"there is no key to rotate to; set {ENV_NEXT} beside {ENV_KEY} everywhere")
        return successor

    def promote(self, successor: RootKey) -> bool:
        return _same(self.load(), successor)

    def _read(self, variable: str) -> RootKey | None:
        text = self._environ.get(variable)
        return None if text is None else RootKey.parse(text, variable)


class _KeyFile:
    """A key in a file, and its successor beside it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._next = file.with_name(file.name + ".next")

    @property
    def name(self) -> str:
        return str(self._file)

    def load(self) -> RootKey | None:
        return read_key_file(self._file)

    def load_next(self) -> RootKey | None:
        return read_key_file(self._next)


class MountedRootKey(_KeyFile):
    """The root key in a file that someone else provides. Gieok never writes it."""

    def create(self) -> RootKey:
        raise RootKeyMissing(f"{ENV_FILE} names {self._file}, and nothing is there; mount the secret there")

    def prepare_next(self) -> RootKey:
        successor = self.load_next()
        if successor is None:
            raise RootKeyMissing(
                f"there is no key to rotate to; mount the new key as {self._next} everywhere"
            )
        return successor

    def promote(self, successor: RootKey) -> bool:
        return _same(self.load(), successor)


class FileRootKey(_KeyFile):
    """The root key in a file of Gieok's own. Several processes of one machine may share it."""

    def create(self) -> RootKey:
        return self._load_or_write(self._file)

    def prepare_next(self) -> RootKey:
        """A successor that waits is never replaced: another process may be about to rotate to it."""
        return self._load_or_write(self._next)

    def promote(self, successor: RootKey) -> bool:
        """Only if the file that waits is `successor`: by now it may be the one of a later rotation."""
        try:
            with _exclusive(self._file.parent) as folder:
                if _same(self.load_next(), successor):
                    self._next.replace(self._file)
                    os.fsync(folder)
        except OSError:
            return False
        return _same(self.load(), successor)

    def _load_or_write(self, file: Path) -> RootKey:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _exclusive(file.parent) as folder:
                return read_key_file(file) or _write_key_file(file, RootKey.generate(), folder)
        except OSError as error:
            raise RootKeyMissing(
                f"a root key cannot be written to {file} ({error.strerror}); let this user write to its "
                f"folder, or set {ENV_KEY} or {ENV_FILE}"
            ) from error


def read_key_file(file: Path) -> RootKey | None:
    """The key in `file`, None when there is no such file; `RootKeyUnsafe` when others could read it too."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for someone to write to it.
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RootKeyUnsafe(
            f"the root key file {file} cannot be read ({error.strerror}); let this user read it"
        ) from error
    try:
        _check_private(file, os.fstat(handle))
        raw = os.read(handle, _LONGEST_FILE)
    finally:
        os.close(handle)
    return RootKey.parse(raw.decode("ascii", errors="replace"), f"the file {file}")


def _check_private(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise RootKeyUnsafe(f"the root key file {file} is not a regular file; put the key in one")
    if found.st_uid not in (0, os.geteuid()):
        raise RootKeyUnsafe(
            f"the root key file {file} belongs to another user (uid {found.st_uid}), who can read it; "
            f"run `chown {os.geteuid()} {file}`"
        )
    forbidden = 0o037 if found.st_uid == 0 != os.geteuid() else 0o077
    if found.st_mode & forbidden:
        raise RootKeyUnsafe(
            f"the root key file {file} is open to other users (mode {stat.S_IMODE(found.st_mode):04o}); "
            f"run `chmod 600 {file}`, or set its mode to 0400 where the secret is mounted"
        )


def _write_key_file(file: Path, key: RootKey, folder: int) -> RootKey:
    """`file` is there whole and on disk, or not at all. The caller holds the folder."""
    unfinished = file.with_name(file.name + ".unfinished")
    with suppress(FileNotFoundError):
        unfinished.unlink()
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, key.to_text().encode() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    unfinished.rename(file)
    os.fsync(folder)
    return key


def _same(one: RootKey | None, other: RootKey) -> bool:
    return one is not None and one.id == other.id


@contextmanager
def _exclusive(folder: Path) -> Generator[int]:
    """Hold `folder` against the other processes of this machine; its handle."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)
