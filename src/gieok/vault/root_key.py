"""The root key: 32 random bytes that wrap every other key.

It is written as text, in base64 (`openssl rand -base64 32`); hexadecimal is read too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from itertools import pairwise
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gieok.errors import RootKeyUnsafe
from gieok.vault.secret import Secret

ROOT_KEY_BYTES = 32
_ID_DOMAIN = b"gieok root key id 1\0"
_LEAST_DISTINCT_BYTES = 12
_REMEDY = "a root key is 32 random bytes in base64, as from `openssl rand -base64 32`"


class RootKey(Secret):
    """A root key. `id` names it in messages and in the keystore, and tells nothing about it."""

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
        """The key that `text` writes down; `RootKeyUnsafe`, naming `where`, when it is none or a weak one."""
        key = _decode(text.strip())
        if key is None or len(key) != ROOT_KEY_BYTES:
            raise RootKeyUnsafe(f"{where} does not hold a root key; {_REMEDY}")
        if _is_weak(key):
            raise RootKeyUnsafe(f"{where} holds a root key that is not random; {_REMEDY}")
        return cls(key)

    def to_text(self) -> str:
        """The key itself, in base64: for the file that keeps it, and nowhere else."""
        return base64.b64encode(self._key).decode()

    def wrap(self, key: bytes, bound_to: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + self._cipher.encrypt(nonce, key, bound_to)

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes:
        """The key that this one wrapped, bound to the same; `InvalidTag` for anything else."""
        if len(wrapped) < 12 + 16:
            raise InvalidTag
        return self._cipher.decrypt(wrapped[:12], wrapped[12:], bound_to)

    def __repr__(self) -> str:
        return f"<RootKey {self.id}>"


class RootKeySource(Protocol):
    """Where the root key comes from, and where its successor waits during a rotation.

    The successor is kept beside the key until the keystore says that it wraps everything. Whichever of the
    two fits the keystore is the root key, so a rotation can be cut off at any point and nothing is lost.
    """

    @property
    def name(self) -> str:
        """What to call it in a message: `GIEOK_ROOT_KEY`, or the file."""
        ...

    def load(self) -> RootKey | None:
        """The key, read anew each time; None when there is none."""
        ...

    def load_next(self) -> RootKey | None:
        """The successor, when a rotation has begun."""
        ...

    def create(self) -> RootKey:
        """Make the first key and keep it, or give the one that another process has just made.

        `RootKeyMissing` when this source makes none.
        """
        ...

    def prepare_next(self) -> RootKey:
        """The successor: the one that waits already, or a new one that is durable when this returns."""
        ...

    def promote(self, successor: RootKey) -> bool:
        """Put `successor` in the place of the key if need be. False when a person has to do it."""
        ...


def _decode(text: str) -> bytes | None:
    try:
        if len(text) == 2 * ROOT_KEY_BYTES:
            return bytes.fromhex(text)
        plain = text.rstrip("=").translate(str.maketrans("-_", "+/"))
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None


def _is_weak(key: bytes) -> bool:
    """Zeros, a repeated pattern or a counted row: what people type, and chance never gives."""
    strides = {(after - before) % 256 for before, after in pairwise(key)}
    return len(set(key)) < _LEAST_DISTINCT_BYTES or len(strides) == 1
