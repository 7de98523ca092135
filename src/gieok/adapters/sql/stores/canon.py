"""Canon in SQL: version chains of personas and facts, and heads that point to the active versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, to_micros
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.errors import Conflict, NotFound, StoreDamaged
from gieok.memory.canon.documents import FORM, FactDocument, PersonaDocument, from_document, to_document
from gieok.memory.canon.records import Fact, FactChange, FactDraft, FactVersion, PersonaCard, PersonaDraft
from gieok.memory.canon.rules import changes, is_state, normal_key
from gieok.memory.chains import NEW, ChainHead, ChainVersion, VersionDraft, check_expected
from gieok.memory.observations import Category
from gieok.vault import OwnerKeys

_RETIRED, _ORDINARY, _STATE = 0, 1, 2
_ALL = 2**31


class SqlPersonaStore:
    """Personas of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._chain = SqlChainStore(tx, keys, "persona")

    def create(self, persona_id: str, draft: PersonaDraft, *, version_id: UUID, at: datetime) -> PersonaCard:
        added = self._tx.run(
            "add_persona", persona_id=persona_id, root_id=version_id.bytes, created_at=to_micros(at)
        )
        if not added:
            raise Conflict("a persona with this id exists; edit it, or choose another id")
        return self._append(version_id, persona_id, draft, version_id, at, NEW)

    def edit(
        self,
        persona_id: str,
        draft: PersonaDraft,
        *,
        version_id: UUID,
        at: datetime,
        expected_version: int | None,
    ) -> PersonaCard:
        row = self._tx.one("lock_persona", persona_id=persona_id)
        active = self.get(persona_id) if row else None
        if row is None or active is None:
            raise NotFound("no such persona")
        root_id = UUID(bytes=row[0])
        if _author_fields(active) == _author_fields(draft):
            check_expected(
                ChainHead(root_id=root_id, latest=active.version, is_retired=False), expected_version
            )
            return active
        card = self._append(root_id, persona_id, draft, version_id, at, expected_version)
        self._tx.run("move_persona", persona_id=persona_id, version=card.version)
        return card

    def get(self, persona_id: str) -> PersonaCard | None:
        row = self._tx.one("get_persona", persona_id=persona_id)
        return _card(persona_id, self._chain.open_row(row)) if row else None

    def list(self, *, after: str | None, limit: int) -> list[PersonaCard]:
        head = self._tx.one("get_persona_head", persona_id=after) if after else None
        if after and head is None:
            raise NotFound("no such persona in `after`")
        rows = self._tx.all(
            "list_personas", created_at=head[1] if head else 0, persona_id=after or "", limit=limit
        )
        return [_card(row[0], self._chain.open_row(row[1:])) for row in rows]

    def delete(self, persona_id: str) -> bool:
        row = self._tx.one("lock_persona", persona_id=persona_id)
        if row is None:
            return False
        self._tx.run("remove_persona", persona_id=persona_id)
        self._chain.delete(UUID(bytes=row[0]))
        return True

    def versions(self, persona_id: str, *, after: int, limit: int) -> list[PersonaCard]:
        head = self._tx.one("get_persona_head", persona_id=persona_id)
        found = self._chain.history(UUID(bytes=head[0]), after, limit) if head else []
        return [_card(persona_id, version) for version in found]

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Reseal the next versions. Returns their number and the next cursor, if any."""
        return self._chain.reseal(after, limit)

    def _append(
        self,
        root_id: UUID,
        persona_id: str,
        draft: PersonaDraft,
        version_id: UUID,
        at: datetime,
        expected_version: int | None,
    ) -> PersonaCard:
        document = PersonaDocument(**_author_fields(draft), id=persona_id)
        version = VersionDraft(id=version_id, form=FORM, content=to_document(document), created_at=at)
        return _card(persona_id, self._chain.append(root_id, version, expected_version))


class SqlFactStore:
    """Facts of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys
        self._chain = SqlChainStore(tx, keys, "fact")

    def save(self, persona_id: str, draft: FactDraft, *, version_id: UUID, at: datetime) -> FactChange:
        token = self._key_token(persona_id, draft.category, draft.key)
        head = self._tx.one("lock_fact_by_key", key_token=token)
        if head is None:
            if self._add(persona_id, token, version_id, draft, at):
                fact = self._append(version_id, persona_id, draft, version_id, at, NEW)
                return FactChange(outcome="added", fact=fact)
            # Another writer has added the same fact and committed in the meantime.
            head = cast(Row, self._tx.one("lock_fact_by_key", key_token=token))
        root_id = UUID(bytes=head[0])
        is_retired = head[1] == _RETIRED
        active = None if is_retired else self._active_of(root_id, persona_id, draft.category, draft.key)
        if active is not None and not changes(active, draft):
            return FactChange(outcome="unchanged", fact=active)
        fact = self._append(root_id, persona_id, draft, version_id, at, None)
        self._tx.run(
            "move_fact",
            root_id=head[0],
            version=fact.version,
            standing=_standing(draft.category),
            importance=draft.importance,
            updated_at=to_micros(at),
        )
        return FactChange(outcome="added" if is_retired else "superseded", fact=fact)

    def retract(self, persona_id: str, category: Category, key: str, *, at: datetime) -> FactChange:
        head = self._tx.one("lock_fact_by_key", key_token=self._key_token(persona_id, category, key))
        if head is None or head[1] == _RETIRED:
            return FactChange(outcome="unknown", fact=None)
        return self._retire(self._active_of(UUID(bytes=head[0]), persona_id, category, key), at)

    def retire(self, persona_id: str, root_id: UUID, *, at: datetime) -> FactChange:
        head = self._tx.one("lock_fact", persona_token=self._persona_token(persona_id), root_id=root_id.bytes)
        if head is None or head[1] == _RETIRED:
            raise NotFound(f"there is no active fact {root_id}")
        return self._retire(self._active_of(root_id, persona_id), at)

    def active(self, persona_id: str, *, only_state: bool, limit: int) -> list[Fact]:
        rows = self._tx.all(
            "list_state" if only_state else "list_facts",
            persona_token=self._persona_token(persona_id),
            limit=limit,
        )
        return [self._listed(persona_id, row) for row in rows]

    def delete(self, persona_id: str, session_ref: str | None) -> int:
        if session_ref is None:
            rows = self._tx.all("list_fact_roots", persona_token=self._persona_token(persona_id))
            roots = [UUID(bytes=root) for (root,) in rows]
        else:
            facts = self.active(persona_id, only_state=False, limit=_ALL)
            roots = [each.root_id for each in facts if each.source and each.source.session_ref == session_ref]
        for root_id in roots:
            self._tx.run("remove_fact", root_id=root_id.bytes)
            self._chain.delete(root_id)
        return len(roots)

    def history(self, persona_id: str, root_id: UUID, *, after: int, limit: int) -> list[FactVersion]:
        token = self._persona_token(persona_id)
        if self._tx.one("has_fact", persona_token=token, root_id=root_id.bytes) is None:
            return []
        return [
            FactVersion(**dict(_fact(persona_id, version)), is_active=version.is_active)
            for version in self._chain.history(root_id, after, limit)
        ]

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Reseal the next versions. Returns their number and the next cursor, if any."""
        return self._chain.reseal(after, limit)

    def _add(self, persona_id: str, token: int, root_id: UUID, draft: FactDraft, at: datetime) -> bool:
        added = self._tx.run(
            "add_fact",
            key_token=token,
            persona_token=self._persona_token(persona_id),
            root_id=root_id.bytes,
            standing=_standing(draft.category),
            importance=draft.importance,
            updated_at=to_micros(at),
        )
        return added == 1

    def _append(
        self,
        root_id: UUID,
        persona_id: str,
        draft: FactDraft,
        version_id: UUID,
        at: datetime,
        expected_version: int | None,
    ) -> Fact:
        fields = {name: getattr(draft, name) for name in FactDraft.model_fields}
        document = FactDocument(**fields, persona_id=persona_id)
        version = VersionDraft(id=version_id, form=FORM, content=to_document(document), created_at=at)
        return _fact(persona_id, self._chain.append(root_id, version, expected_version))

    def _retire(self, fact: Fact, at: datetime) -> FactChange:
        self._chain.retire(fact.root_id, fact.version)
        self._tx.run("retire_fact", root_id=fact.root_id.bytes, updated_at=to_micros(at))
        return FactChange(outcome="retired", fact=fact)

    def _active_of(
        self, root_id: UUID, persona_id: str, category: Category | None = None, key: str | None = None
    ) -> Fact:
        """The active version, which must be of this category and key (None: any)."""
        found = [_fact(persona_id, version) for version in self._chain.active([root_id])]
        if (
            not found
            or category not in (None, found[0].category)
            or (key is not None and normal_key(key) != normal_key(found[0].key))
        ):
            raise _misplaced("fact", root_id)
        return found[0]

    def _listed(self, persona_id: str, row: Row) -> Fact:
        fact = _fact(persona_id, self._chain.open_row(row[1:]))
        if row[0] != _standing(fact.category):
            raise _misplaced("fact", fact.root_id)
        return fact

    def _persona_token(self, persona_id: str) -> int:
        return self._keys.token("facts.persona", persona_id)

    def _key_token(self, persona_id: str, category: Category, key: str) -> int:
        return self._keys.token("facts.key", persona_id, category, normal_key(key))


def _standing(category: Category) -> int:
    return _STATE if is_state(category) else _ORDINARY


def _author_fields(persona: PersonaDraft) -> dict[str, Any]:
    """The author's fields of a record that may have more."""
    return {name: getattr(persona, name) for name in PersonaDraft.model_fields}


def _card(persona_id: str, version: ChainVersion) -> PersonaCard:
    document = from_document(PersonaDocument, version.content, version.form)
    if document.id != persona_id:
        raise _misplaced("persona", version.root_id)
    return PersonaCard(**dict(document), version=version.version, created_at=version.created_at)


def _fact(persona_id: str, version: ChainVersion) -> Fact:
    document = from_document(FactDocument, version.content, version.form)
    if document.persona_id != persona_id:
        raise _misplaced("fact", version.root_id)
    content = {name: getattr(document, name) for name in FactDraft.model_fields}
    return Fact(**content, root_id=version.root_id, version=version.version, valid_from=version.created_at)


def _misplaced(kind: str, root_id: UUID) -> StoreDamaged:
    """Heads are not sealed, so a head that points to another fact or persona is damage."""
    return StoreDamaged(f"{kind} {root_id} is in the wrong place of the index; restore a backup")
