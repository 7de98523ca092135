"""Personas in SQL: version chains, and heads that point to the active versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.adapters.sql.stores.cached import CachedPersona
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.adapters.sql.stores.seals import SealPage
from gieok.errors import Conflict, NotFound, SealBroken, StoreDamaged
from gieok.memory.canon.documents import FORM, PersonaDocument, from_document, to_document
from gieok.memory.canon.records import PersonaCard, PersonaDraft
from gieok.memory.chains import NEW, ChainHead, ChainVersion, VersionDraft, check_expected
from gieok.vault import OwnerKeys


class SqlPersonaStore:
    """Personas of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, cached: CachedPersona | None = None) -> None:
        self._tx = tx
        self._cached = cached
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
        cached = self._cached if self._cached and self._cached.persona_id == persona_id else None
        if cached is not None and (card := self._open_cached(persona_id, cached)):
            return card
        row = self._tx.one("get_persona", persona_id=persona_id)
        card = _card(persona_id, self._chain.open_row(row)) if row else None
        if row and cached is not None:
            cached.keep(row[4])
        return card

    def _open_cached(self, persona_id: str, cached: CachedPersona) -> PersonaCard | None:
        """The card, if the cache has the content of the version that is active here."""
        if cached.sealed is None:
            return None
        row = self._tx.one("get_persona_revision", persona_id=persona_id)
        if row is None or row[2] is None:
            return None
        try:
            version = self._chain.open_row((*row[:4], cached.sealed, row[4]))
        except SealBroken:
            return None
        cached.is_hit = True
        return _card(persona_id, version)

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
        # In the order of turns and jobs, so that a deletion does not end in a deadlock with them.
        self._tx.all("lock_persona_sessions", persona_id=persona_id)
        self._tx.one("lock_memory_config", persona_id=persona_id)
        self._tx.run("remove_persona", persona_id=persona_id)
        self._chain.delete(UUID(bytes=row[0]))
        return True

    def lock(self, persona_id: str) -> None:
        """Lock a persona until the transaction ends. Does nothing if there is none."""
        self._tx.one("lock_persona", persona_id=persona_id)

    def versions(self, persona_id: str, *, after: int, limit: int) -> list[PersonaCard]:
        head = self._tx.one("get_persona_head", persona_id=persona_id)
        found = self._chain.history(UUID(bytes=head[0]), after, limit) if head else []
        return [_card(persona_id, version) for version in found]

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        return self._chain.seals(after, limit)

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


def _author_fields(persona: PersonaDraft) -> dict[str, Any]:
    """The author's fields of a record that may have more."""
    return {name: getattr(persona, name) for name in PersonaDraft.model_fields}


def _card(persona_id: str, version: ChainVersion) -> PersonaCard:
    document = from_document(PersonaDocument, version.content, version.form)
    if document.id != persona_id:
        # Heads are not sealed, so a head that points to another persona is damage.
        raise StoreDamaged(f"persona {version.root_id} is in the wrong place of the index; restore a backup")
    return PersonaCard(**dict(document), version=version.version, created_at=version.created_at)
