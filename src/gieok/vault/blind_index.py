"""Blind index: searchable tokens that mean nothing without the owner's key.

A token is HMAC-SHA256, truncated to 64 bits, under a key of one owner and one field. Someone who holds the
database file can see which rows of one owner and field share a token and how often, but nothing across owners
or fields.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from gieok.vault.sealing import length_prefixed

_DOMAIN = "gieok blind index 1"
_TOKEN = Struct(">q24x")
"""The first 8 of the 32 bytes of a digest."""


class BlindIndex:
    """Makes the tokens of one owner. Field names come from code and are few: derived keys are kept."""

    __slots__ = ("_fields", "_key")

    def __init__(self, index_key: bytes) -> None:
        self._key = HMAC(index_key, SHA256())
        self._fields: dict[str, HMAC] = {}

    def token(self, field: str, *parts: str) -> int:
        """A signed 64-bit number."""
        return int.from_bytes(self.digest(field, *parts)[:8], "big", signed=True)

    def tokens(self, field: str, place: str, words: Iterable[str]) -> list[int]:
        """`token(field, place, word)` for each of the words. Hashes the place once."""
        at_place = self._key_of(field).copy()
        at_place.update(length_prefixed(place))
        digests = bytearray()
        for word in words:
            mac = at_place.copy()
            mac.update(length_prefixed(word))
            digests += mac.finalize()
        return [token for (token,) in _TOKEN.iter_unpack(digests)]

    def digest(self, field: str, *parts: str) -> bytes:
        """All 256 bits, for values that must be compared without being decrypted."""
        return _finish(self._key_of(field), *parts)

    def _key_of(self, field: str) -> HMAC:
        key = self._fields.get(field)
        if key is None:
            key = self._fields[field] = HMAC(_finish(self._key, _DOMAIN, field), SHA256())
        return key


def _finish(keyed: HMAC, *parts: str) -> bytes:
    mac = keyed.copy()
    mac.update(length_prefixed(*parts))
    return mac.finalize()
