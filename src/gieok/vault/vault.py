"""The vault: gives each owner's keys, rotates them and destroys them."""

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
    OwnerErased,
    RootKeyMismatch,
    SettingsInvalid,
    StoreDamaged,
)
from gieok.vault.blind_index import BlindIndex
from gieok.vault.keys import KeyCache, OwnerKeys, find_root_key, new_key, rewrap, unlock, unwrap
from gieok.vault.keystore import Head, KeyStore, WrappedKey
from gieok.vault.root_key import RootKey, RootKeySource
from gieok.vault.sealing import Sealer, length_prefixed

T = TypeVar("T")

_TAG_DOMAIN = "gieok tombstone 1"
_CACHE_DOMAIN = "gieok cache name 1"
_OWNERS_PAGE = 1000
_CHECK_OWNER = "gieok:check"
_LIFE = 1_000_000
"""Data keys of each life of a name have generations of their own: 1 to _LIFE, then the next million, …"""


def life_of(generation: int) -> int:
    """Which life of a name a data key belongs to: 0, or how often the name was erased before."""
    return (generation - 1) // _LIFE


@dataclass(frozen=True, slots=True)
class RootRotation:
    """Result of a root key rotation. Unless `finished`, a person has to install the new key."""

    old_id: str
    new_id: str
    keys: int
    finished: bool


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """What `gieok keys status` shows. Contains no secrets."""

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

    Each owner has random data keys, of which the newest seals, and one random index key that rotation does
    not change. Keys are cached. A unit of work passes the generation in the owner's guard row to `keys`, and
    so notices a rotation by another process.
    """

    def __init__(
        self,
        keystore: KeyStore,
        root: RootKeySource,
        *,
        cached_owners: int = 4096,
        clock: Callable[[], float] = time,
    ) -> None:
        """Unlocks the keystore at once. RootKeyMissing, RootKeyMismatch or RootKeyUnsafe if that fails."""
        self._keystore = keystore
        self._source = root
        self._clock = clock
        self._cache = KeyCache(cached_owners, self._notify)
        self._listeners: list[Callable[[str], None]] = []
        self._rotating = Lock()
        self._root, self._tag_key = unlock(keystore, root, self._now())

    def keys(self, owner: str, generation: int | None = None) -> OwnerKeys:
        """The owner's keys, sealing under `generation` if given, even after a rotation has added a newer key:
        until the guard row has the new generation, other processes could not open values sealed under it.

        NotFound if the owner has no keys, OwnerErased after an erasure, StoreDamaged if the keystore is older
        than the database, which needs `generation`.
        """
        cached = self._cache.get(owner)
        if cached is not None and (generation is None or cached.generation >= generation):
            return cached if generation is None else _at_generation(cached, generation)
        kept = self._load(owner)
        if kept is None and generation is None:
            raise NotFound("this owner has no keys yet")
        if kept is None or (generation is not None and kept.generation < generation):
            raise StoreDamaged(
                f"the keystore {self._keystore.location} lacks keys that the database was sealed with, "
                "because it is older than the database; restore the keystore that belongs to it"
            )
        return kept if generation is None else _at_generation(kept, generation)

    def on_keys_removed(self, listener: Callable[[str], None]) -> None:
        """Call `listener(owner)` whenever this process drops an owner's keys, so that it clears decrypted
        data.

        Keys are dropped by a rotation, an erasure, `forget`, and eviction from the key cache.
        """
        self._listeners.append(listener)

    def forget(self, owner: str) -> None:
        """Drop the cached keys of an owner who no longer exists."""
        if self._cache.get(owner) is not None:
            self._cache.drop(owner)
        else:
            self._notify(owner)

    def create(self, owner: str) -> OwnerKeys:
        """The owner's keys, created if there are none. OwnerErased for the name of an erased owner."""
        if not owner:
            raise InputRefused("an owner needs a name", at="owner")
        # Never from the cache: only the keystore knows whether another process erased this owner.
        return self._load(owner) or self._make(owner, life=0)

    def readmit(self, owner: str) -> None:
        """Let a new owner use the name of an erased one, with new keys. Does nothing for other names.

        It is a deliberate act: a writer that still works for the erased owner must not create the new one.
        OwnerErased while the erasure is not finished.
        """
        try:
            self._load(owner)
        except OwnerErased:
            if owner in self.unfinished_erasures():
                raise
            self._make(owner, self._life(owner))

    def rotate_owner(self, owner: str) -> OwnerKeys:
        """Add a data key that seals from now on; older ones still open. Conflict with a concurrent rotation.

        Next, write the new generation to the owner's guard row, reseal every row, and call `retire_old`.
        """

        def add(root: RootKey) -> None:
            kept = self._read(root, owner)
            if not kept:
                raise NotFound("this owner has no keys yet")
            generation = _newest(kept).generation + 1
            key = new_key(root, owner, "data", generation, self._now())
            self._keystore.add(root.id, self._tag(owner, life_of(generation)), key)

        self._with_root(add)
        self._cache.drop(owner)
        return self.keys(owner)

    def retire_old(self, owner: str, generation: int) -> int:
        """Destroy every data key older than `generation` and what it sealed. Returns the number of keys.

        Not simply all but the newest: that one may belong to a rotation that has not resealed anything yet.
        """
        retired = self._with_root(lambda root: self._keystore.delete_older(root.id, owner, generation))
        self._cache.drop(owner)
        return retired

    def rotate_root(self) -> RootRotation:
        """Rewrap every key with a new root key in one transaction. Other processes switch over by themselves.

        Can be interrupted at any point and called again. Backups of the keystore still need the old root key.
        """
        with self._rotating:
            old, head = find_root_key(self._keystore, self._source, self._head())
            new = self._source.prepare_next()
            if new.id == old.id:
                raise SettingsInvalid(
                    f"the new root key is the one in use ({old.id}); provide another one to rotate to"
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
        """Destroy the owner's keys, so that nobody can read what they sealed. Idempotent.

        A tombstone holds the name until `finish_erasure`, so that the deletion of the rows can be resumed.
        """
        if not owner:
            raise InputRefused("an owner needs a name", at="owner")
        life = self._life(owner)
        if life and not self._with_root(
            lambda root: self._keystore.read(root.id, owner, self._tag(owner, life))
        ):
            life -= 1  # nothing was stored since the last erasure, which this repeats or resumes
        self._keystore.begin_erasure(owner, self._tag(owner, life))
        self._cache.drop(owner)

    def finish_erasure(self, owner: str) -> None:
        """Delete the name once the rows are deleted; a keyed hash of it stays. NotFound if none was begun."""
        life = self._life(owner)
        if not life or not self._keystore.finish_erasure(self._tag(owner, life - 1)):
            raise NotFound("no erasure of this owner was begun")

    def unfinished_erasures(self) -> list[str]:
        """Owners whose keys are destroyed but whose rows may still exist."""
        return list(self._keystore.unfinished_erasures())

    def is_erased(self, owner: str) -> bool:
        """Whether the owner was erased, from `begin_erasure` on, and the name was not readmitted since."""
        try:
            self._load(owner)
        except OwnerErased:
            return True
        return False

    def readmitted_at(self, owner: str) -> int | None:
        """When the name of an erased owner was given to this one, in seconds since 1970; None if it was not.

        OwnerErased if the name was erased and not readmitted since.
        """
        kept = self._with_root(lambda root: self._read(root, owner))
        made = [key.created_at for key in kept if key.purpose == "index" and life_of(key.generation)]
        return made[0] if made else None

    def erased_among(self, owners: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of these owners, each with the generation of a data key, whose keys were erased since."""
        tags = set(self._tombstones())
        return [each for each in owners if self._tag(each[0], life_of(each[1])) in tags]

    def erasures(self) -> int:
        """Number of owners ever erased, finished or not. It never decreases."""
        counts = self._keystore.counts()
        return counts.erased + counts.erasing

    def owners(self) -> Iterator[str]:
        """Every owner who has keys, read page by page. One who is added or erased meanwhile may be missed."""
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
        """Permanent id of the keystore. A database stores it to detect that it got another keystore."""
        return self._head().keystore_id

    def cache_name(self, *parts: str) -> str:
        """A keyed hash that names something in a cache outside the database. It is the same in every process
        with this keystore, and tells nothing about `parts`."""
        return hmac.digest(self._tag_key, length_prefixed(_CACHE_DOMAIN, *parts), "sha256")[:16].hex()

    def check(self) -> None:
        """Read the keystore as a request does that needs keys. Raises what that request would raise."""
        self._with_root(lambda root: self._keystore.read(root.id, _CHECK_OWNER, self._tag(_CHECK_OWNER)))

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
        keys = self._with_root(lambda root: self._unwrapped(root, self._read(root, owner)))
        if keys is not None:
            self._cache.put(keys, drops)
        return keys

    def _read(self, root: RootKey, owner: str) -> Sequence[WrappedKey]:
        """The wrapped keys of an owner. OwnerErased if the name was erased and not readmitted."""
        try:
            return self._keystore.read(root.id, owner, self._tag(owner))
        except OwnerErased:
            kept = self._keystore.read(root.id, owner, self._tag(owner, self._life(owner)))
            if not kept:
                raise
            return kept

    def _life(self, owner: str) -> int:
        """How often the name was erased."""
        life = 0
        while self._keystore.has_tombstone(self._tag(owner, life)):
            life += 1
        return life

    def _make(self, owner: str, life: int) -> OwnerKeys:
        generation = life * _LIFE + 1

        def insert(root: RootKey) -> OwnerKeys | None:
            made = [new_key(root, owner, purpose, generation, self._now()) for purpose in ("data", "index")]
            return self._unwrapped(root, self._keystore.insert(root.id, self._tag(owner, life), made))

        drops = self._cache.drops
        keys = self._with_root(insert)
        if keys is None:
            raise StoreDamaged(
                f"the keystore {self._keystore.location} did not store new keys; check its disk"
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
        return OwnerKeys(newest.owner, newest.generation, sealer, BlindIndex(index_key), sealers)

    def _notify(self, owner: str) -> None:
        for listener in self._listeners:
            listener(owner)

    def _with_root(self, operation: Callable[[RootKey], T]) -> T:
        """Run `operation`. If the root key was rotated meanwhile, load it again and retry once."""
        try:
            return operation(self._root)
        except RootKeyMismatch:
            self._root, _ = find_root_key(self._keystore, self._source, self._head())
            return operation(self._root)

    def _head(self) -> Head:
        head = self._keystore.head()
        if head is None:
            raise StoreDamaged(f"the keystore {self._keystore.location} was emptied while in use; restore it")
        return head

    def _tag(self, owner: str, life: int = 0) -> bytes:
        parts = (_TAG_DOMAIN, owner, str(life)) if life else (_TAG_DOMAIN, owner)
        return hmac.digest(self._tag_key, length_prefixed(*parts), "sha256")

    def _now(self) -> int:
        return int(self._clock())


def _at_generation(keys: OwnerKeys, generation: int) -> OwnerKeys:
    """The keys, sealing under `generation`. OwnerErased for the generation of an earlier life of the name."""
    if life_of(generation) < life_of(keys.generation):
        raise OwnerErased("this owner was erased; the name belongs to a new owner now")
    return keys.at_generation(generation)


def _newest(kept: Sequence[WrappedKey]) -> WrappedKey:
    return max((key for key in kept if key.purpose == "data"), key=lambda key: key.generation)
