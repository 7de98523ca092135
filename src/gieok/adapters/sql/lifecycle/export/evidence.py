"""Export and import of evidence, relations, anchors and the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.lifecycle.export.records import (
    BY_ID,
    AnchorRecord,
    AuditRecord,
    EvidenceRecord,
    RelationRecord,
    check_unchanged,
    read_rows,
    subset,
)
from gieok.adapters.sql.stores.evidence import SqlAnchorStore, SqlEvidenceStore
from gieok.adapters.sql.stores.relations import SqlRelationStore, read_relation
from gieok.errors import Conflict
from gieok.memory.decisions.records import Anchor, EvidenceDraft, Relation


class EvidenceTransfer(SqlEvidenceStore):
    """Evidence of one owner."""

    def export(self) -> Iterator[EvidenceRecord]:
        for (identity,) in read_rows(self._tx, "list_evidence_ids", BY_ID):
            record = self._record(UUID(bytes=identity))
            if record is not None:
                yield record

    def import_(self, record: EvidenceRecord) -> bool:
        """Add a record. False if it exists already. Conflict if the same content has another id."""
        stored = self._record(record.id)
        if stored:
            return check_unchanged(record, stored, record.id)
        saved = self.save(subset(EvidenceDraft, record), evidence_id=record.id, created_at=record.created_at)
        if saved.id != record.id:
            raise Conflict(
                f"the content of evidence {record.id} is stored already under id {saved.id}; "
                "import into another user"
            )
        return True

    def _record(self, evidence_id: UUID) -> EvidenceRecord | None:
        found = self.get(evidence_id)
        if found is None:
            return None
        return EvidenceRecord(
            kind="evidence",
            id=found.id,
            title=found.title,
            source=found.source,
            content=found.content,
            created_at=found.created_at,
        )


class RelationTransfer(SqlRelationStore):
    """Relations of one owner."""

    def export(self) -> Iterator[RelationRecord]:
        for row in read_rows(self._tx, "list_relation_exports", BY_ID):
            yield _relation_record(read_relation(row))

    def import_(self, record: RelationRecord) -> bool:
        """Add a record. False if it exists already. The caller has checked its decisions."""
        stored = self.get(record.id)
        if stored:
            return check_unchanged(record, _relation_record(stored), record.id)
        saved = self.save(subset(Relation, record))
        return saved.id == record.id or check_unchanged(record, _relation_record(saved), record.id)


class AnchorTransfer(SqlAnchorStore):
    """Anchors of one owner."""

    def export(self) -> Iterator[AnchorRecord]:
        for row in read_rows(self._tx, "list_anchor_exports", BY_ID):
            yield _anchor_record(self._anchor(row))

    def import_(self, record: AnchorRecord) -> bool:
        """Add a record. False if it exists already. The caller has checked its targets."""
        stored = self.get(record.id)
        if stored:
            return check_unchanged(record, _anchor_record(stored), record.id)
        self.save(subset(Anchor, record))
        return True


class AuditTransfer:
    """The audit log of one owner."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def export(self) -> Iterator[AuditRecord]:
        for row in read_rows(self._tx, "list_audit_exports", BY_ID):
            yield _audit_record(row)

    def import_(self, record: AuditRecord) -> bool:
        """Add a record. False if it exists already."""
        stored = self._tx.one("get_audit_entry", id=record.id.bytes)
        if stored:
            return check_unchanged(record, _audit_record(stored), record.id)
        self._tx.run(
            "add_audit_entry",
            id=record.id.bytes,
            at=to_micros(record.at),
            action=record.action,
            subject=record.subject,
            number=None,  # the chain has only what was done here
            hash=None,
        )
        return True


def _anchor_record(anchor: Anchor) -> AnchorRecord:
    return AnchorRecord(kind="anchor", **dict(anchor))


def _relation_record(relation: Relation) -> RelationRecord:
    return RelationRecord(kind="relation", **dict(relation))


def _audit_record(row: Row) -> AuditRecord:
    identity, at, action, subject = row
    return AuditRecord(
        kind="audit", id=UUID(bytes=identity), at=from_micros(at), action=action, subject=subject
    )
