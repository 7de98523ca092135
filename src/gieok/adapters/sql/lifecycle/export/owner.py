"""Export and import of every store of one owner, inside one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.lifecycle.export.chains import (
    DecisionTransfer,
    DocumentTransfer,
    FactTransfer,
    PersonaTransfer,
    PolicyTransfer,
)
from gieok.adapters.sql.lifecycle.export.conversations import (
    MemoryTransfer,
    MemoryVersionTransfer,
    MomentTransfer,
    SessionTransfer,
    TurnMemoryTransfer,
)
from gieok.adapters.sql.lifecycle.export.evidence import (
    AnchorTransfer,
    AuditTransfer,
    EvidenceTransfer,
    RelationTransfer,
)
from gieok.adapters.sql.lifecycle.export.records import (
    AnchorRecord,
    DecisionRecord,
    ProfileRecord,
    Record,
    RelationRecord,
    check_unchanged,
    subset,
)
from gieok.adapters.sql.stores.profile import SqlProfileStore
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.decisions.checks import check_decisions, check_evidence, check_targets
from gieok.memory.decisions.store import DecisionView
from gieok.memory.profile import Profile
from gieok.vault import OwnerKeys


@dataclass(frozen=True)
class Imported:
    """Result of an import."""

    added: Counter[str]
    """Added records, by kind."""
    unchanged: int
    """Records that existed already."""


class OwnerTransfer:
    """Everything of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, view: DecisionView, now: datetime) -> None:
        self._tx = tx
        self._view = view
        self._now = now
        self._personas = PersonaTransfer(tx, keys)
        self._facts = FactTransfer(tx, keys)
        self._profile = SqlProfileStore(tx, keys)
        self._sessions = SessionTransfer(tx, keys, now)
        self._turns = TurnMemoryTransfer(tx, keys)
        self._memories = MemoryTransfer(tx, keys)
        self._memory_versions = MemoryVersionTransfer(tx, keys)
        self._moments = MomentTransfer(tx, keys)
        self._evidence = EvidenceTransfer(tx, keys)
        self._policy = PolicyTransfer(tx, keys)
        self._decisions = DecisionTransfer(tx, keys)
        self._relations = RelationTransfer(tx)
        self._anchors = AnchorTransfer(tx, keys)
        self._documents = DocumentTransfer(tx, keys)
        self._audit = AuditTransfer(tx)

    def count(self) -> int:
        """Number of records."""
        row = self._tx.one("count_exports")
        return int(row[0]) if row else 0

    def export(self) -> Iterator[Record]:
        """Every record, after those that it refers to. Only one page of rows is in memory at a time."""
        yield from self._export_profile()
        yield from self._personas.export()
        yield from self._memories.export_configs()
        yield from self._facts.export()
        yield from self._sessions.export()
        yield from self._turns.export()
        yield from self._memories.export()
        yield from self._memory_versions.export()
        yield from self._moments.export()
        yield from self._evidence.export()
        yield from self._policy.export()
        yield from self._decisions.export()
        yield from self._relations.export()
        yield from self._anchors.export()
        yield from self._documents.export()
        yield from self._audit.export()

    def import_(self, records: Iterable[tuple[int, Record]]) -> Imported:
        """Add records, each given with its line number. Existing ones must be the same.

        InputRefused and Conflict name the line. Indexes, counts and heads are rebuilt, and summaries that
        were waiting are queued. Of facts that share a slot now, the older ones are retired.
        """
        import_one = self._by_kind()
        added: Counter[str] = Counter()
        seen = line = 0
        for line, record in records:
            with _at(line):
                if record.kind != "memory":
                    self._memories.finish()  # the record may refer to them
                added[record.kind] += import_one[record.kind](record)
            seen += 1
        with _at(line):
            self._memories.finish()
            self._sessions.finish()
            if added["fact"]:
                self._facts.consolidate(at=self._now)
        return Imported(+added, seen - added.total())

    def _by_kind(self) -> dict[str, Callable[[Any], bool]]:
        return {
            "profile": self._import_profile,
            "persona": self._personas.import_,
            "memoryConfig": self._memories.import_config,
            "fact": self._facts.import_,
            "session": self._sessions.import_,
            "planMove": self._sessions.import_move,
            "message": self._sessions.import_message,
            "turnMemory": self._turns.import_,
            "memory": self._memories.import_,
            "memoryVersion": self._memory_versions.import_,
            "moment": self._moments.import_,
            "evidence": self._evidence.import_,
            "policy": self._policy.import_,
            "decision": self._import_decision,
            "relation": self._import_relation,
            "anchor": self._import_anchor,
            "document": self._documents.import_,
            "audit": self._audit.import_,
        }

    def _export_profile(self) -> Iterator[ProfileRecord]:
        profile = self._profile.get()
        if profile != Profile():
            yield ProfileRecord(kind="profile", **dict(profile))

    def _import_profile(self, record: ProfileRecord) -> bool:
        """Set the profile. False if it is set already."""
        stored = self._profile.get()
        if stored != Profile():
            return check_unchanged(record, ProfileRecord(kind="profile", **dict(stored)), "of the user")
        self._profile.save(subset(Profile, record))
        return True

    def _import_decision(self, record: DecisionRecord) -> bool:
        check_evidence(self._view, record.evidence_ids)
        return self._decisions.import_(record)

    def _import_relation(self, record: RelationRecord) -> bool:
        check_decisions(self._view, (record.source, record.target))
        return self._relations.import_(record)

    def _import_anchor(self, record: AnchorRecord) -> bool:
        check_targets(self._view, record.targets)
        return self._anchors.import_(record)


@contextmanager
def _at(line: int) -> Generator[None]:
    """Add the line number to errors."""
    try:
        yield
    except (InputRefused, NotFound) as refused:
        raise InputRefused(str(refused), at=f"line {line}") from None
    except Conflict as clash:
        raise Conflict(f"line {line}: {clash}") from None
