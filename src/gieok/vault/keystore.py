"""Keystore protocol: wrapped keys and tombstones of erased owners, stored separately from the data.

A keystore is passive. It never sees a key in clear, and each operation is one transaction that is durable
when the call returns. An operation that takes a root key id raises RootKeyMismatch if another root key wraps
the keystore: a process that missed a rotation can neither misread a key nor add one that cannot be unwrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from gieok.errors import RootKeyMismatch

Purpose = Literal["data", "index", "tags"]


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A key encrypted by the root key. Owner, purpose, generation and id are its associated data."""

    owner: str
    purpose: Purpose
    generation: int
    key_id: bytes
    wrapped: bytes = field(repr=False)
    created_at: int
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class Head:
    """Header of a keystore: the root key that wraps it, and the key of its tombstone tags."""

    root_id: str
    tag_key: WrappedKey

    @property
    def keystore_id(self) -> str:
        """Permanent id of the keystore: a new root key rewraps the tag key and keeps its id."""
        return self.tag_key.key_id.hex()


@dataclass(frozen=True, slots=True)
class KeyCounts:
    owners: int
    keys: int
    erasing: int
    erased: int
    oldest_key: datetime | None


class KeyStore(Protocol):
    """Storage of wrapped keys. An implementation must pass `gieok.testing.contracts.keystores`.

    `tag` is a keyed hash of the owner's name: all that remains of a name once its erasure is finished.
    Reading, inserting or adding keys of an owner with a tombstone raises OwnerErased.
    """

    @property
    def location(self) -> str:
        """Location for messages, without a password."""
        ...

    def head(self) -> Head | None:
        """The header; None while the keystore has never been used."""
        ...

    def claim(self, head: Head) -> Head:
        """Store `head` unless there is one already. Returns the stored one."""
        ...

    def read(self, root_id: str, owner: str, tag: bytes) -> Sequence[WrappedKey]:
        """The owner's keys, older data keys first; empty if there are none."""
        ...

    def insert(self, root_id: str, tag: bytes, keys: Sequence[WrappedKey]) -> Sequence[WrappedKey]:
        """Store an owner's first keys unless there are some already. Returns the stored ones."""
        ...

    def add(self, root_id: str, tag: bytes, key: WrappedKey) -> None:
        """Store a further data key. Conflict unless its generation follows the newest one."""
        ...

    def delete_older(self, root_id: str, owner: str, generation: int) -> int:
        """Destroy the owner's data keys older than `generation`, but never the newest. Returns the number."""
        ...

    def rewrap(self, root_id: str, head: Head, rewrap: Callable[[WrappedKey], WrappedKey]) -> int:
        """Replace the header and rewrap every key in one transaction. Returns the number of keys."""
        ...

    def begin_erasure(self, owner: str, tag: bytes) -> None:
        """Destroy the owner's keys and add a tombstone that still holds the name."""
        ...

    def finish_erasure(self, tag: bytes) -> bool:
        """Delete the name from the tombstone. False if there is no tombstone."""
        ...

    def has_tombstone(self, tag: bytes) -> bool: ...

    def tombstones(self, after: bytes, limit: int) -> Sequence[bytes]:
        """The next page of tags of erased owners after `after` (b"" for the first page), in a fixed order."""
        ...

    def unfinished_erasures(self) -> Sequence[str]:
        """Owners whose keys are destroyed but whose rows may still exist."""
        ...

    def owners(self, after: str, limit: int) -> Sequence[str]:
        """The next page of owners with keys after `after` ("" for the first page), in a fixed order."""
        ...

    def counts(self) -> KeyCounts: ...

    def close(self) -> None: ...


def check_root(location: str, expected: str, actual: str) -> None:
    """RootKeyMismatch if the keystore is wrapped by another root key than the caller's."""
    if expected != actual:
        raise RootKeyMismatch(
            f"the keystore {location} is wrapped by root key {actual}, but {expected} is configured; "
            f"configure root key {actual}, or restore the keystore that belongs to {expected}"
        )
