"""The vectors of a persona as one matrix in memory, brought up to date by stamps, within a limit of bytes.

In clear only here. The database says what is current: each comparison asks for its mark inside its own
transaction, so that several processes agree, and reads only what changed since.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gieok.errors import ModelUnavailable
from gieok.memory.companion.embedder import Vector
from gieok.memory.companion.vectors import Mark, StoredVector, VectorStore

PAGE = 2_000
"""Vectors read at a time."""
ROW_BYTES = 160
"""What a row takes besides its numbers, about: which memory it is of, and what finds it."""
LARGEST = 1e15
"""No number of a vector comes near it; a larger one is a mistake, and would make lengths infinite."""
HALF = np.dtype("<f2")

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]


def checked(vectors: Sequence[Vector], count: int, dimension: int) -> Floats:
    """The vectors as rows. ModelUnavailable unless they are so many, so long, and of real numbers."""
    try:
        rows = np.asarray(vectors, dtype=np.float64).reshape(len(vectors), -1 if len(vectors) else dimension)
    except (TypeError, ValueError):
        raise ModelUnavailable("the embedder gave something else than vectors of numbers") from None
    if len(rows) != count or (count and rows.shape[1] != dimension):
        raise ModelUnavailable(
            f"the embedder gave {len(rows)} vectors of {rows.shape[1]} numbers for {count} texts, and not of "
            f"{dimension} numbers; check the name and the dimension of its model"
        )
    if not (np.abs(rows) < LARGEST).all():
        raise ModelUnavailable("the embedder gave a number that is not finite; use another model")
    return rows.astype(np.float32)


def packed(rows: Floats) -> list[bytes]:
    """Vectors of length 1, as half floats."""
    return [row.tobytes() for row in _unit(rows).astype(HALF)]


class _Key(NamedTuple):
    owner: str
    persona_id: str
    space: str


class Matrix:
    """The vectors of one persona in one space. Rows are in no order; each says its memory and its stamp."""

    def __init__(self, generation: int, dimension: int, most: int) -> None:
        """`most` is how many rows it may have."""
        self.generation = generation
        """Of the key that sealed what is read here."""
        self.dimension = dimension
        self.lock = Lock()
        """Held while it is brought up to date and compared."""
        self.mark = Mark(0, 0)
        self._most = most
        self._rows: Floats = np.empty((0, dimension), dtype=np.float32)
        self._numbers: Whole = np.empty(0, dtype=np.int64)
        self._stamps: Whole = np.empty(0, dtype=np.int64)
        self._archived: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._places: dict[int, int] = {}

    @property
    def bytes(self) -> int:
        """What it takes, about: its rows, and what finds them."""
        return self._rows.nbytes + ROW_BYTES * len(self._numbers)

    def update(self, store: VectorStore, persona_id: str, space: str, mark: Mark) -> None:
        """Read what changed. A mark before this matrix's own is of an older snapshot and changes nothing."""
        if mark.stamp <= self.mark.stamp:
            return
        if not self._places:
            self._load(store, persona_id, space)
        else:
            if mark.removed > self.mark.stamp:
                self._keep(set(store.numbers(persona_id, space)))
            stamp, number = self.mark.stamp + 1, 0
            while page := store.since(persona_id, space, stamp, number, PAGE):
                self._put(page)
                stamp, number = page[-1].stamp, page[-1].number
        self.mark = mark

    def compare(self, asked: Vector, stamp: int, *, include_archived: bool) -> dict[int, float]:
        """Cosines by number, of the rows that a snapshot with this stamp can know."""
        count = len(self._places)
        rows = self._rows[:count]
        query = _unit(checked([asked], 1, self.dimension))[0]
        known = self._stamps[:count] <= stamp
        if not include_archived:
            known &= ~self._archived[:count]
        cosines = rows @ query
        return dict(zip(self._numbers[:count][known].tolist(), cosines[known].tolist(), strict=True))

    def _load(self, store: VectorStore, persona_id: str, space: str) -> None:
        """Everything, newest first: of more than fits, the newest."""
        before: int | None = None
        room = self._most
        while room and (page := store.newest(persona_id, space, before, min(PAGE, room))):
            self._put(page)
            room -= len(page)
            before = page[-1].number

    def _put(self, page: Sequence[StoredVector]) -> None:
        """Add or replace rows."""
        opened = np.frombuffer(b"".join(each.values for each in page), dtype=HALF)
        rows = _unit(opened.reshape(len(page), self._rows.shape[1]).astype(np.float32))
        self._grow(len(self._places) + len(page))
        places = [self._places.setdefault(each.number, len(self._places)) for each in page]
        self._rows[places] = rows
        self._numbers[places] = [each.number for each in page]
        self._stamps[places] = [each.stamp for each in page]
        self._archived[places] = [each.is_archived for each in page]
        if len(self._places) > self._most:
            self._keep(set(sorted(self._places)[-self._most :]))

    def _grow(self, needed: int) -> None:
        """Room for rows to come, so that one more memory does not copy all of them."""
        have = len(self._numbers)
        if needed <= have:
            return
        extra = max(needed, min(have + have // 4, self._most)) - have
        self._rows = np.concatenate([self._rows, np.empty((extra, self._rows.shape[1]), dtype=np.float32)])
        self._numbers = np.concatenate([self._numbers, np.zeros(extra, dtype=np.int64)])
        self._stamps = np.concatenate([self._stamps, np.zeros(extra, dtype=np.int64)])
        self._archived = np.concatenate([self._archived, np.zeros(extra, dtype=np.bool_)])

    def _keep(self, numbers: set[int]) -> None:
        """Drop the rows of all other memories."""
        kept = [place for number, place in self._places.items() if number in numbers]
        self._rows, self._numbers = self._rows[kept], self._numbers[kept]
        self._stamps, self._archived = self._stamps[kept], self._archived[kept]
        self._places = {int(number): place for place, number in enumerate(self._numbers)}


class Matrices:
    """The matrices of this process. The one that was not used for longest goes when there is no more room."""

    def __init__(self, limit_bytes: int) -> None:
        self.bytes = 0
        """What all of them take."""
        self._limit = limit_bytes
        self._lock = Lock()
        self._kept: OrderedDict[_Key, Matrix] = OrderedDict()
        self._sizes: dict[_Key, int] = {}

    def compare(
        self, store: VectorStore, persona_id: str, space: str, asked: Vector, include_archived: bool
    ) -> Mapping[int, float]:
        """The cosine of each memory of a persona that has a vector in the space."""
        key = _Key(store.owner, persona_id, space)
        matrix = self._take(key, store.generation, len(asked))
        with matrix.lock:
            mark = store.mark(persona_id)
            matrix.update(store, persona_id, space, mark)
            cosines = matrix.compare(asked, mark.stamp, include_archived=include_archived)
            size = matrix.bytes
        self._weigh(key, matrix, size)
        return cosines

    def forget(self, owner: str) -> None:
        """Drop everything of an owner."""
        with self._lock:
            for key in [key for key in self._kept if key.owner == owner]:
                self._drop(key)

    def _take(self, key: _Key, generation: int, dimension: int) -> Matrix:
        """Made anew when the owner's key is: what an old key sealed is not to outlive it here."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None and (found.generation, found.dimension) == (generation, dimension):
                self._kept.move_to_end(key)
                return found
            if found is not None:
                self._drop(key)
            made = Matrix(generation, dimension, max(1, self._limit // (4 * dimension + ROW_BYTES)))
            self._kept[key], self._sizes[key] = made, 0
            return made

    def _weigh(self, key: _Key, matrix: Matrix, size: int) -> None:
        """Count what a matrix takes now, and make room. One that was dropped meanwhile stays dropped."""
        with self._lock:
            if self._kept.get(key) is not matrix:
                return
            self.bytes += size - self._sizes[key]
            self._sizes[key] = size
            while self.bytes > self._limit:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        del self._kept[key]
        self.bytes -= self._sizes.pop(key)


def _unit(rows: Floats) -> Floats:
    """Each row at length 1; one without a direction stays at 0 and is close to nothing."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
