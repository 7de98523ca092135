"""Sealed values: authenticated encryption bound to the owner and the place of a value.

    version (1) | key id (8) | nonce (12) | AES-256-GCM ciphertext and tag

The owner and the place are the associated data: a value that was moved to another owner, table, column, row
or version does not open. Nonces are random, which is safe for 2^32 values under one key; a worker
replaces the owner's key before that.
"""

from __future__ import annotations

import os
from functools import lru_cache
from struct import Struct
from typing import NamedTuple, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gieok.errors import SealBroken

KEY_BYTES = 32
KEY_ID_BYTES = 8
NONCE_BYTES = 12
TAG_BYTES = 16

_VERSION = b"\x01"
_DOMAIN = "gieok seal 1"
_NONCE_AT = 1 + KEY_ID_BYTES
_TEXT_AT = _NONCE_AT + NONCE_BYTES
_SMALLEST = _TEXT_AT + TAG_BYTES
_pack_length = Struct(">I").pack

# One message for every kind of failure, so that an attacker does not learn how close a forgery came.
_BROKEN = (
    "a sealed value cannot be opened: it is not sealed, was altered, or was moved from another place; "
    "restore the database and the keystore that belongs to it from a backup"
)


class Secret:
    """Base of every class that holds key bytes. Instances cannot be pickled or copied, so that no key ends up
    in a cache file, a queue or a crash report."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds keys and is never pickled or copied")


class Place(NamedTuple):
    """Where a sealed value is stored. `row` is the row's id; `version` is for rows that have several."""

    table: str
    column: str
    row: str
    version: int = 1


class Sealer:
    """Seals under one owner's current data key; opens values sealed by any live data key of that owner."""

    __slots__ = ("_ciphers", "_current", "_header", "_owner", "reserved", "used")

    def __init__(self, owner: str, data_keys: dict[bytes, bytes], current: bytes) -> None:
        """`data_keys` maps key ids to keys; `current` is the id of the key that seals."""
        self._owner = length_prefixed(_DOMAIN, owner)
        self._ciphers = {key_id: AESGCM(key) for key_id, key in data_keys.items()}
        self._current = self._ciphers[current]
        self._header = _VERSION + current
        self.used = 0
        """How many values this object has sealed."""
        self.reserved = 0
        """How many of them are counted in the database already."""

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        self.used += 1
        return self._header + nonce + self._current.encrypt(nonce, plaintext, self._associated_data(place))

    def open(self, place: Place, sealed: bytes) -> bytes:
        """The plaintext. SealBroken unless `sealed` was sealed for this owner and place."""
        if len(sealed) < _SMALLEST or sealed[:1] != _VERSION:
            raise SealBroken(_BROKEN)
        cipher = self._ciphers.get(sealed[1:_NONCE_AT])
        if cipher is None:
            raise SealBroken(_BROKEN)
        try:
            return cipher.decrypt(sealed[_NONCE_AT:_TEXT_AT], sealed[_TEXT_AT:], self._associated_data(place))
        except InvalidTag:
            raise SealBroken(_BROKEN) from None

    def _associated_data(self, place: Place) -> bytes:
        table, column, row, version = place
        return self._owner + _column(table, column) + length_prefixed(row) + version.to_bytes(8, "big")


def length_prefixed(*values: str) -> bytes:
    """The values in UTF-8, each after its length in four bytes, so that no two lists give the same bytes.

    Everything that the vault authenticates or hashes is encoded in this way; it is part of the stored format.
    """
    encoded = b""
    for value in values:
        raw = value.encode()
        encoded += _pack_length(len(raw)) + raw
    return encoded


@lru_cache(maxsize=1024)
def _column(table: str, column: str) -> bytes:
    return length_prefixed(table, column)
