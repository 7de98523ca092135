"""Export and import of version chains: personas, facts, policy and decisions, one record per version."""

from __future__ import annotations

from collections.abc import Iterator

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.lifecycle.export.records import (
    DecisionRecord,
    FactRecord,
    PersonaRecord,
    PolicyRecord,
    check_unchanged,
    read_rows,
    subset,
)
from gieok.adapters.sql.stores.canon import SqlFactStore, SqlPersonaStore
from gieok.adapters.sql.stores.decisions import SqlDecisionStore
from gieok.adapters.sql.stores.policy import ROOT, SqlPolicyStore, read_policy
from gieok.errors import Conflict, InputRefused
from gieok.memory.canon import documents
from gieok.memory.canon.documents import FactDocument, PersonaDocument
from gieok.memory.canon.records import FactDraft, PersonaDraft
from gieok.memory.canon.rules import check_persona, is_state
from gieok.memory.chains import ChainVersion
from gieok.memory.decisions import documents as decision_documents
from gieok.memory.decisions.records import DecisionContent

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
        for row in read_rows(self._tx, "list_fact_exports", _BY_VERSION):
            yield _fact_record(self._chain.open_row(row[:6]), row[6])

    def import_(self, record: FactRecord) -> bool:
        """Add a version. False if it exists already, even if it was retired later than the stored one."""
        stored = _stored_version(self._tx, "fact", record)
        if stored:
            given = record.model_copy(update={"retired_at": None})
            return check_unchanged(given, _fact_record(self._chain.open_row(stored), None), record.root_id)
        draft = subset(FactDraft, record)
        token = self._key_token(record.persona_id, record.category, record.key)
        if record.version == 1:
            self._add(record.persona_id, token, record.root_id, draft, record.valid_from)
        self._check_head(token, record)
        expected = record.version - 1
        self._append(record.root_id, record.persona_id, draft, record.version_id, record.valid_from, expected)
        self._move(record)
        return True

    def _check_head(self, token: int, record: FactRecord) -> None:
        head = self._tx.one("lock_fact_by_key", key_token=token)
        if head is None:
            raise InputRefused("is a version of a fact whose first version is not before it")
        if head[0] != record.root_id.bytes:
            raise Conflict(
                f"a fact with the same persona, category and key as {record.root_id} exists already; "
                "import into another user"
            )

    def _move(self, record: FactRecord) -> None:
        self._tx.run(
            "move_fact",
            root_id=record.root_id.bytes,
            version=record.version,
            standing=2 if is_state(record.category) else 1,
            importance=record.importance,
            updated_at=to_micros(record.valid_from),
        )
        if record.retired_at is not None:
            self._chain.retire(record.root_id, record.version)
            self._tx.run("retire_fact", root_id=record.root_id.bytes, updated_at=to_micros(record.retired_at))


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


def _stored_version(tx: Tx, kind: str, record: PersonaRecord | FactRecord | DecisionRecord) -> Row | None:
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


def _fact_record(version: ChainVersion, retired_at: int | None) -> FactRecord:
    document = documents.from_document(FactDocument, version.content, version.form)
    return FactRecord(
        kind="fact",
        **dict(document),
        root_id=version.root_id,
        version=version.version,
        version_id=version.id,
        valid_from=version.created_at,
        retired_at=None if retired_at is None else from_micros(retired_at),
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
