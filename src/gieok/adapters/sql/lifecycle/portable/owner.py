"""All rooms of one owner together: every record out, and every record in, inside one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.lifecycle.portable.chains import DecisionCarrier, FactCarrier, PersonaCarrier
from gieok.adapters.sql.lifecycle.portable.decisions import (
    AnchorCarrier,
    AuditCarrier,
    EvidenceCarrier,
    RelationCarrier,
)
from gieok.adapters.sql.lifecycle.portable.memories import MemoryCarrier, MomentCarrier, TurnCarrier
from gieok.adapters.sql.lifecycle.portable.records import AnchorRecord, DecisionRecord, Record, RelationRecord
from gieok.adapters.sql.lifecycle.portable.sessions import SessionCarrier
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.decisions.known import check_decisions, check_evidence, check_targets
from gieok.memory.decisions.store import DecisionRooms
from gieok.vault import OwnerKeys


@dataclass(frozen=True)
class Taken:
    """What an import came to."""

    added: Counter[str]
    """New records, by kind."""
    unchanged: int
    """Records that were there already."""


class SqlPortable:
    """Everything of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, rooms: DecisionRooms, now: datetime) -> None:
        self._tx = tx
        self._rooms = rooms
        self._personas = PersonaCarrier(tx, keys)
        self._facts = FactCarrier(tx, keys)
        self._sessions = SessionCarrier(tx, keys, now)
        self._turns = TurnCarrier(tx, keys)
        self._memories = MemoryCarrier(tx, keys)
        self._moments = MomentCarrier(tx, keys)
        self._evidence = EvidenceCarrier(tx, keys)
        self._decisions = DecisionCarrier(tx, keys)
        self._relations = RelationCarrier(tx)
        self._anchors = AnchorCarrier(tx, keys)
        self._audit = AuditCarrier(tx)

    def count(self) -> int:
        """How many records there are."""
        row = self._tx.one("count_exports")
        return int(row[0]) if row else 0

    def records(self) -> Iterator[Record]:
        """Every record, whatever it refers to before it. Only a page of rows is in memory at a time."""
        yield from self._personas.out()
        yield from self._memories.configs()
        yield from self._facts.out()
        yield from self._sessions.out()
        yield from self._turns.out()
        yield from self._memories.out()
        yield from self._moments.out()
        yield from self._evidence.out()
        yield from self._decisions.out()
        yield from self._relations.out()
        yield from self._anchors.out()
        yield from self._audit.out()

    def take(self, records: Iterable[tuple[int, Record]]) -> Taken:
        """Keep records, each given with the number of its line.

        InputRefused and Conflict name the line. The index, the counts and the heads are made anew here, and
        what waits for a summary is queued.
        """
        bring = self._by_kind()
        added: Counter[str] = Counter()
        seen = line = 0
        for line, record in records:
            with _at(line):
                added[record.kind] += bring[record.kind](record)
            seen += 1
        with _at(line):
            self._sessions.finish()
        return Taken(+added, seen - added.total())

    def _by_kind(self) -> dict[str, Callable[[Any], bool]]:
        return {
            "persona": self._personas.bring,
            "memoryConfig": self._memories.bring_config,
            "fact": self._facts.bring,
            "session": self._sessions.bring,
            "planMove": self._sessions.bring_move,
            "message": self._sessions.bring_message,
            "turnMemory": self._turns.bring,
            "memory": self._memories.bring,
            "moment": self._moments.bring,
            "evidence": self._evidence.bring,
            "decision": self._bring_decision,
            "relation": self._bring_relation,
            "anchor": self._bring_anchor,
            "audit": self._audit.bring,
        }

    def _bring_decision(self, record: DecisionRecord) -> bool:
        check_evidence(self._rooms, record.evidence_ids)
        return self._decisions.bring(record)

    def _bring_relation(self, record: RelationRecord) -> bool:
        check_decisions(self._rooms, (record.source, record.target))
        return self._relations.bring(record)

    def _bring_anchor(self, record: AnchorRecord) -> bool:
        check_targets(self._rooms, record.targets)
        return self._anchors.bring(record)


@contextmanager
def _at(line: int) -> Generator[None]:
    """Say on which line of the stream it was."""
    try:
        yield
    except (InputRefused, NotFound) as refused:
        raise InputRefused(str(refused), at=f"line {line}") from None
    except Conflict as clash:
        raise Conflict(f"line {line}: {clash}") from None
