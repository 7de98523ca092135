"""What a sealed value looks like, and what it is bound to.

    version (1) | key id (8) | nonce (12) | AES-256-GCM ciphertext and tag

The owner and the place of a value are its associated data: a value that was moved to another owner, table,
column, row or version does not open. Nonces are random, which is safe for 2^32 values under one key; rotate
the owner's key before that.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gieok.errors import SealBroken
from gieok.vault.framing import framed

KEY_BYTES = 32
KEY_ID_BYTES = 8

_VERSION = b"\x01"
_DOMAIN = "gieok seal 1"
_NONCE_AT = 1 + KEY_ID_BYTES
_TEXT_AT = _NONCE_AT + 12
_SMALLEST = _TEXT_AT + 16

# One sentence for every way to fail, so that an answer never says how near a forgery came.
_BROKEN = (
    "a sealed value does not open here: it is not sealed, was altered, or was moved from another place; "
    "restore it, and the keystore that belongs to it, from a backup"
)


class Place(NamedTuple):
    """Where a sealed value lives. `row` is the row's id; `version` is for rows that have several."""

    table: str
    column: str
    row: str
    version: int = 1


class Sealer:
    """Seals under one owner's current data key, and opens what any of that owner's live data keys sealed."""

    __slots__ = ("_ciphers", "_current", "_header", "_owner")

    def __init__(self, owner: str, data_keys: dict[bytes, bytes], current: bytes) -> None:
        """`data_keys` are keys by key id; `current` is the id of the one that seals."""
        self._owner = framed(_DOMAIN, owner)
        self._ciphers = {key_id: AESGCM(key) for key_id, key in data_keys.items()}
        self._current = self._ciphers[current]
        self._header = _VERSION + current

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        nonce = os.urandom(12)
        return self._header + nonce + self._current.encrypt(nonce, plaintext, self._bound_to(place))

    def open(self, place: Place, sealed: bytes) -> bytes:
        if len(sealed) < _SMALLEST or sealed[:1] != _VERSION:
            raise SealBroken(_BROKEN)
        cipher = self._ciphers.get(sealed[1:_NONCE_AT])
        if cipher is None:
            raise SealBroken(_BROKEN)
        try:
            return cipher.decrypt(sealed[_NONCE_AT:_TEXT_AT], sealed[_TEXT_AT:], self._bound_to(place))
        except InvalidTag:
            raise SealBroken(_BROKEN) from None

    def _bound_to(self, place: Place) -> bytes:
        table, column, row, version = place
        return self._owner + _framed_column(table, column) + framed(row) + version.to_bytes(8, "big")


@lru_cache(maxsize=1024)
def _framed_column(table: str, column: str) -> bytes:
    return framed(table, column)
