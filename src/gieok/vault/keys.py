"""Keys: one owner's keys in memory, the cache of them, and how keys are wrapped by the root key."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType

from cryptography.exceptions import InvalidTag

from gieok.errors import RootKeyMissing, StoreDamaged
from gieok.vault.blind_index import BlindIndex
from gieok.vault.keystore import Head, KeyStore, Purpose, WrappedKey, check_root
from gieok.vault.root_key import RootKey, RootKeySource
from gieok.vault.sealing import KEY_BYTES, KEY_ID_BYTES, Place, Sealer, Secret, length_prefixed

_WRAP_DOMAIN = "gieok wrapped key 1"


class OwnerKeys(Secret):
    """The keys of one owner, ready to use from any thread. Get them from `Vault` in each unit of work."""

    __slots__ = ("_index", "_older", "_sealer", "generation", "owner")

    def __init__(
        self,
        owner: str,
        generation: int,
        sealer: Sealer,
        index: BlindIndex,
        older: Mapping[int, Sealer] = MappingProxyType({}),
    ) -> None:
        """`older` holds, by generation, sealers for keys that a rotation has not destroyed yet."""
        self.owner = owner
        self.generation = generation
        self._sealer = sealer
        self._index = index
        self._older = older

    @classmethod
    def unknown(cls, owner: str) -> OwnerKeys:
        """Throw-away keys for reading as an owner who has none: nothing matches and nothing opens."""
        key_id = os.urandom(KEY_ID_BYTES)
        sealer = Sealer(owner, {key_id: os.urandom(KEY_BYTES)}, current=key_id)
        return cls(owner, 0, sealer, BlindIndex(os.urandom(KEY_BYTES)))

    def at_generation(self, generation: int) -> OwnerKeys:
        """The same keys, sealing under `generation`; under the newest if that one is already destroyed."""
        sealer = self._older.get(generation)
        return OwnerKeys(self.owner, generation, sealer, self._index) if sealer else self

    def reserve_seals(self, batch: int) -> int:
        """How many seals to add to the count of this key: whole batches, so that few transactions count.

        The count is an upper bound. Only that of a transaction that fails to commit is lost.
        """
        missing = self._sealer.used - self._sealer.reserved
        added = -(-missing // batch) * batch if missing > 0 else 0
        self._sealer.reserved += added
        return added

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Encrypt under the owner's current data key, bound to `place`."""
        return self._sealer.seal(place, plaintext)

    def open(self, place: Place, sealed: bytes) -> bytes:
        """Decrypt a value sealed for this owner at `place`. SealBroken for anything else."""
        return self._sealer.open(place, sealed)

    def reseal(self, place: Place, sealed: bytes) -> bytes:
        """The same value under the owner's current data key."""
        return self.seal(place, self.open(place, sealed))

    def token(self, field: str, *parts: str) -> int:
        """Blind-index token of `parts` in `field`: a signed 64-bit number that no rotation changes."""
        return self._index.token(field, *parts)

    def tokens(self, field: str, place: str, words: Iterable[str]) -> list[int]:
        """`token(field, place, word)` for each word."""
        return self._index.tokens(field, place, words)

    def digest(self, field: str, *parts: str) -> bytes:
        """Keyed hash of `parts` in `field`: 32 bytes that no rotation changes."""
        return self._index.digest(field, *parts)

    def __repr__(self) -> str:
        return f"<OwnerKeys generation={self.generation}>"


