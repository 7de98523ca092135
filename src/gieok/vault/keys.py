"""One owner's keys, ready for use."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from gieok.vault.blind_index import BlindIndex
from gieok.vault.opened import Opened, Shelf
from gieok.vault.sealing import KEY_BYTES, KEY_ID_BYTES, Place, Sealer
from gieok.vault.secret import Secret

T = TypeVar("T")


class OwnerKeys(Secret):
    """One owner's live keys, cheap to use from any thread. Ask `Vault` for them in each unit of work."""

    __slots__ = ("_index", "_older", "_sealer", "_shelf", "generation", "owner")

    def __init__(
        self,
        owner: str,
        generation: int,
        sealer: Sealer,
        index: BlindIndex,
        older: Mapping[int, Sealer] = MappingProxyType({}),
        shelf: Shelf | None = None,
    ) -> None:
        """`older` seals, by generation, under keys that a rotation has not destroyed yet. On `shelf` lies
        what was opened with these keys; without one nothing is kept."""
        self.owner = owner
        self.generation = generation
        self._sealer = sealer
        self._index = index
        self._older = older
        self._shelf = shelf or Shelf(Opened(0))

    @classmethod
    def unknown(cls, owner: str) -> OwnerKeys:
        """Throw-away keys to read with for an owner who has none: nothing matches and nothing opens."""
        key_id = os.urandom(KEY_ID_BYTES)
        sealer = Sealer(owner, {key_id: os.urandom(KEY_BYTES)}, current=key_id)
        return cls(owner, 0, sealer, BlindIndex(os.urandom(KEY_BYTES)))

    def of(self, generation: int) -> OwnerKeys:
        """These keys, sealing under `generation`; under the newest one where that is destroyed already."""
        sealer = self._older.get(generation)
        return OwnerKeys(self.owner, generation, sealer, self._index, shelf=self._shelf) if sealer else self

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """`plaintext` under the owner's current data key, bound to `place`."""
        return self._sealer.seal(place, plaintext)

    def open(self, place: Place, sealed: bytes) -> bytes:
        """What was sealed at `place` for this owner; `SealBroken` for everything else."""
        return self._sealer.open(place, sealed)

    def once(self, sealed: Hashable, open_it: Callable[[], T]) -> T:
        """What `open_it` gives, or gave before for the same `sealed`, which says all that it depends on."""
        return self._shelf.once(sealed, open_it)

    def find(self, name: Hashable) -> Any:
        """What is kept under a name as long as the keys are; None where nothing is."""
        return self._shelf.find(name)

    def keep(self, name: Hashable, value: object) -> None:
        """Keep what was made of opened values under a name, in the place of the one before."""
        self._shelf.keep(name, value)

    def let_go(self) -> None:
        """Forget what was opened, for good. The keys themselves stay usable for whoever holds them."""
        self._shelf.close()

    def seal_anew(self, place: Place, sealed: bytes) -> bytes:
        """The same value under the owner's current data key."""
        return self.seal(place, self.open(place, sealed))

    def token(self, field: str, *parts: str) -> int:
        """The blind-index token of `parts` in `field`: a signed 64-bit number that no rotation changes."""
        return self._index.token(field, *parts)

    def tokens(self, field: str, place: str, words: Iterable[str]) -> list[int]:
        """The tokens of many words in one place: `token(field, place, word)` for each, quicker."""
        return self._index.tokens(field, place, words)

    def digest(self, field: str, *parts: str) -> bytes:
        """A keyed hash of `parts` in `field`: 32 bytes that no rotation changes."""
        return self._index.digest(field, *parts)

    def __repr__(self) -> str:
        return f"<OwnerKeys generation={self.generation}>"
