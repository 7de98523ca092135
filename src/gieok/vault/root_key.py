"""The root key: 32 random bytes that wrap every other key, and the places it may come from.

It is written as text in base64 (`openssl rand -base64 32`); hexadecimal is read too. Sources, in the order in
which they are tried:

1. `GIEOK_ROOT_KEY`: the key itself. Its successor is `GIEOK_ROOT_KEY_NEXT`.
2. `GIEOK_ROOT_KEY_FILE`: a mounted secret, which Gieok only reads. Its successor is mounted as `<file>.next`.
3. A file that Gieok creates and rotates itself, outside the data folder, so that a copy of the data folder
   does not contain the key.

A key file must be a regular file owned by this user or by root that nobody else can read. A file owned by
root may also be readable by its group (mode 0440), because orchestrators mount secrets in this way for
processes that do not run as root.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import hashlib
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gieok.errors import RootKeyMissing, RootKeyUnsafe
from gieok.vault.sealing import NONCE_BYTES, TAG_BYTES, Secret

ROOT_KEY_BYTES = 32
ENV_KEY = "GIEOK_ROOT_KEY"
ENV_NEXT = "GIEOK_ROOT_KEY_NEXT"
ENV_FILE = "GIEOK_ROOT_KEY_FILE"
_ID_DOMAIN = b"gieok root key id 1\0"
_LEAST_DISTINCT_BYTES = 12
_LONGEST_FILE = 1024
_REMEDY = "a root key is 32 random bytes in base64, as from `openssl rand -base64 32`"


class RootKey(Secret):
    """A root key. `id` identifies it in messages and in the keystore without revealing anything about it."""

    __slots__ = ("_cipher", "_key", "id")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESGCM(key)
        self.id = hashlib.sha256(_ID_DOMAIN + key).digest()[:8].hex()

    @classmethod
    def generate(cls) -> RootKey:
        return cls(os.urandom(ROOT_KEY_BYTES))

    @classmethod
    def parse(cls, text: str, where: str) -> RootKey:
        """Read a key from text. RootKeyUnsafe, naming `where`, if it is not a key or a weak one."""
        key = _decode(text.strip())
        if key is None or len(key) != ROOT_KEY_BYTES:
            raise RootKeyUnsafe(f"{where} does not hold a root key; {_REMEDY}")
        if _is_weak(key):
            raise RootKeyUnsafe(f"{where} holds a root key that is not random; {_REMEDY}")
        return cls(key)

    def to_text(self) -> str:
        """The key itself in base64. Only for the file that stores it."""
        return base64.b64encode(self._key).decode()

    def wrap(self, key: bytes, associated_data: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, key, associated_data)

    def unwrap(self, wrapped: bytes, associated_data: bytes) -> bytes:
        """The key in clear. InvalidTag unless this root key wrapped it with this associated data."""
        if len(wrapped) < NONCE_BYTES + TAG_BYTES:
            raise InvalidTag
        return self._cipher.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], associated_data)

    def __repr__(self) -> str:
        return f"<RootKey {self.id}>"


class RootKeySource(Protocol):
    """Where the root key comes from, and where its successor is stored during a rotation.

    The successor is kept beside the key until the keystore is rewrapped with it. Whichever of the two matches
    the keystore is the root key, so a rotation can be interrupted at any point without losing anything.
    """

    @property
    def name(self) -> str:
        """Name for messages: `GIEOK_ROOT_KEY`, or the file."""
        ...

    def load(self) -> RootKey | None:
        """The key, read again on each call; None if there is none."""
        ...

    def load_next(self) -> RootKey | None:
        """The successor; None if no rotation has begun."""
        ...

    def create(self) -> RootKey:
        """Create and store the first key, or return the one that another process has just created.

        RootKeyMissing if this source cannot create one.
        """
        ...

    def prepare_next(self) -> RootKey:
        """The existing successor, or a new one that is durable when this returns."""
        ...

    def promote(self, successor: RootKey) -> bool:
        """Replace the key by `successor` if necessary. False if a person has to do it."""
        ...


def choose_root_key(
    environ: Mapping[str, str], default_file: Path, data_folder: Path | None
) -> RootKeySource:
    """The first source that is configured. RootKeyUnsafe for a key file inside `data_folder`."""
    if ENV_KEY in environ:
        return EnvRootKey(environ)
    mounted = environ.get(ENV_FILE)
    file = Path(mounted) if mounted is not None else default_file
    if data_folder is not None and file.resolve().is_relative_to(data_folder.resolve()):
        raise RootKeyUnsafe(
            f"the root key file {file} is inside the data folder {data_folder}, so a copy of that folder "
            f"would contain the key; move the file elsewhere and set {ENV_FILE} to its path"
        )
    return MountedRootKey(file) if mounted is not None else FileRootKey(file)


class EnvRootKey:
    """The root key in an environment variable. Gieok cannot change it: after a rotation a person does."""

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
            raise RootKeyMissing(f"there is no key to rotate to; set {ENV_NEXT} in every process")
        return successor

    def promote(self, successor: RootKey) -> bool:
        return _is_same(self.load(), successor)

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
    """The root key in a mounted file. Gieok never writes to it."""

    def create(self) -> RootKey:
        raise RootKeyMissing(f"{ENV_FILE} names {self._file}, which does not exist; mount the secret there")

    def prepare_next(self) -> RootKey:
        successor = self.load_next()
        if successor is None:
            raise RootKeyMissing(
                f"there is no key to rotate to; mount the new key as {self._next} for every process"
            )
        return successor

    def promote(self, successor: RootKey) -> bool:
        return _is_same(self.load(), successor)


class FileRootKey(_KeyFile):
    """The root key in a file that Gieok creates. Several processes on one machine may share it."""

    def create(self) -> RootKey:
        return self._load_or_write(self._file)

    def prepare_next(self) -> RootKey:
        """An existing successor is never replaced: another process may be about to rotate to it."""
        return self._load_or_write(self._next)

    def promote(self, successor: RootKey) -> bool:
        """Does nothing if another successor is stored: that one belongs to a later rotation."""
        try:
            with _exclusive(self._file.parent) as folder:
                if _is_same(self.load_next(), successor):
                    self._next.replace(self._file)
                    os.fsync(folder)
        except OSError:
            return False
        return _is_same(self.load(), successor)

    def _load_or_write(self, file: Path) -> RootKey:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _exclusive(file.parent) as folder:
                return read_key_file(file) or _write_key_file(file, RootKey.generate(), folder)
        except OSError as error:
            raise RootKeyMissing(
                f"cannot write a root key to {file} ({error.strerror}); give this user write access to the "
                f"folder, or set {ENV_KEY} or {ENV_FILE}"
            ) from error


def read_key_file(file: Path) -> RootKey | None:
    """The key in `file`; None if there is no such file. RootKeyUnsafe if other users can read it."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for someone to write to it.
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RootKeyUnsafe(
            f"the root key file {file} cannot be read ({error.strerror}); give this user read access"
        ) from error
    try:
        _check_private(file, os.fstat(handle))
        raw = os.read(handle, _LONGEST_FILE)
    finally:
        os.close(handle)
    return RootKey.parse(raw.decode("ascii", errors="replace"), f"the file {file}")


