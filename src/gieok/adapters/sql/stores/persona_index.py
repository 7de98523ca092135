"""What all rows in the search index of a persona share: how their terms are packed, and the revision.

Memories, the messages of the persona's sessions and its facts are one index. Messages and facts are numbered
together, apart from the memories; in the index their numbers begin at `ENTRIES` (memory/companion/store.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gieok.adapters.sql.driver.database import Tx
from gieok.memory.companion.recall.query import word_count
from gieok.ranking import pack_terms
from gieok.vault import OwnerKeys

_FIELD = "memories.terms"
MEMORY, MESSAGE, FACT = 0, 1, 2
"""The kinds of rows, as the index has them."""


def tokens_of(keys: OwnerKeys, persona_id: str, terms: Sequence[str]) -> list[int]:
    """The tokens of these terms in the index of a persona."""
    return keys.tokens(_FIELD, persona_id, terms)


def pack_row(
    keys: OwnerKeys, persona_id: str, version: int, own: Sequence[str], added: Sequence[str] = ()
) -> bytes:
    """The terms of a row: of its text, and of the words that describe it."""
    return pack_terms(
        version,
        Counter(tokens_of(keys, persona_id, own)),
        Counter(tokens_of(keys, persona_id, added)),
        own_words=word_count(own),
        added_words=word_count(added),
    )


def change_entries(tx: Tx, persona_id: str, *, added: int = 0) -> tuple[int, int]:
    """Raise the revision of a persona's index, because messages or facts change. Returns it, and the number
    of the last entry. Locks the index until the transaction ends.

    `added` is the number of new entries, negative for removed ones.
    """
    changed = {"persona_id": persona_id, "created": max(added, 0), "added": added}
    row = tx.one("change_index_entries", **changed)
    if row is None:
        tx.run("add_memory_config", persona_id=persona_id)
        row = tx.one("change_index_entries", **changed)
    assert row is not None  # noqa: S101  it was added, here or by another process, and is never deleted
    return row[0], row[1]
