"""Facts in SQL: version chains, and heads that point to the active versions and carry the index terms."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import cast
from uuid import UUID, uuid4

from gieok.adapters.sql.driver.database import Row, Tx, Value, to_micros
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.adapters.sql.stores.persona_index import change_entries, pack_row
from gieok.adapters.sql.stores.seals import SealPage
from gieok.adapters.sql.stores.search import IndexEntry
from gieok.errors import Conflict, NotFound, SealBroken, StoreDamaged
from gieok.memory.canon.documents import (
    FACT_FORM,
    FactDocument,
    fact_document,
    to_document,
)
from gieok.memory.canon.merging import consolidate, is_news, merge_edit
from gieok.memory.canon.records import (
    Fact,
    FactChange,
    FactDraft,
    FactReason,
    FactSource,
    FactVersion,
    PlannedChange,
)
from gieok.memory.canon.rules import is_state
from gieok.memory.canon.slots import identity
from gieok.memory.canon.store import MAX_ACTIVE
from gieok.memory.chains import NEW, ChainVersion, VersionDraft
from gieok.memory.companion.recall.query import label_terms
from gieok.memory.observations import Category
from gieok.vault import OwnerKeys

RETIRED, _ORDINARY, _STATE = 0, 1, 2
"""The standing of a fact, in its head."""
_ALL = 2**31


class SqlFactStore:
    """Facts of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys
        self._chain = SqlChainStore(tx, keys, "fact")

    def apply(self, persona_id: str, changes: Sequence[PlannedChange], *, at: datetime) -> list[FactChange]:
        self._lock(persona_id)
        chains: dict[UUID, UUID] = {}  # a new fact continues the retired chain of its slot
        return [self._apply(persona_id, change, chains, at) for change in changes]

    def save(self, persona_id: str, draft: FactDraft, *, at: datetime) -> FactChange:
        self._lock(persona_id)
        known = self.active(persona_id, only_state=False, limit=MAX_ACTIVE)
        return self.apply(persona_id, merge_edit(known, draft), at=at)[0]

    def retire(self, persona_id: str, root_id: UUID, *, at: datetime) -> FactChange:
        self._lock(persona_id)
        head = self._tx.one(
            "get_fact_head", persona_token=self._persona_token(persona_id), root_id=root_id.bytes
        )
        if head is None or head[2] == RETIRED:
            raise NotFound(f"there is no active fact {root_id}")
        return self._retire(persona_id, self._active_of(root_id, persona_id), None, at)

    def active(self, persona_id: str, *, only_state: bool, limit: int) -> list[Fact]:
        rows = self._tx.all(
            "list_state" if only_state else "list_facts",
            persona_token=self._persona_token(persona_id),
            limit=limit,
        )
        return [self._listed(persona_id, row) for row in rows]

    def as_of(self, persona_id: str, at: datetime, *, limit: int) -> list[Fact]:
        moment = to_micros(at)
        rows = self._tx.all(
            "list_facts_as_of", persona_token=self._persona_token(persona_id), at=moment, limit=limit
        )
        found = (self._chain.open_row(row[2:]) for row in rows if row[0] != RETIRED or row[1] > moment)
        return [_fact(persona_id, version) for version in found if not fact_document(version).is_retired]

    def roots(self, persona_id: str, *, limit: int) -> list[UUID]:
        token = self._persona_token(persona_id)
        rows = self._tx.all("list_fact_roots", persona_token=token, limit=limit)
        return [UUID(bytes=root) for (root,) in rows]

    def delete(self, persona_id: str, session_ref: str | None) -> int:
        self._lock(persona_id)
        if session_ref is None:
            roots = self.roots(persona_id, limit=_ALL)
            self._tx.run("clear_persona_requests", persona_id=persona_id)
        else:
            facts = self.active(persona_id, only_state=False, limit=_ALL)
            roots = [each.root_id for each in facts if each.source and each.source.session_ref == session_ref]
        if roots:
            self._lock(persona_id)
        indexed = sum(self._number_of(root_id) is not None for root_id in roots)
        for root_id in roots:
            self._tx.run("remove_fact", {"persona_id": persona_id}, root_id=root_id.bytes)
            self._chain.delete(root_id)
        if indexed:
            change_entries(self._tx, persona_id, added=-indexed)
        return len(roots)

    def history(self, persona_id: str, root_id: UUID, *, after: int, limit: int) -> list[FactVersion]:
        token = self._persona_token(persona_id)
        if self._tx.one("get_fact_head", persona_token=token, root_id=root_id.bytes) is None:
            return []
        # Every second version may be a retirement, and that of the last one must be read too.
        rows = self._chain.history(root_id, after, 2 * limit + 1)
        versions: list[FactVersion] = []
        for row in rows:
            document = fact_document(row)
            if not document.is_retired:
                versions.append(
                    FactVersion(
                        **dict(_fact(persona_id, row)),
                        is_active=row.is_active,
                        retired_at=None,
                        reason=document.reason,
                    )
                )
            elif versions:
                end = {"retired_at": row.created_at, "reason": document.reason}
                versions[-1] = versions[-1].model_copy(update=end)
        return versions[:limit]

    def withdraw(
        self,
        persona_id: str,
        session_ref: str,
        message_ids: Collection[str],
        *,
        at: datetime,
        reason: FactReason = "withdrawn",
        spared: Collection[UUID] = (),
    ) -> list[FactChange]:
        self._lock(persona_id)

        def is_withdrawn(source: FactSource | None) -> bool:
            if source is None:
                return False
            if source.session_ref == session_ref and source.message_id in message_ids:
                return True
            found = self._tx.one("is_message_withdrawn", session_ref=source.session_ref, id=source.message_id)
            return found is not None

        changes: list[FactChange] = []
        for row in self._tx.all("list_newest_facts", persona_token=self._persona_token(persona_id)):
            newest = self._chain.open_row(row[:6])
            source = fact_document(newest).source
            if source is None or source.session_ref != session_ref or source.message_id not in message_ids:
                continue
            if newest.root_id in spared:
                continue
            versions = self._chain.history(newest.root_id, 0, _ALL)[::-1]
            left = next((each for each in versions if not is_withdrawn(fact_document(each).source)), None)
            change = self._change_back(persona_id, newest, left, reason, at)
            if change is not None:
                changes.append(change)
        return changes

    def _change_back(
        self,
        persona_id: str,
        newest: ChainVersion,
        left: ChainVersion | None,
        reason: FactReason,
        at: datetime,
    ) -> FactChange | None:
        """Append what is left of a fact without withdrawn messages. None if nothing changes."""
        is_retired, fact = fact_document(newest).is_retired, _fact(persona_id, newest)
        if left is None or fact_document(left).is_retired:
            return None if is_retired else self._retire(persona_id, fact, reason, at)
        former = _fact(persona_id, left)
        if is_retired:
            active = self.active(persona_id, only_state=False, limit=MAX_ACTIVE)
            if any(change.root_id == former.root_id for change in consolidate([*active, former])):
                return None  # its slot has another fact by now
        document = _document(persona_id, former, reason=reason)
        restored = self._append(fact.root_id, document, uuid4(), at, fact.version)
        return FactChange(outcome="added" if is_retired else "superseded", fact=restored)

    def consolidate(self, *, at: datetime) -> int:
        retired = 0
        for (token,) in self._tx.all("list_fact_personas"):
            rows = self._tx.all("list_facts", persona_token=token, limit=1)
            persona_id = fact_document(self._chain.open_row(rows[0][1:])).persona_id
            if token != self._persona_token(persona_id):
                raise _misplaced(UUID(bytes=rows[0][1]))
            known = self.active(persona_id, only_state=False, limit=MAX_ACTIVE)
            retired += len(self.apply(persona_id, consolidate(known), at=at))
        return retired

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        return self._chain.seals(after, limit)

    def rebuild_heads(self, after: bytes, limit: int) -> bytes | None:
        """Write the heads of the next facts by root again. Returns the last root, None at the end."""
        rows = self._tx.all("list_fact_entries", after=after, limit=limit)
        for version, standing, importance, persona_token, active, *row in rows:
            fact = fact_document(self._chain.open_row(tuple(row)))
            if fact.is_retired and active is not None:
                self._chain.retire(UUID(bytes=row[0]), row[1])
            stored = (version, standing, importance, persona_token, active)
            if not self._is_right(stored, fact, row[1]):
                self._save_head(fact, row[0], row[1], is_active=active is not None, at=row[-1])
                self._index(UUID(bytes=row[0]), row[1], fact)
            after = row[0]
        return after if len(rows) == limit else None

    def head_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the heads of the next facts by root, as far as these open. Returns the last root, None at
        the end."""
        rows = self._tx.all("list_fact_entries", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for version, standing, importance, persona_token, active, *row in rows:
            with suppress(SealBroken, StoreDamaged):
                fact = fact_document(self._chain.open_row(tuple(row)))
                stored = (version, standing, importance, persona_token, active)
                entries.append(
                    IndexEntry(str(UUID(bytes=row[0])), after, row[0], self._is_right(stored, fact, row[1]))
                )
            after = row[0]
        return entries, after if len(rows) == limit else None

    def _is_right(self, stored: Row, fact: FactDocument, latest: int) -> bool:
        """Whether a head (version, standing, importance, persona, active version) is that of the fact. A fact
        that an older release retired has no version that says so."""
        active = None if fact.is_retired else stored[4]
        standing = RETIRED if active is None else _standing(fact.category)
        return stored == (latest, standing, fact.importance, self._persona_token(fact.persona_id), active)

    def _save_head(self, fact: FactDocument, root: bytes, version: int, *, is_active: bool, at: int) -> None:
        head: dict[str, Value] = {
            "persona_token": self._persona_token(fact.persona_id),
            "root_id": root,
            "standing": _standing(fact.category) if is_active and not fact.is_retired else RETIRED,
            "importance": fact.importance,
        }
        if self._tx.run("set_fact_head", version=version, **head):
            return
        token = self._slot_token(fact.persona_id, fact)
        if self._tx.one("get_fact_by_token", key_token=token):
            token = self._slot_token(fact.persona_id, fact, str(UUID(bytes=root)))
        self._tx.run("add_fact", key_token=token, updated_at=at, **head)
        self._tx.run("set_fact_head", version=version, **head)

    def index_missing(self, limit: int) -> int:
        """Index facts that an older release stored. Returns how many."""
        rows = self._tx.all("list_facts_to_index", limit=limit)
        self._reindex(rows)
        return len(rows)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next facts by id. Returns the last id, None at the end."""
        rows = self._tx.all("list_facts_to_reindex", after=after, limit=limit)
        self._reindex(rows)
        return rows[-1][0] if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the terms of the next facts by root, as far as these open. Returns the last root, None at
        the end."""
        rows = self._tx.all("list_fact_terms", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for root, version, terms in rows:
            with suppress(SealBroken, StoreDamaged):
                expected = self._packed(version, self._last_of(UUID(bytes=root), version))
                entries.append(IndexEntry(str(UUID(bytes=root)), after, root, bytes(terms) == expected))
            after = root
        return entries, after if len(rows) == limit else None

    def _packed(self, version: int, document: FactDocument) -> bytes:
        """The terms of a fact in the index of its persona; a retired fact has none."""
        words = () if document.is_retired else label_terms(_labels(document))
        return pack_row(self._keys, document.persona_id, version, words)

    def _reindex(self, rows: Sequence[Row]) -> None:
        found = [(UUID(bytes=root), version) for root, version, _ in rows]
        documents = [(self._last_of(root_id, version), root_id, version) for root_id, version in found]
        for document, root_id, version in sorted(documents, key=lambda each: each[0].persona_id):
            self._index(root_id, version, document)

    def _index(self, root_id: UUID, version: int, document: FactDocument) -> None:
        """Put the terms of a fact into the index of its persona."""
        number = self._number_of(root_id)
        revision, last = change_entries(self._tx, document.persona_id, added=int(number is None))
        self._tx.run(
            "index_fact",
            root_id=root_id.bytes,
            number=last if number is None else number,
            changed=revision,
            terms=self._packed(version, document),
        )

    def _number_of(self, root_id: UUID) -> int | None:
        row = self._tx.one("get_fact_number", root_id=root_id.bytes)
        return row[0] if row else None

    def _lock(self, persona_id: str) -> None:
        """Let other writers of this persona's facts wait until this transaction ends, and raise the
        revision, by which other processes see that cached facts are stale.

        The index is locked first, by all writers, so that none waits for another in a circle.
        """
        change_entries(self._tx, persona_id)
        self._tx.run("lock_facts", persona_token=self._persona_token(persona_id))

    def _apply(
        self, persona_id: str, change: PlannedChange, chains: dict[UUID, UUID], at: datetime
    ) -> FactChange:
        root_id, draft = change.root_id, change.draft
        if root_id is None or draft is None:
            return FactChange(outcome="unknown", fact=None)
        if change.outcome == "added":
            added = self._add(persona_id, root_id, draft, at)
            chains[root_id] = added.fact.root_id if added.fact else root_id
            return added
        active = self._active_of(chains.get(root_id, root_id), persona_id)
        if root_id not in chains and active.version != change.expected_version:
            raise Conflict(f"fact {root_id} was changed meanwhile; read the facts again and retry")
        if change.outcome == "unchanged":
            return FactChange(outcome="unchanged", fact=active)
        if change.outcome == "retired":
            return self._retire(persona_id, active, change.reason, at, change.source)
        document = _document(persona_id, draft, reason=change.reason)
        fact = self._append(active.root_id, document, uuid4(), at, active.version)
        return FactChange(outcome="superseded", fact=fact)

    def _add(self, persona_id: str, root_id: UUID, draft: FactDraft, at: datetime) -> FactChange:
        """Begin a chain, or continue the one of the same slot: it was retired, or added meanwhile."""
        document = _document(persona_id, draft)
        token = self._slot_token(persona_id, draft)
        if not self._add_head(token, persona_id, root_id, draft, at):
            taken = cast(Row, self._tx.one("get_fact_by_token", key_token=token))
            chain, version, standing = UUID(bytes=taken[0]), taken[1], taken[2]
            last = self._last_of(chain, version)
            if last.persona_id == persona_id and _identity(last) == _identity(draft):
                if standing != RETIRED and not is_news(last, draft):
                    return FactChange(outcome="unchanged", fact=self._active_of(chain, persona_id))
                fact = self._append(chain, document, uuid4(), at, version)
                return FactChange(outcome="added" if standing == RETIRED else "superseded", fact=fact)
            # The chain that has this token is about something else by now.
            token = self._slot_token(persona_id, draft, str(root_id))
            self._add_head(token, persona_id, root_id, draft, at)
        return FactChange(outcome="added", fact=self._append(root_id, document, root_id, at, NEW))

    def _add_head(self, token: int, persona_id: str, root_id: UUID, draft: FactDraft, at: datetime) -> bool:
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
        document: FactDocument,
        version_id: UUID,
        at: datetime,
        expected_version: int | None,
        *,
        form: int = FACT_FORM,
    ) -> Fact:
        """Append a version and move the head to it. A document that retires the fact leaves none active."""
        draft = VersionDraft(id=version_id, form=form, content=to_document(document), created_at=at)
        version = self._chain.append(root_id, draft, expected_version)
        if document.is_retired:
            self._chain.retire(root_id, version.version)
        self._tx.run(
            "move_fact",
            {"persona_id": document.persona_id},
            root_id=root_id.bytes,
            version=version.version,
            standing=RETIRED if document.is_retired else _standing(document.category),
            importance=document.importance,
            updated_at=to_micros(at),
        )
        self._index(root_id, version.version, document)
        return _fact(document.persona_id, version)

    def _retire(
        self,
        persona_id: str,
        fact: Fact,
        reason: FactReason | None,
        at: datetime,
        source: FactSource | None = None,
    ) -> FactChange:
        """Append a version that ends the fact. Its source is the message that says so."""
        last = fact.model_copy(update={"source": source})
        document = _document(persona_id, last, is_retired=True, reason=reason)
        self._append(fact.root_id, document, uuid4(), at, fact.version)
        return FactChange(outcome="retired", fact=fact)

    def _active_of(self, root_id: UUID, persona_id: str) -> Fact:
        found = self._chain.active([root_id])
        if not found:
            raise Conflict(f"fact {root_id} was retired meanwhile; read the facts again and retry")
        return _fact(persona_id, found[0])

    def _last_of(self, root_id: UUID, version: int) -> FactDocument:
        """The newest version of a chain, also of a retired one."""
        found = self._chain.history(root_id, version - 1, 1)
        if not found:
            raise _misplaced(root_id)
        return fact_document(found[0])

    def _listed(self, persona_id: str, row: Row) -> Fact:
        fact = _fact(persona_id, self._chain.open_row(row[1:]))
        if row[0] != _standing(fact.category):
            raise _misplaced(fact.root_id)
        return fact

    def _persona_token(self, persona_id: str) -> int:
        return persona_token(self._keys, persona_id)

    def _slot_token(self, persona_id: str, draft: FactDraft, *more: str) -> int:
        return self._keys.token("facts.key", persona_id, *_identity(draft), *more)


def persona_token(keys: OwnerKeys, persona_id: str) -> int:
    """The token that stands for a persona in the heads of its facts."""
    return keys.token("facts.persona", persona_id)


def _labels(document: FactDocument) -> tuple[str, ...]:
    """The texts by which a fact is found."""
    person = document.subject.removeprefix("person:") if document.subject.startswith("person:") else ""
    return document.key, document.value, person


def _identity(draft: FactDraft) -> tuple[str, ...]:
    return identity(draft.subject, draft.category, draft.key, draft.value)


def _standing(category: Category) -> int:
    return _STATE if is_state(category) else _ORDINARY


def _document(
    persona_id: str, draft: FactDraft, *, is_retired: bool = False, reason: FactReason | None = None
) -> FactDocument:
    content = {name: getattr(draft, name) for name in FactDraft.model_fields}
    return FactDocument(**content, persona_id=persona_id, is_retired=is_retired, reason=reason)


def _fact(persona_id: str, version: ChainVersion) -> Fact:
    document = fact_document(version)
    if document.persona_id != persona_id:
        raise _misplaced(version.root_id)
    content = {name: getattr(document, name) for name in FactDraft.model_fields}
    return Fact(**content, root_id=version.root_id, version=version.version, valid_from=version.created_at)


def _misplaced(root_id: UUID) -> StoreDamaged:
    """Heads are not sealed, so a head that points to another fact is damage."""
    return StoreDamaged(f"fact {root_id} is in the wrong place of the index; restore a backup")
