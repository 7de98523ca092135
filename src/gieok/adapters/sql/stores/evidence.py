"""Evidence and anchors in SQL, sealed. An owner's evidence is stored once per content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.adapters.sql.stores.search import IndexEntry
from gieok.errors import Conflict, SealBroken, StoreDamaged
from gieok.memory.decisions.records import Anchor, Evidence, EvidenceCard, EvidenceDraft, Target
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place

# Content may have a megabyte, so a batch is smaller than that of other stores.
_SEALS = 20


class SqlEvidenceStore:
    """Evidence of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, draft: EvidenceDraft, *, evidence_id: UUID, created_at: datetime) -> EvidenceCard:
        existing = self.find([draft.sha256])
        if existing:
            return existing[0]
        card = {"sha256": draft.sha256, "title": draft.title, "source": draft.source}
        sealed = json.dumps(card, ensure_ascii=False).encode()
        is_new = self._tx.run(
            "add_evidence",
            id=evidence_id.bytes,
            digest_token=self._token(draft.sha256),
            card=self._keys.seal(_place("card", evidence_id), sealed),
            content=self._keys.seal(_place("content", evidence_id), draft.content.encode()),
            created_at=to_micros(created_at),
        )
        if not is_new:
            return self.find([draft.sha256])[0]  # another writer saved the same content at the same moment
        return EvidenceCard(
            id=evidence_id,
            sha256=draft.sha256,
            title=draft.title,
            source=draft.source,
            created_at=created_at,
        )

    def get(self, evidence_id: UUID) -> Evidence | None:
        row = self._tx.one("get_evidence", id=evidence_id.bytes)
        if row is None:
            return None
        card = self._card(row[:3])
        content = self._keys.open(_place("content", evidence_id), row[3]).decode()
        return Evidence(**dict(card), content=content)

    def cards(self, evidence_ids: Sequence[UUID]) -> list[EvidenceCard]:
        if not evidence_ids:
            return []
        rows = self._tx.all("list_evidence_cards", ids=[identity.bytes for identity in evidence_ids])
        found = {card.id: card for card in map(self._card, rows)}
        return [found[identity] for identity in dict.fromkeys(evidence_ids) if identity in found]

    def find(self, digests: Sequence[str]) -> list[EvidenceCard]:
        if not digests:
            return []
        rows = self._tx.all("find_evidence", tokens=[self._token(digest) for digest in digests])
        found = [self._card(row) for row in rows]
        for card in found:
            if card.sha256 not in digests:
                raise StoreDamaged(
                    f"evidence {card.id} has the digest token of another content; restore a backup"
                )
        return found

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by id."""
        limit = min(limit, _SEALS)
        rows = self._tx.all("list_evidence_seals", after=after, limit=limit)
        sealed = [
            SealedRow(
                "replace_evidence_seals",
                {"id": identity},
                {
                    "card": (_place("card", UUID(bytes=identity)), card),
                    "content": (_place("content", UUID(bytes=identity)), content),
                },
            )
            for identity, card, content in rows
        ]
        return SealPage(sealed, rows[-1][0] if len(rows) == limit else None)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Write the digest tokens of the next rows by id again. Returns the last id, None at the end."""
        rows = self._tx.all("list_evidence_entries", after=after, limit=limit)
        for token, *row in rows:
            expected = self._token(self._card(tuple(row)).sha256)
            if token != expected:
                self._tx.run("set_evidence_token", id=row[0], digest_token=expected)
        return rows[-1][1] if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the digest tokens of the next rows by id, as far as these open. Returns the last id, None
        at the end."""
        rows = self._tx.all("list_evidence_entries", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for token, *row in rows:
            with suppress(SealBroken):
                card = self._card(tuple(row))
                entries.append(IndexEntry(str(card.id), after, row[0], token == self._token(card.sha256)))
            after = row[0]
        return entries, after if len(rows) == limit else None

    def _card(self, row: Row) -> EvidenceCard:
        identity, card, created_at = row
        evidence_id = UUID(bytes=identity)
        opened = json.loads(self._keys.open(_place("card", evidence_id), card))
        return EvidenceCard(**opened, id=evidence_id, created_at=from_micros(created_at))

    def _token(self, digest: str) -> int:
        return self._keys.token("evidence.sha256", digest)


class SqlAnchorStore:
    """Anchors of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, anchor: Anchor) -> None:
        targets = [{"kind": target.kind, "id": str(target.id)} for target in anchor.targets]
        content = json.dumps({"hint": anchor.hint, "targets": targets}, ensure_ascii=False)
        is_new = self._tx.run(
            "add_anchor",
            id=anchor.id.bytes,
            session_ref=anchor.session_ref,
            content=self._keys.seal(_anchor_place(anchor.id, anchor.session_ref), content.encode()),
            created_at=to_micros(anchor.created_at),
        )
        if not is_new:
            raise Conflict(f"anchor {anchor.id} exists already")
        self._add_targets(anchor)

    def get(self, anchor_id: UUID) -> Anchor | None:
        row = self._tx.one("get_anchor", id=anchor_id.bytes)
        return self._anchor(row) if row else None

    def list(self, session_ref: str | None, limit: int) -> list[Anchor]:
        if session_ref is None:
            rows = self._tx.all("list_anchors", limit=limit)
        else:
            check_ref(session_ref, "sessionRef")
            rows = self._tx.all("list_anchors_of_session", session_ref=session_ref, limit=limit)
        return [self._anchor(row) for row in rows]

    def leading_to(self, session_ref: str, target_ids: Sequence[UUID]) -> Sequence[Anchor]:
        if not target_ids:
            return []
        rows = self._tx.all(
            "list_anchors_leading_to",
            session_ref=check_ref(session_ref, "sessionRef"),
            target_ids=[target.bytes for target in target_ids],
        )
        return [self._anchor(row) for row in rows]

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by id."""
        rows = self._tx.all("list_anchor_seals", after=after, limit=limit)
        sealed = [
            SealedRow(
                "replace_anchor_seal",
                {"id": identity},
                {"content": (_anchor_place(UUID(bytes=identity), session_ref), content)},
            )
            for identity, session_ref, content in rows
        ]
        return SealPage(sealed, rows[-1][0] if len(rows) == limit else None)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Write the targets of the next anchors by id again. Returns the last id, None at the end."""
        rows = self._tx.all("list_anchor_entries", after=after, limit=limit)
        for anchor in map(self._anchor, rows):
            self._tx.run("remove_anchor_targets", anchor_id=anchor.id.bytes)
            self._add_targets(anchor)
        return rows[-1][0] if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the targets of the next anchors by id, as far as these open. Returns the last id, None at
        the end."""
        rows = self._tx.all("list_anchor_entries", after=after, limit=limit)
        stored: dict[bytes, set[bytes]] = {}
        for anchor_id, target_id in self._tx.all("list_anchor_targets", anchor_ids=[row[0] for row in rows]):
            stored.setdefault(anchor_id, set()).add(target_id)
        entries: list[IndexEntry] = []
        for row in rows:
            with suppress(SealBroken):
                anchor = self._anchor(row)
                targets = {target.id.bytes for target in anchor.targets}
                entries.append(
                    IndexEntry(str(anchor.id), after, row[0], stored.get(row[0], set()) == targets)
                )
            after = row[0]
        return entries, after if len(rows) == limit else None

    def _add_targets(self, anchor: Anchor) -> None:
        reached = {target.id for target in anchor.targets}
        self._tx.run_many(
            "add_anchor_targets",
            [{"target_id": target.bytes, "anchor_id": anchor.id.bytes} for target in reached],
        )

    def _anchor(self, row: Row) -> Anchor:
        identity, session_ref, content, created_at = row
        anchor_id = UUID(bytes=identity)
        opened = json.loads(self._keys.open(_anchor_place(anchor_id, session_ref), content))
        return Anchor(
            id=anchor_id,
            session_ref=session_ref,
            hint=opened["hint"],
            targets=tuple(Target(kind=target["kind"], id=UUID(target["id"])) for target in opened["targets"]),
            created_at=from_micros(created_at),
        )


def _place(column: str, row: UUID) -> Place:
    return Place("evidence", column, str(row))


def _anchor_place(row: UUID, session_ref: str) -> Place:
    """Bound to its session too, so that an anchor cannot be moved to another conversation."""
    return Place("anchors", "content", f"{row} {session_ref}")
