"""Which version comes next: the one rule that every chain lives by."""

from __future__ import annotations

from uuid import UUID

from gieok.errors import Conflict, NotFound
from gieok.memory.chains.records import ChainHead

NEW = 0
"""The version that a writer expects of a chain that does not exist yet."""


def next_version(root_id: UUID, head: ChainHead | None, expected: int | None) -> int:
    """The number of the version to append.

    `expected` is the newest version that the writer has seen, `NEW` for a chain that is to begin, or None for
    a writer who appends to whatever is there. Conflict names both versions where the writer is behind;
    NotFound where there is no chain to append to.
    """
    if head is None:
        if expected == NEW:
            return 1
        raise NotFound(f"there is nothing with the root {root_id} to append to")
    check_expected(head, expected)
    return head.latest + 1


def check_expected(head: ChainHead, expected: int | None) -> None:
    """Refuse a writer who has not seen the newest version."""
    if expected is not None and expected != head.latest:
        raise Conflict(
            f"this is at version {head.latest}, and version {expected} was expected; read it again and "
            "decide anew"
        )
