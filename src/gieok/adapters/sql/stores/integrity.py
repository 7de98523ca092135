"""Checks and repairs in SQL of what is stored twice: seals, heads, counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.seals import SealedRow
from gieok.errors import SealBroken
from gieok.vault import OwnerKeys, Place


class _Entries(NamedTuple):
    """Messages and facts in the index of a persona: how many, the last number, the last revision."""

    entries: int
    last: int
    revision: int

    def covers(self, actual: _Entries) -> bool:
        """Whether the count is right, and number and revision are not behind."""
        return (
            self.entries == actual.entries and self.last >= actual.last and self.revision >= actual.revision
        )


class SqlIntegrity:
    """The integrity of one owner's rows inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def reseal(self, rows: Iterable[SealedRow]) -> None:
        """Seal the values of these rows under the current key."""
        for row in rows:
            sealed = {name: self._keys.reseal(place, value) for name, (place, value) in row.values.items()}
            self._tx.run(row.replace, **row.key, **sealed)

    def broken_seals(self, rows: Iterable[SealedRow]) -> list[Place]:
        """The places whose value does not open."""
        return [
            place for row in rows for place, value in row.values.values() if not self._opens(place, value)
        ]

    def remove_broken(self, rows: Iterable[SealedRow], query: str) -> None:
        """Delete rows with a value that does not open. `query` takes the key of a row."""
        for row in rows:
            if self.broken_seals([row]):
                self._tx.run(query, **row.key)

    def find(self, query: str, limit: int) -> list[str]:
        """The ids of the rows that a query of `integrity.sql` finds."""
        return [" ".join(map(_id_text, row)) for row in self._tx.all(query, limit=limit)]

    def wrong_entry_counts(self) -> list[str]:
        """The personas whose index has another number of messages and facts, or an older revision, than the
        rows say."""
        return [
            persona_id for persona_id, stored, actual in self._entry_counts() if not stored.covers(actual)
        ]

    def repair_entry_counts(self) -> None:
        """Count the messages and facts in the index of each persona again."""
        for persona_id, stored, actual in self._entry_counts():
            if not stored.covers(actual):
                self._tx.run(
                    "set_entry_count",
                    persona_id=persona_id,
                    entries=actual.entries,
                    last_entry=max(stored.last, actual.last),
                    revision=max(stored.revision, actual.revision) + 1,
                )

    def _entry_counts(self) -> Iterator[tuple[str, _Entries, _Entries]]:
        """Each persona with the stored counts and those of its rows."""
        facts = {row[0]: _Entries(*row[1:]) for row in self._tx.all("list_fact_counts")}
        for row in self._tx.all("list_entry_counts"):
            messages = _Entries(*row[4:])
            of_facts = facts.get(self._keys.token("facts.persona", row[0]), _Entries(0, 0, 0))
            actual = _Entries(
                messages.entries + of_facts.entries,
                max(messages.last, of_facts.last),
                max(messages.revision, of_facts.revision),
            )
            yield row[0], _Entries(*row[1:4]), actual

    def run(self, *queries: str) -> None:
        """Run repairs of `integrity.sql`."""
        for query in queries:
            self._tx.run(query)

    def lock(self) -> None:
        """Hold off other writers of this owner until the transaction ends."""
        self._tx.one("lock_whole_owner")

    def _opens(self, place: Place, sealed: bytes) -> bool:
        try:
            self._keys.open(place, sealed)
        except SealBroken:
            return False
        return True


def _id_text(value: str | int | bytes) -> str:
    return str(UUID(bytes=value)) if isinstance(value, bytes) else str(value)
