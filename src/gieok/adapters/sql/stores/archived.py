"""Messages whose text is in the archive only: how a row says so, and how a transaction gets the text.

A transaction cannot wait for the archive. It raises `ContentArchived` with all messages that it needs;
`OwnerScope` fetches their copies and runs the work again with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from gieok.adapters.copies import Key, MessageCopy
from gieok.adapters.sql.driver.database import Row
from gieok.errors import GieokError, StoreDamaged
from gieok.vault import OwnerKeys

ARCHIVED = b"\x00"
"""Stands in the content column of a message whose text is in the archive. A sealed value begins with 1."""


class ContentArchived(Exception):
    """A transaction needs the text of these messages from the archive. `OwnerScope` catches this."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        super().__init__()
        self.keys = keys


@dataclass
class ArchivedContent:
    """The copies that a transaction has got so far."""

    copies: dict[Key, MessageCopy] = field(default_factory=dict[Key, MessageCopy])
    failure: GieokError | None = None
    """Why no copies can be fetched. Searches then leave these messages out; other reads fail with it."""

    def check(self, rows: Iterable[Row]) -> None:
        """Raise ContentArchived for the texts that are missing of rows with session, number and, as the sixth
        column, content."""
        needed = [(row[0], row[1]) for row in rows if is_archived(row[5])]
        if missing := tuple(key for key in needed if key not in self.copies):
            raise ContentArchived(missing)

    def text_of(self, keys: OwnerKeys, row: Row) -> str | None:
        """The text of a row that has none itself; None for one that has.

        StoreDamaged if the copy is of another message, ContentArchived if it was not fetched.
        """
        if not is_archived(row[5]):
            return None
        self.check([row])
        copy = self.copies[row[0], row[1]]
        if (copy.id, copy.role, copy.at) != tuple(row[2:5]):
            raise StoreDamaged(
                f"message {row[1]} of a session is another one in the archive; run `gieok archive verify`"
            )
        return open_text(keys, copy).content


NOTHING_ARCHIVED = ArchivedContent()
"""For transactions that have fetched nothing."""


def is_archived(content: bytes) -> bool:
    return bytes(content) == ARCHIVED


class MessageText(NamedTuple):
    """What is sealed of a message."""

    content: str
    speaker: str | None


def seal_text(keys: OwnerKeys, copy: MessageCopy, text: MessageText) -> bytes:
    """The sealed content of a copy. `copy` has the columns that it is bound to."""
    return keys.seal(copy.place, json.dumps(text, ensure_ascii=False).encode())


def open_text(keys: OwnerKeys, copy: MessageCopy) -> MessageText:
    """SealBroken if the copy was altered or moved."""
    return MessageText(*json.loads(keys.open(copy.place, copy.content or b"")))
