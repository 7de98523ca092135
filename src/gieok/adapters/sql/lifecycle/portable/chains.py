"""Version chains, out and in: personas, facts and decisions, each version a record."""

from __future__ import annotations

from collections.abc import Iterator

from gieok.adapters.sql.driver.clock import from_micros, to_micros
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.adapters.sql.lifecycle.portable.carrying import part, unchanged, walk
from gieok.adapters.sql.lifecycle.portable.records import DecisionRecord, FactRecord, PersonaRecord
from gieok.adapters.sql.stores.canon import SqlFactStore, SqlPersonaStore
from gieok.adapters.sql.stores.decisions import SqlDecisionStore
from gieok.errors import Conflict, InputRefused
from gieok.memory.canon import documents
from gieok.memory.canon.documents import FactDocument, PersonaDocument
from gieok.memory.canon.records import FactDraft, PersonaDraft
from gieok.memory.canon.rules import check_persona, is_state
from gieok.memory.chains.records import ChainVersion
from gieok.memory.decisions import upcasting
from gieok.memory.decisions.records import DecisionContent

_KEY = {"root_id": (0, b""), "version": (1, 0)}


class PersonaCarrier(SqlPersonaStore):
    """Personas of one owner, out and in."""

    def out(self) -> Iterator[PersonaRecord]:
        for row in walk(self._tx, "list_chain_seals", _KEY, kind="persona"):
            yield _persona(self._chain.open_row(row))

    def bring(self, record: PersonaRecord) -> bool:
        """Whether it is new. A version that is not there yet must follow the newest one that is."""
        known = _version(self._tx, "persona", record)
        if known:
            return unchanged(record, _persona(self._chain.open_row(known)), record.root_id)
        check_persona(record)
        self._find_place(record)
        draft = part(PersonaDraft, record)
        expected = record.version - 1
        self._append(record.root_id, record.persona_id, draft, record.version_id, record.created_at, expected)
        self._tx.run("move_persona", persona_id=record.persona_id, version=record.version)
        return True

    def _find_place(self, record: PersonaRecord) -> None:
        if record.version == 1:
            self._tx.run(
                "add_persona",
                persona_id=record.persona_id,
                root_id=record.root_id.bytes,
                created_at=to_micros(record.created_at),
            )
        head = self._tx.one("get_persona_head", persona_id=record.persona_id)
        if head is None:
            raise InputRefused("is a version of a persona whose first version did not come before it")
        if head[0] != record.root_id.bytes:
            raise Conflict(
                f"persona '{record.persona_id}' is another one here; import into another user, or rename it"
            )


class FactCarrier(SqlFactStore):
    """Facts of one owner, out and in."""

    def out(self) -> Iterator[FactRecord]:
        for row in walk(self._tx, "list_fact_exports", _KEY):
            yield _fact(self._chain.open_row(row[:6]), row[6])

    def bring(self, record: FactRecord) -> bool:
        """Whether it is new. Of a version that is there, a later retirement changes nothing."""
        known = _version(self._tx, "fact", record)
        if known:
            given = record.model_copy(update={"retired_at": None})
            return unchanged(given, _fact(self._chain.open_row(known), None), record.root_id)
        draft = part(FactDraft, record)
        token = self._key_token(record.persona_id, record.category, record.key)
        if record.version == 1:
            self._begin(record.persona_id, token, record.root_id, draft, record.valid_from)
        self._check_head(token, record)
        expected = record.version - 1
        self._append(record.root_id, record.persona_id, draft, record.version_id, record.valid_from, expected)
        self._move(record)
        return True

    def _check_head(self, token: int, record: FactRecord) -> None:
        head = self._tx.one("hold_fact_by_key", key_token=token)
        if head is None:
            raise InputRefused("is a version of a fact whose first version did not come before it")
        if head[0] != record.root_id.bytes:
            raise Conflict(
                f"a fact of the same persona, category and key as {record.root_id} is there already; "
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


class DecisionCarrier(SqlDecisionStore):
    """Decisions of one owner, out and in."""

    def out(self) -> Iterator[DecisionRecord]:
        for row in walk(self._tx, "list_chain_seals", _KEY, kind="decision"):
            yield _decision(self._chain.open_row(row))

    def bring(self, record: DecisionRecord) -> bool:
        """Whether it is new. A version that is not there yet must follow the newest one that is."""
        known = _version(self._tx, "decision", record)
        if known:
            return unchanged(record, _decision(self._chain.open_row(known)), record.root_id)
        self.append(
            record.root_id,
            part(DecisionContent, record),
            version_id=record.version_id,
            created_at=record.created_at,
            expected_version=record.version - 1,
        )
        return True


def _version(tx: Tx, kind: str, record: PersonaRecord | FactRecord | DecisionRecord) -> Row | None:
    return tx.one("get_chain_version", kind=kind, root_id=record.root_id.bytes, version=record.version)


def _persona(version: ChainVersion) -> PersonaRecord:
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


def _fact(version: ChainVersion, retired_at: int | None) -> FactRecord:
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


def _decision(version: ChainVersion) -> DecisionRecord:
    content = upcasting.from_document(version.content, version.form)
    return DecisionRecord(
        kind="decision",
        **dict(content),
        root_id=version.root_id,
        version=version.version,
        version_id=version.id,
        created_at=version.created_at,
    )
