"""Evidence, relations and anchors, and the audit trail, out and in."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from gieok.adapters.sql.driver.clock import from_micros, to_micros
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.adapters.sql.lifecycle.portable.carrying import BY_ID, part, unchanged, walk
from gieok.adapters.sql.lifecycle.portable.records import (
    AnchorRecord,
    AuditRecord,
    EvidenceRecord,
    RelationRecord,
)
from gieok.adapters.sql.stores.evidence import SqlAnchorStore, SqlEvidenceStore
from gieok.adapters.sql.stores.relations import SqlRelationStore, read_relation
from gieok.errors import Conflict
from gieok.memory.decisions.evidence import Anchor, EvidenceDraft
from gieok.memory.decisions.records import Relation


class EvidenceCarrier(SqlEvidenceStore):
    """Evidence of one owner, out and in."""

    def out(self) -> Iterator[EvidenceRecord]:
        for (identity,) in walk(self._tx, "list_evidence_ids", BY_ID):
            record = self._record(UUID(bytes=identity))
            if record is not None:
                yield record

    def bring(self, record: EvidenceRecord) -> bool:
        """Whether it is new. Conflict where the same content is kept under another id."""
        known = self._record(record.id)
        if known:
            return unchanged(record, known, record.id)
        saved = self.save(part(EvidenceDraft, record), evidence_id=record.id, created_at=record.created_at)
        if saved.id != record.id:
            raise Conflict(
                f"the content of evidence {record.id} is kept here as {saved.id}; import into another user"
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


class RelationCarrier(SqlRelationStore):
    """Relations of one owner, out and in."""

    def out(self) -> Iterator[RelationRecord]:
        for row in walk(self._tx, "list_relation_exports", BY_ID):
            yield _relation(read_relation(row))

    def bring(self, record: RelationRecord) -> bool:
        """Whether it is new. The decisions must be there."""
        known = self.get(record.id)
        if known:
            return unchanged(record, _relation(known), record.id)
        saved = self.save(part(Relation, record))
        return saved.id == record.id or unchanged(record, _relation(saved), record.id)


class AnchorCarrier(SqlAnchorStore):
    """Anchors of one owner, out and in."""

    def out(self) -> Iterator[AnchorRecord]:
        for row in walk(self._tx, "list_anchor_exports", BY_ID):
            yield self._record(row)

    def bring(self, record: AnchorRecord) -> bool:
        """Whether it is new. What it leads to must be there."""
        known = self._tx.one("get_anchor_export", id=record.id.bytes)
        if known:
            return unchanged(record, self._record(known), record.id)
        self.save(part(Anchor, record))
        return True

    def _record(self, row: Row) -> AnchorRecord:
        return AnchorRecord(kind="anchor", **dict(self._anchor(row)))


class AuditCarrier:
    """The audit trail of one owner, out and in."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def out(self) -> Iterator[AuditRecord]:
        for row in walk(self._tx, "list_audit_exports", BY_ID):
            yield _entry(row)

    def bring(self, record: AuditRecord) -> bool:
        """Whether it is new."""
        known = self._tx.one("get_audit_entry", id=record.id.bytes)
        if known:
            return unchanged(record, _entry(known), record.id)
        self._tx.run(
            "add_audit_entry",
            id=record.id.bytes,
            at=to_micros(record.at),
            action=record.action,
            subject=record.subject,
        )
        return True


def _relation(relation: Relation) -> RelationRecord:
    return RelationRecord(kind="relation", **dict(relation))


def _entry(row: Row) -> AuditRecord:
    identity, at, action, subject = row
    return AuditRecord(
        kind="audit", id=UUID(bytes=identity), at=from_micros(at), action=action, subject=subject
    )
