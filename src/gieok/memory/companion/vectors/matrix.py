"""The vectors of a persona as one matrix in memory, in a cache that is bounded in bytes.

Decrypted vectors exist only here. Each comparison reads the revision of the vectors in its own transaction
and loads only what changed, so that all processes agree.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gieok.errors import ModelUnavailable
from gieok.memory.companion.vectors.search import Revision, StoredVector, Vector, VectorStore
from gieok.ranking import VectorRows, unit_rows, unpack_rows

PAGE = 2_000
"""Vectors read at a time."""
ROW_BYTES = 160
"""Estimated size of a row without its vector."""
MAX_VALUE = 1e15
"""A larger value in a vector is an error, and would make its length infinite."""

Whole = NDArray[np.int64]
Cosines = NDArray[np.float64]


def check_vectors(vectors: Sequence[Vector], count: int, dimension: int) -> VectorRows:
    """The vectors as rows. ModelUnavailable for a wrong count or length, or a value that is not finite."""
    try:
        rows = np.asarray(vectors, dtype=np.float64).reshape(len(vectors), -1 if len(vectors) else dimension)
    except (TypeError, ValueError):
        raise ModelUnavailable("the embedder did not return vectors of numbers") from None
    if len(rows) != count or (count and rows.shape[1] != dimension):
        raise ModelUnavailable(
            f"the embedder returned {len(rows)} vectors of length {rows.shape[1]} for {count} texts, not of "
            f"length {dimension}; check the name and the dimension of its model"
        )
    if not (np.abs(rows) < MAX_VALUE).all():
        raise ModelUnavailable("the embedder returned a number that is not finite; use another model")
    return rows.astype(np.float32)


class _Key(NamedTuple):
    owner: str
    persona_id: str
    space: str


class Matrix:
    """The vectors of one persona in one space. Rows have no order; each has a memory number and a stamp."""

    def __init__(self, generation: int, dimension: int, max_rows: int) -> None:
        self.generation = generation
        """The generation of the owner's keys."""
        self.dimension = dimension
        self.lock = Lock()
        """Held during an update and a comparison."""
        self.revision = Revision(0, 0)
        self._max_rows = max_rows
        self._rows: VectorRows = np.empty((0, dimension), dtype=np.float32)
        self._numbers: Whole = np.empty(0, dtype=np.int64)
        self._stamps: Whole = np.empty(0, dtype=np.int64)
        self._archived: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._row_of: dict[int, int] = {}

    @property
    def bytes(self) -> int:
        """Estimated size."""
        return self._rows.nbytes + ROW_BYTES * len(self._numbers)

    def update(self, store: VectorStore, persona_id: str, space: str, revision: Revision) -> None:
        """Load what changed. Does nothing for the revision of an older snapshot."""
        if revision.stamp <= self.revision.stamp:
            return
        if not self._row_of:
            self._load(store, persona_id, space)
        else:
            if revision.removed > self.revision.stamp:
                self._keep(set(store.numbers(persona_id, space)))
            stamp, number = self.revision.stamp + 1, 0
            while page := store.since(persona_id, space, stamp, number, PAGE):
                self._put(page)
                stamp, number = page[-1].stamp, page[-1].number
        self.revision = revision

    def compare(self, query: Vector, stamp: int, *, include_archived: bool) -> tuple[Whole, Cosines]:
        """Memory numbers and their cosines, of the rows up to the stamp of the caller's snapshot."""
        count = len(self._row_of)
        rows = self._rows[:count]
        normalised = unit_rows(check_vectors([query], 1, self.dimension))[0]
        visible = self._stamps[:count] <= stamp
        if not include_archived:
            visible &= ~self._archived[:count]
        cosines = rows @ normalised
        return self._numbers[:count][visible], cosines[visible].astype(np.float64)

    def _load(self, store: VectorStore, persona_id: str, space: str) -> None:
        """Load all vectors, newest first, up to the limit of rows."""
        before: int | None = None
        room = self._max_rows
        while room and (page := store.newest(persona_id, space, before, min(PAGE, room))):
            self._put(page)
            room -= len(page)
            before = page[-1].number

    def _put(self, page: Sequence[StoredVector]) -> None:
        """Add or replace rows."""
        rows = unpack_rows(b"".join(each.values for each in page), self._rows.shape[1])
        self._grow(len(self._row_of) + len(page))
        rows_of_page = [self._row_of.setdefault(each.number, len(self._row_of)) for each in page]
        self._rows[rows_of_page] = rows
        self._numbers[rows_of_page] = [each.number for each in page]
        self._stamps[rows_of_page] = [each.stamp for each in page]
        self._archived[rows_of_page] = [each.is_archived for each in page]
        if len(self._row_of) > self._max_rows:
            self._keep(set(sorted(self._row_of)[-self._max_rows :]))

    def _grow(self, needed: int) -> None:
        """Allocate spare rows, so that one more memory does not copy the matrix."""
        have = len(self._numbers)
        if needed <= have:
            return
        extra = max(needed, min(have + have // 4, self._max_rows)) - have
        self._rows = np.concatenate([self._rows, np.empty((extra, self._rows.shape[1]), dtype=np.float32)])
        self._numbers = np.concatenate([self._numbers, np.zeros(extra, dtype=np.int64)])
        self._stamps = np.concatenate([self._stamps, np.zeros(extra, dtype=np.int64)])
        self._archived = np.concatenate([self._archived, np.zeros(extra, dtype=np.bool_)])

    def _keep(self, numbers: set[int]) -> None:
        """Remove the rows of all other memories."""
        kept = [row for number, row in self._row_of.items() if number in numbers]
        self._rows, self._numbers = self._rows[kept], self._numbers[kept]
        self._stamps, self._archived = self._stamps[kept], self._archived[kept]
        self._row_of = {int(number): row for row, number in enumerate(self._numbers)}


class MatrixCache:
    """LRU cache of matrices, bounded in bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self.bytes = 0
        """Estimated size of all matrices."""
        self._limit = limit_bytes
        self._lock = Lock()
        self._matrices: OrderedDict[_Key, Matrix] = OrderedDict()
        self._sizes: dict[_Key, int] = {}

    def compare(
        self, store: VectorStore, persona_id: str, space: str, query: Vector, include_archived: bool
    ) -> tuple[Whole, Cosines]:
        """The numbers of a persona's memories with a vector in the space, and their cosines."""
        key = _Key(store.owner, persona_id, space)
        matrix = self._get_or_create(key, store.generation, len(query))
        with matrix.lock:
            revision = store.revision(persona_id)
            matrix.update(store, persona_id, space, revision)
            cosines = matrix.compare(query, revision.stamp, include_archived=include_archived)
            size = matrix.bytes
        self._set_size(key, matrix, size)
        return cosines

    def clear(self, owner: str) -> None:
        """Remove all matrices of an owner."""
        with self._lock:
            for key in [key for key in self._matrices if key.owner == owner]:
                self._evict(key)

    def _get_or_create(self, key: _Key, generation: int, dimension: int) -> Matrix:
        """The cached matrix, or a new one if the owner's keys or the dimension changed."""
        with self._lock:
            found = self._matrices.get(key)
            if found is not None and (found.generation, found.dimension) == (generation, dimension):
                self._matrices.move_to_end(key)
                return found
            if found is not None:
                self._evict(key)
            made = Matrix(generation, dimension, max(1, self._limit // (4 * dimension + ROW_BYTES)))
            self._matrices[key], self._sizes[key] = made, 0
            return made

    def _set_size(self, key: _Key, matrix: Matrix, size: int) -> None:
        """Set the size of a matrix and evict others if necessary. Does nothing for one that was evicted."""
        with self._lock:
            if self._matrices.get(key) is not matrix:
                return
            self.bytes += size - self._sizes[key]
            self._sizes[key] = size
            while self.bytes > self._limit:
                self._evict(next(iter(self._matrices)))

    def _evict(self, key: _Key) -> None:
        del self._matrices[key]
        self.bytes -= self._sizes.pop(key)