class KeyCache:
    """LRU cache of owners' keys, thread-safe. Keys that were dropped while they were being loaded are not
    cached.

    `on_removed` is called with the owner whose keys were dropped, evicted or replaced by newer ones.
    """

    def __init__(self, limit: int, on_removed: Callable[[str], None]) -> None:
        self._limit = limit
        self._on_removed = on_removed
        self._lock = Lock()
        self._kept: OrderedDict[str, OwnerKeys] = OrderedDict()
        self._drops = 0

    @property
    def drops(self) -> int:
        """Number of drops so far. Read it before loading keys, and pass it to `put`."""
        return self._drops

    def get(self, owner: str) -> OwnerKeys | None:
        with self._lock:
            keys = self._kept.get(owner)
            if keys is not None:
                self._kept.move_to_end(owner)
            return keys

    def put(self, keys: OwnerKeys, drops: int) -> None:
        """Cache `keys`, unless something was dropped since `drops` was read: they may be outdated."""
        removed: list[str] = []
        with self._lock:
            if drops != self._drops:
                return
            before = self._kept.pop(keys.owner, None)
            if before is not None and before.generation != keys.generation:
                removed.append(before.owner)
            self._kept[keys.owner] = keys
            if len(self._kept) > self._limit:
                removed.append(self._kept.popitem(last=False)[0])
        for owner in removed:
            self._on_removed(owner)

    def drop(self, owner: str) -> None:
        with self._lock:
            self._drops += 1
            self._kept.pop(owner, None)
        self._on_removed(owner)


def new_key(root: RootKey, owner: str, purpose: Purpose, generation: int, created_at: int) -> WrappedKey:
    """A random key, wrapped by `root`."""
    blank = WrappedKey(owner, purpose, generation, os.urandom(KEY_ID_BYTES), b"", created_at)
    return replace(blank, wrapped=root.wrap(os.urandom(KEY_BYTES), _associated_data(blank)))


def unwrap(root: RootKey, key: WrappedKey) -> bytes:
    """The key in clear. StoreDamaged if it was altered; `root` must be the key that wraps the keystore."""
    try:
        return root.unwrap(key.wrapped, _associated_data(key))
    except InvalidTag:
        raise StoreDamaged(
            f"key {key.key_id.hex()} in the keystore was altered or damaged; "
            "restore the keystore from a backup"
        ) from None


def rewrap(old: RootKey, new: RootKey, key: WrappedKey) -> WrappedKey:
    """The same key, wrapped by another root key."""
    return replace(key, wrapped=new.wrap(unwrap(old, key), _associated_data(key)))


def unlock(keystore: KeyStore, source: RootKeySource, now: int) -> tuple[RootKey, bytes]:
    """The root key of `keystore`, and its key for tombstone tags.

    An empty keystore is claimed for the root key of `source`. A root key is created only for a keystore that
    never held anything.
    """
    head = keystore.head()
    if head is None:
        first = source.load() or source.create()
        head = keystore.claim(Head(first.id, new_key(first, "", "tags", 1, now)))
    root, head = find_root_key(keystore, source, head)
    return root, unwrap(root, head.tag_key)


def find_root_key(keystore: KeyStore, source: RootKeySource, head: Head) -> tuple[RootKey, Head]:
    """The root key of `source` that wraps the keystore, and the keystore's current head.

    That is the key itself, or its successor if a rotation was interrupted after the keystore was rewrapped;
    such a rotation is finished here. `head` may be outdated because another process rotated meanwhile, so it
    is read again before the key is reported as missing or wrong.
    """
    while True:
        # Load the successor first: if another process promotes it right now, the key loaded next is that one.
        # In the opposite order, neither would match.
        successor, current = source.load_next(), source.load()
        if current is not None and current.id == head.root_id:
            return current, head
        if successor is not None and successor.id == head.root_id:
            source.promote(successor)
            return successor, head
        latest = keystore.head()
        if latest is not None and latest.root_id != head.root_id:
            head = latest
            continue
        if current is None:
            raise RootKeyMissing(
                f"the keystore {keystore.location} is wrapped by root key {head.root_id}, and {source.name} "
                "has none; put that key back: without it no sealed data can be read, and a new key "
                "would not help"
            )
        check_root(keystore.location, expected=current.id, actual=head.root_id)


def _associated_data(key: WrappedKey) -> bytes:
    return length_prefixed(_WRAP_DOMAIN, key.owner, key.purpose, str(key.generation), key.key_id.hex())
