"""The vault: every key that Gieok uses, by owner."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from time import time
from typing import TypeVar

from gieok.errors import (
    Conflict,
    InputRefused,
    NotFound,
    RootKeyMismatch,
    SettingsInvalid,
    StoreDamaged,
)
from gieok.vault.blind_index import BlindIndex
from gieok.vault.cache import KeyCache
from gieok.vault.framing import framed
from gieok.vault.keys import OwnerKeys
from gieok.vault.keystore import Head, KeyStore, WrappedKey
from gieok.vault.opened import Opened, Shelf
from gieok.vault.root_key import RootKey, RootKeySource
from gieok.vault.sealing import Sealer
from gieok.vault.unlocking import fitting_root, unlock
from gieok.vault.wrapping import new_key, rewrap, unwrap

T = TypeVar("T")

_TAG_DOMAIN = "gieok tombstone 1"
_OWNERS_PAGE = 1000
_OPENED = 10_000
"""Values that were opened lately and are kept in clear: at some 5 KB each, 50 MB."""


@dataclass(frozen=True, slots=True)
class RootRotation:
    """What a rotation of the root key did. Unless `finished`, a person puts the new key in its place."""

    old_id: str
    new_id: str
    keys: int
    finished: bool


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """What `gieok keys status` shows. No secrets."""

    root_source: str
    root_id: str
    keystore: str
    owners: int
    keys: int
    erased: int
    unfinished_erasures: int
    oldest_key: datetime | None


class Vault:
    """Gives each owner's keys, rotates them and destroys them. Blocking, and safe to call from any thread.

    Each owner has random data keys, of which the newest seals, and one random index key that rotation
    leaves alone. Keys are cached: a unit of work gives `keys` the generation that the owner's guard row
    holds, and so sees a rotation by another process.
    """

    def __init__(
        self,
        keystore: KeyStore,
        root: RootKeySource,
        *,
        cached_owners: int = 4096,
        clock: Callable[[], float] = time,
    ) -> None:
        """Fits the root key to the keystore at once: `RootKeyMissing`, `RootKeyMismatch`, `RootKeyUnsafe`."""
        self._keystore = keystore
        self._source = root
        self._clock = clock
        self._cache = KeyCache(cached_owners)
        self._opened = Opened(_OPENED)
        self._rotating = Lock()
        self._root, self._tag_key = unlock(keystore, root, self._now())

    def keys(self, owner: str, generation: int | None = None) -> OwnerKeys:
        """The owner's keys. Those for `generation` seal under it, even when a rotation has made a newer key:
        until the guard row tells of that one, other processes could not open what it sealed.

        `NotFound` when the owner has none, `OwnerErased` after an erasure, `StoreDamaged` when the keystore
        is older than the database that asks for `generation`.
        """
        cached = self._cache.get(owner)
        if cached is not None and (generation is None or cached.generation >= generation):
            return cached if generation is None else cached.of(generation)
        kept = self._load(owner)
        if kept is None and generation is None:
            raise NotFound("this owner has no keys yet")
        if kept is None or (generation is not None and kept.generation < generation):
            raise StoreDamaged(
                f"the keystore {self._keystore.location} lacks keys that the database was sealed with; "
                "it is older than the database: restore the keystore that belongs to it"
            )
        return kept if generation is None else kept.of(generation)

    @property
    def opened_values(self) -> int:
        """How many values this process holds in clear, of all owners together."""
        return self._opened.count

    def forget(self, owner: str) -> None:
        """Let go of keys that this process holds, and of what it opened with them: the owner is not there."""
        if self._cache.get(owner) is not None:
            self._cache.drop(owner)

    def create(self, owner: str) -> OwnerKeys:
        """The owner's keys, made now if there are none. `OwnerErased` for an erased name, for good."""
        if not owner:
            raise InputRefused("an owner needs a name", at="owner")
        # Never from the cache: only the keystore knows whether another process erased this owner.
        return self._load(owner) or self._make(owner)

    def rotate_owner(self, owner: str) -> OwnerKeys:
        """Add a data key that seals from now on; older ones still open. `Conflict` when two do it at once.

        Next, write the new generation to the owner's guard row, seal everything anew, and call `retire_old`.
        """

        def add(root: RootKey) -> None:
            kept = self._keystore.read(root.id, owner, self._tag(owner))
            if not kept:
                raise NotFound("this owner has no keys yet")
            key = new_key(root, owner, "data", _newest(kept).generation + 1, self._now())
            self._keystore.add(root.id, self._tag(owner), key)

        self._with_root(add)
        self._cache.drop(owner)
        return self.keys(owner)

    def retire_old(self, owner: str, generation: int) -> int:
        """Destroy every data key from before `generation`, and say how many. What only they open is lost.

        Not simply all but the newest: that one may be of a rotation that has sealed nothing anew yet.
        """
        retired = self._with_root(lambda root: self._keystore.delete_older(root.id, owner, generation))
        self._cache.drop(owner)
        return retired

    def rotate_root(self) -> RootRotation:
        """Wrap every key under a new root key, in one transaction. Other processes follow by themselves.

        Can be cut off at any point and called again. Backups of the keystore still need the old root key.
        """
        with self._rotating:
            old, head = fitting_root(self._keystore, self._source, self._head())
            new = self._source.prepare_next()
            if new.id == old.id:
                raise SettingsInvalid(
                    f"the new root key is the one in use ({old.id}); give another one to rotate to"
                )
            new_head = Head(new.id, rewrap(old, new, head.tag_key))
            try:
                keys = self._keystore.rewrap(old.id, new_head, lambda key: rewrap(old, new, key))
            except RootKeyMismatch:
                raise Conflict(
                    "another process has just rotated the root key; nothing more was changed"
                ) from None
            self._root = new
            return RootRotation(old.id, new.id, keys, finished=self._source.promote(new))

    def begin_erasure(self, owner: str) -> None:
        """Destroy the owner's keys: from here on nobody can read what they sealed. May be called again.

        A tombstone keeps the name until `finish_erasure`, so that the removal of the rows can be resumed.
        """
        if not owner:
            raise InputRefused("an owner needs a name", at="owner")
        self._keystore.begin_erasure(owner, self._tag(owner))
        self._cache.drop(owner)

    def finish_erasure(self, owner: str) -> None:
        """Forget the name, once the rows are gone; a keyed tag of it stays. `NotFound` if none was begun."""
        if not self._keystore.finish_erasure(self._tag(owner)):
            raise NotFound("no erasure of this owner was begun")

    def unfinished_erasures(self) -> list[str]:
        """The owners whose keys are destroyed and whose rows may still be there."""
        return list(self._keystore.unfinished_erasures())

    def is_erased(self, owner: str) -> bool:
        """Whether the owner was erased, from `begin_erasure` on. Their rows in a restored backup must go."""
        return self._keystore.has_tombstone(self._tag(owner))

    def erased_among(self, owners: Iterable[str]) -> list[str]:
        """Those of `owners` who were erased, after one look at the keystore."""
        tags = set(self._tombstones())
        return [owner for owner in owners if self._tag(owner) in tags]

    def erasures(self) -> int:
        """How many owners were ever erased, finished or not. It only grows."""
        counts = self._keystore.counts()
        return counts.erased + counts.erasing

    def owners(self) -> Iterator[str]:
        """Every owner who has keys, read page by page; one who comes or goes meanwhile may be missed."""
        page = self._keystore.owners("", _OWNERS_PAGE)
        while page:
            yield from page
            page = self._keystore.owners(page[-1], _OWNERS_PAGE)

    def status(self) -> VaultStatus:
        counts = self._keystore.counts()
        return VaultStatus(
            root_source=self._source.name,
            root_id=self._head().root_id,
            keystore=self._keystore.location,
            owners=counts.owners,
            keys=counts.keys,
            erased=counts.erased,
            unfinished_erasures=counts.erasing,
            oldest_key=counts.oldest_key,
        )

    def keystore_id(self) -> str:
        """Which keystore this is, through every rotation: for a database that must not be given another."""
        return self._head().keystore_id

    def close(self) -> None:
        self._keystore.close()

    def __repr__(self) -> str:
        return f"<Vault root={self._root.id} keystore={self._keystore.location}>"

    def _tombstones(self) -> Iterator[bytes]:
        page = self._keystore.tombstones(b"", _OWNERS_PAGE)
        while page:
            yield from page
            page = self._keystore.tombstones(page[-1], _OWNERS_PAGE)

    def _load(self, owner: str) -> OwnerKeys | None:
        drops = self._cache.drops
        tag = self._tag(owner)
        keys = self._with_root(lambda root: self._unwrapped(root, self._keystore.read(root.id, owner, tag)))
        if keys is not None:
            self._cache.put(keys, drops)
        return keys

    def _make(self, owner: str) -> OwnerKeys:
        def insert(root: RootKey) -> OwnerKeys | None:
            made = [new_key(root, owner, purpose, 1, self._now()) for purpose in ("data", "index")]
            return self._unwrapped(root, self._keystore.insert(root.id, self._tag(owner), made))

        drops = self._cache.drops
        keys = self._with_root(insert)
        if keys is None:
            raise StoreDamaged(
                f"the keystore {self._keystore.location} did not keep new keys; check its disk"
            )
        self._cache.put(keys, drops)
        return keys

    def _unwrapped(self, root: RootKey, kept: Sequence[WrappedKey]) -> OwnerKeys | None:
        if not kept:
            return None
        newest = _newest(kept)
        data_keys = {key.key_id: unwrap(root, key) for key in kept if key.purpose == "data"}
        index_key = next(unwrap(root, key) for key in kept if key.purpose == "index")
        sealers = {
            key.generation: Sealer(newest.owner, data_keys, current=key.key_id)
            for key in kept
            if key.purpose == "data"
        }
        sealer = sealers.pop(newest.generation)
        index, shelf = BlindIndex(index_key), Shelf(self._opened)
        return OwnerKeys(newest.owner, newest.generation, sealer, index, sealers, shelf)

    def _with_root(self, operation: Callable[[RootKey], T]) -> T:
        """Run `operation`; when the root key was rotated meanwhile, read it anew and run it once more."""
        try:
            return operation(self._root)
        except RootKeyMismatch:
            self._root, _ = fitting_root(self._keystore, self._source, self._head())
            return operation(self._root)

    def _head(self) -> Head:
        head = self._keystore.head()
        if head is None:
            raise StoreDamaged(f"the keystore {self._keystore.location} was emptied while in use; restore it")
        return head

    def _tag(self, owner: str) -> bytes:
        return hmac.digest(self._tag_key, framed(_TAG_DOMAIN, owner), "sha256")

    def _now(self) -> int:
        return int(self._clock())


def _newest(kept: Sequence[WrappedKey]) -> WrappedKey:
    return max((key for key in kept if key.purpose == "data"), key=lambda key: key.generation)
