"""The sealed values of a store as data: a key rotation reseals them, and `gieok check` opens them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from gieok.adapters.sql.driver.database import Value
from gieok.vault import Place


class SealedRow(NamedTuple):
    """The sealed values of one row."""

    replace: str
    """The query that stores them again."""
    key: Mapping[str, Value]
    """Which row: the other parameters of that query."""
    values: Mapping[str, tuple[Place, bytes]]
    """Each sealed value by its parameter, with the place that it is bound to."""


class SealPage(NamedTuple):
    rows: Sequence[SealedRow]
    after: bytes | None
    """The position of the last row, for the next page; None at the end."""


class Sealed(Protocol):
    """A store with sealed rows."""

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The next rows after a position, which is empty at the start."""
        ...
