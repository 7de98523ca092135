"""Export and import of version chains: personas, facts, policy and decisions, one record per version."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.lifecycle.export.records import (
    DecisionRecord,
    DocumentRecord,
    FactRecord,
    PersonaRecord,
    PolicyRecord,
    check_unchanged,
    read_rows,
    subset,
)
from gieok.adapters.sql.stores.canon import SqlFactStore
from gieok.adapters.sql.stores.decisions import SqlDecisionStore
from gieok.adapters.sql.stores.documents import SqlDocumentStore
from gieok.adapters.sql.stores.personas import SqlPersonaStore
from gieok.adapters.sql.stores.policy import ROOT, SqlPolicyStore, read_policy
from gieok.errors import Conflict, InputRefused
from gieok.memory.canon import documents
from gieok.memory.canon.documents import FACT_FORM, NEW_FACT_FIELDS, FactDocument, PersonaDocument
from gieok.memory.canon.records import FactDraft, PersonaDraft
from gieok.memory.canon.rules import check_persona
from gieok.memory.chains import ChainVersion
from gieok.memory.decisions import documents as decision_documents
from gieok.memory.decisions.records import DecisionContent
from gieok.memory.documents.records import DocumentDraft

_BY_VERSION = {"root_id": (0, b""), "version": (1, 0)}


class PersonaTransfer(SqlPersonaStore):
    """Personas of one owner."""

    def export(self) -> Iterator[PersonaRecord]:
        for row in read_rows(self._tx, "list_chain_seals", _BY_VERSION, kind="persona"):
            yield _persona_record(self._chain.open_row(row))

    def import_(self, record: PersonaRecord) -> bool:
        """Add a version, which must follow the newest stored one. False if it exists already."""
        stored = _stored_version(self._tx, "persona", record)
        if stored:
            return check_unchanged(record, _persona_record(self._chain.open_row(stored)), record.root_id)
        check_persona(record)
        self._ensure_head(record)
        draft = subset(PersonaDraft, record)
        expected = record.version - 1
        self._append(record.root_id, record.persona_id, draft, record.version_id, record.created_at, expected)
        self._tx.run("move_persona", persona_id=record.persona_id, version=record.version)
        return True

    def _ensure_head(self, record: PersonaRecord) -> None:
        """Add the head with the first version. Conflict if the id belongs to another persona."""
        if record.version == 1:
            self._tx.run(
                "add_persona",
                persona_id=record.persona_id,
                root_id=record.root_id.bytes,
                created_at=to_micros(record.created_at),
            )
        head = self._tx.one("get_persona_head", persona_id=record.persona_id)
        if head is None:
            raise InputRefused("is a version of a persona whose first version is not before it")
        if head[0] != record.root_id.bytes:
            raise Conflict(
                f"another persona '{record.persona_id}' exists already; "
                "import into another user, or rename it"
            )


class FactTransfer(SqlFactStore):
    """Facts of one owner."""

    def export(self) -> Iterator[FactRecord]:
        last: FactRecord | None = None
        for row in read_rows(self._tx, "list_fact_exports", _BY_VERSION):
            version = self._chain.open_row(row[:6])
            document = documents.from_document(FactDocument, version.content, version.form)
            if document.is_retired and last is not None:
                end = {"retired_at": version.created_at, "reason": document.reason or last.reason}
                last = last.model_copy(update=end)
                continue
            if last is not None:
                yield last
            last = _fact_record(version, document, row[6])
        if last is not None:
            yield last

    def import_(self, record: FactRecord) -> bool:
        """Add a version. False if it exists already, even if it was retired later than the stored one."""
        stored = _stored_version(self._tx, "fact", record)
        if stored:
            version = self._chain.open_row(stored)
            document = documents.from_document(FactDocument, version.content, version.form)
            without_end = {"retired_at": None, "reason": None}
            kept = _fact_record(version, document, None).model_copy(update=without_end)
            return check_unchanged(record.model_copy(update=without_end), kept, record.root_id)
        self._lock(record.persona_id)
        self._ensure_head(record)
        content = {name: getattr(record, name) for name in FactDraft.model_fields}
        document = FactDocument(**content, persona_id=record.persona_id, reason=record.reason)
        previous, root_id = record.version - 1, record.root_id
        self._append(root_id, document, record.version_id, record.valid_from, previous, form=record.form)
        if record.retired_at is not None:
            retired = document.model_copy(update={"is_retired": True})
            self._append(root_id, retired, uuid4(), record.retired_at, record.version)
        return True

    def _ensure_head(self, record: FactRecord) -> None:
        """Add the head with the first version. Another fact may have its token already."""
        if record.version == 1:
            tokens = (
                self._slot_token(record.persona_id, record),
                self._slot_token(record.persona_id, record, str(record.root_id)),
            )
            any(
                self._add_head(token, record.persona_id, record.root_id, record, record.valid_from)
                for token in tokens
            )
        token = self._persona_token(record.persona_id)
        if self._tx.one("get_fact_head", persona_token=token, root_id=record.root_id.bytes) is None:
            raise InputRefused("is a version of a fact whose first version is not before it")


class DecisionTransfer(SqlDecisionStore):
    """Decisions of one owner."""

    def export(self) -> Iterator[DecisionRecord]:
        for row in read_rows(self._tx, "list_chain_seals", _BY_VERSION, kind="decision"):
            yield _decision_record(self._chain.open_row(row))

    def import_(self, record: DecisionRecord) -> bool:
        """Add a version, which must follow the newest stored one. False if it exists already."""
        stored = _stored_version(self._tx, "decision", record)
        if stored:
            return check_unchanged(record, _decision_record(self._chain.open_row(stored)), record.root_id)
        self.append(
            record.root_id,
            subset(DecisionContent, record),
            version_id=record.version_id,
            created_at=record.created_at,
            expected_version=record.version - 1,
        )
        return True


class PolicyTransfer(SqlPolicyStore):
    """The policy of one owner."""

    def export(self) -> Iterator[PolicyRecord]:
        for row in read_rows(self._tx, "list_chain_seals", _BY_VERSION, kind="policy"):
            yield _policy_record(self._chain.open_row(row))

    def import_(self, record: PolicyRecord) -> bool:
        """Add a version, which must follow the newest stored one. False if it exists already."""
        stored = self._tx.one("get_chain_version", kind="policy", root_id=ROOT.bytes, version=record.version)
        if stored:
            return check_unchanged(record, _policy_record(self._chain.open_row(stored)), record.version)
        self.append(
            record.principles,
            version_id=record.version_id,
            created_at=record.created_at,
            expected_version=record.version - 1,
        )
        return True


class DocumentTransfer(SqlDocumentStore):
    """Documents of one owner."""

    def export(self) -> Iterator[DocumentRecord]:
        for row in read_rows(self._tx, "list_document_exports", _BY_VERSION):
            yield self._record(self._chain.open_row(row[:6]), row[6])

    def import_(self, record: DocumentRecord) -> bool:
        """Add a version, which must follow the newest stored one. False if it exists already, even if it
        expires at another time. Conflict if another document has its name."""
        stored = _stored_version(self._tx, "document", record)
        without_expiry = record.model_copy(update={"expires_at": None})
        if stored:
            kept = self._record(self._chain.open_row(stored), None)
            return check_unchanged(without_expiry, kept, record.root_id)
        self._lock()
        named = self._tx.one("get_document_head", name_token=self._name_token(record))
        if named is not None and named[0] != record.root_id.bytes:
            raise Conflict(
                f"another document with the name of {record.root_id} exists already; "
                "import into another user, or delete it first"
            )
        first_at = record.created_at if named is None else from_micros(named[2])
        self.append(
            record.root_id,
            subset(DocumentDraft, record),
            version_id=record.version_id,
            created_at=record.created_at,
            first_at=first_at,
            expires_at=record.expires_at,
            expected_version=record.version - 1,
        )
        return True

    def _record(self, version: ChainVersion, expires_at: int | None) -> DocumentRecord:
        return DocumentRecord(
            kind="document",
            **dict(self._content(version)),
            root_id=version.root_id,
            version=version.version,
            version_id=version.id,
            created_at=version.created_at,
            expires_at=None if expires_at is None else from_micros(expires_at),
        )


def _stored_version(
    tx: Tx, kind: str, record: PersonaRecord | FactRecord | DecisionRecord | DocumentRecord
) -> Row | None:
    return tx.one("get_chain_version", kind=kind, root_id=record.root_id.bytes, version=record.version)


def _persona_record(version: ChainVersion) -> PersonaRecord:
    document = documents.from_document(PersonaDocument, version.content, version.form)
    written = {name: getattr(document, name) for name in PersonaDraft.model_fields}
    return PersonaRecord(
        kind="persona",
        **written,
        persona_id=document.id,
        root_id=version.root_id,
        version=version.version,
        version_id=version.id,
        created_at=version.created_at,
    )


def _fact_record(version: ChainVersion, document: FactDocument, retired_at: int | None) -> FactRecord:
    """The record of a version, in the format in which it is stored."""
    content = {
        name: getattr(document, name)
        for name in FactDraft.model_fields
        if version.form >= FACT_FORM or name not in NEW_FACT_FIELDS
    }
    return FactRecord(
        kind="fact",
        **content,
        persona_id=document.persona_id,
        root_id=version.root_id,
        version=version.version,
        version_id=version.id,
        valid_from=version.created_at,
        retired_at=None if retired_at is None else from_micros(retired_at),
        reason=document.reason,
    )


def _policy_record(version: ChainVersion) -> PolicyRecord:
    return PolicyRecord(
        kind="policy",
        principles=read_policy(version).principles,
        version=version.version,
        version_id=version.id,
        created_at=version.created_at,
    )


def _decision_record(version: ChainVersion) -> DecisionRecord:
    content = decision_documents.from_document(version.content, version.form)
    return DecisionRecord(
        kind="decision",
        **dict(content),
        root_id=version.root_id,
        version=version.version,
        version_id=version.id,
        created_at=version.created_at,
    )
