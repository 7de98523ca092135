"""Vectors as arrays: normalised rows, stored as half floats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HALF = np.dtype("<f2")
"""The format in which vectors are stored."""

VectorRows = NDArray[np.float32]


def unit_rows(rows: VectorRows) -> VectorRows:
    """Normalise each row to length 1. A zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def pack_rows(rows: VectorRows) -> list[bytes]:
    """Rows normalised to length 1, each as half floats."""
    return [row.tobytes() for row in unit_rows(rows).astype(HALF)]


def unpack_rows(packed: bytes, dimension: int) -> VectorRows:
    """The rows of packed ones, one after the other, with length 1 again. ValueError for another length."""
    return unit_rows(np.frombuffer(packed, dtype=HALF).reshape(-1, dimension).astype(np.float32))
