"""The keystore: wrapped keys and the tombstones of erased owners, kept apart from the data they open.

A keystore is passive. It never sees a key in clear, and each operation is one transaction that is durable
when the call returns. An operation that names a root key id is refused with `RootKeyMismatch` when another
root key wraps the keystore by now: a process that missed a rotation can neither misread a key nor add one
that nobody could open.
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
    """A key under the root key. Its owner, purpose, generation and id are bound to it."""

    owner: str
    purpose: Purpose
    generation: int
    key_id: bytes
    wrapped: bytes = field(repr=False)
    created_at: int
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a keystore says of itself: the root key that wraps it, and the key of its tombstone tags."""

    root_id: str
    tag_key: WrappedKey

    @property
    def keystore_id(self) -> str:
        """Names the keystore for good: a new root key wraps the key of the tags anew and leaves its id."""
        return self.tag_key.key_id.hex()


@dataclass(frozen=True, slots=True)
class KeyCounts:
    owners: int
    keys: int
    erasing: int
    erased: int
    oldest_key: datetime | None


class KeyStore(Protocol):
    """Where wrapped keys live. `gieok.testing.contracts.keystores` is what an implementation must pass.

    `tag` is a keyed hash of the owner's name: all that is kept of a name once its erasure is finished.
    Reading, inserting or adding keys of an owner with a tombstone raises `OwnerErased`.
    """

    @property
    def location(self) -> str:
        """Where it is, for messages; without a password."""
        ...

    def head(self) -> Head | None:
        """None as long as nothing was ever kept here."""
        ...

    def claim(self, head: Head) -> Head:
        """Keep `head` unless there is one already; the one that is kept."""
        ...

    def read(self, root_id: str, owner: str, tag: bytes) -> Sequence[WrappedKey]:
        """The owner's keys, older data keys first; empty when there are none."""
        ...

    def insert(self, root_id: str, tag: bytes, keys: Sequence[WrappedKey]) -> Sequence[WrappedKey]:
        """Keep an owner's first keys unless there are some already; the ones that are kept."""
        ...

    def add(self, root_id: str, tag: bytes, key: WrappedKey) -> None:
        """Keep a further data key; `Conflict` unless its generation follows the newest one."""
        ...

    def delete_older(self, root_id: str, owner: str, generation: int) -> int:
        """Destroy the owner's data keys from before `generation`, but never the newest; how many."""
        ...

    def rewrap(self, root_id: str, head: Head, rewrap: Callable[[WrappedKey], WrappedKey]) -> int:
        """Replace `head` and every key by its re-wrapped self, all or nothing; how many keys."""
        ...

    def begin_erasure(self, owner: str, tag: bytes) -> None:
        """Destroy the owner's keys and leave a tombstone that still has the name."""
        ...

    def finish_erasure(self, tag: bytes) -> bool:
        """Forget the name in the tombstone; False when there is no tombstone."""
        ...

    def has_tombstone(self, tag: bytes) -> bool: ...

    def tombstones(self, after: bytes, many: int) -> Sequence[bytes]:
        """A page of the tags of erased owners, in a fixed order: those after `after`, at first b""."""
        ...

    def unfinished_erasures(self) -> Sequence[str]:
        """Owners whose keys are destroyed while their rows may still be there."""
        ...

    def owners(self, after: str, many: int) -> Sequence[str]:
        """A page of the owners who have keys, in a fixed order: those after `after`, which is "" at first."""
        ...

    def counts(self) -> KeyCounts: ...

    def close(self) -> None: ...


def check_root(location: str, expected: str, actual: str) -> None:
    """Refuse to go on when the keystore is wrapped by another root key than the caller's."""
    if expected != actual:
        raise RootKeyMismatch(
            f"the keystore {location} is wrapped by root key {actual}, and the root key given is {expected}; "
            f"give Gieok root key {actual}, or restore the keystore that belongs to {expected}"
        )
