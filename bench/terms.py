"""Random packed terms for filler rows. They decode, and no query matches them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

_RECORD = np.dtype([("token", ">i8"), ("own", ">u2"), ("added", ">u2")])
_SEED = 7


def random_terms(rows: int, counts: Sequence[int], *, version: int, words: int) -> Iterator[bytes]:
    """The packed terms of `rows` rows, each with as many tokens as `counts` has numbers."""
    limits = np.iinfo(np.int64)
    tokens = np.random.default_rng(_SEED).integers(limits.min, limits.max, (rows, len(counts)))
    packed = np.zeros((rows, 1 + len(counts)), _RECORD)
    packed["token"][:, 0], packed["own"][:, 0] = version, words
    packed["token"][:, 1:], packed["own"][:, 1:] = np.sort(tokens, axis=1), counts
    return (row.tobytes() for row in packed)