def _check_private(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise RootKeyUnsafe(f"the root key file {file} is not a regular file; use a regular file")
    if found.st_uid not in (0, os.geteuid()):
        raise RootKeyUnsafe(
            f"the root key file {file} belongs to another user (uid {found.st_uid}), who can read it; "
            f"run `chown {os.geteuid()} {file}`"
        )
    forbidden = 0o037 if found.st_uid == 0 != os.geteuid() else 0o077
    if found.st_mode & forbidden:
        raise RootKeyUnsafe(
            f"the root key file {file} is readable by other users (mode {stat.S_IMODE(found.st_mode):04o}); "
            f"run `chmod 600 {file}`, or set its mode to 0400 where the secret is mounted"
        )


def _write_key_file(file: Path, key: RootKey, folder: int) -> RootKey:
    """Write the file atomically and durably. The caller holds the folder's lock."""
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


def _is_same(one: RootKey | None, other: RootKey) -> bool:
    return one is not None and one.id == other.id


@contextmanager
def _exclusive(folder: Path) -> Generator[int]:
    """Lock `folder` against other processes on this machine. Yields its file descriptor."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _decode(text: str) -> bytes | None:
    try:
        if len(text) == 2 * ROOT_KEY_BYTES:
            return bytes.fromhex(text)
        plain = text.rstrip("=").translate(str.maketrans("-_", "+/"))
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None


def _is_weak(key: bytes) -> bool:
    """Zeros, a repeated pattern or a counting sequence: typed by people, never produced by chance."""
    strides = {(after - before) % 256 for before, after in pairwise(key)}
    return len(set(key)) < _LEAST_DISTINCT_BYTES or len(strides) == 1
