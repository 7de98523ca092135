"""Documents in SQL: version chains, and a table of heads with their names as tokens and their terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated
from uuid import UUID, uuid4

import numpy as np
from pydantic import Field, JsonValue

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.adapters.sql.stores.document_vectors import SqlDocumentVectors
from gieok.adapters.sql.stores.seals import SealPage
from gieok.adapters.sql.stores.search import (
    UNCACHED_INDEXES,
    IndexCache,
    IndexEntry,
    change_scope,
    scope_revision,
)
from gieok.engine import Data
from gieok.errors import SchemaMismatch, SealBroken, StoreDamaged
from gieok.memory.chains import NEW, ChainVersion, VersionDraft
from gieok.memory.documents.records import (
    Change,
    ChangeResult,
    Document,
    DocumentDraft,
    DocumentHead,
    DocumentName,
    DocumentVersion,
    PutDocument,
    expiry,
)
from gieok.memory.documents.rules import document_terms
from gieok.memory.documents.store import Candidates
from gieok.ranking import EMPTY_INDEX, VectorRows, pack_terms
from gieok.vault import OwnerKeys

KIND = "document"
FORM = 1
"""The current format version of the content."""
SCOPE = "all"
"""All documents of an owner are one index."""
HISTORY = 1_000


class SealedDocument(Data):
    """The sealed content of a version."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, JsonValue]
    index: tuple[str, ...] | None = None
    ttl_seconds: Annotated[float, Field(gt=0)] | None = None

    @property
    def name(self) -> DocumentName:
        return DocumentName.model_construct(namespace=self.namespace, key=self.key)


class SqlDocumentStore:
    """Documents of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, indexes: IndexCache = UNCACHED_INDEXES) -> None:
        self._tx = tx
        self._keys = keys
        self._indexes = indexes
        self._chain = SqlChainStore(tx, keys, KIND)
        self._vectors = SqlDocumentVectors(tx, keys)

    def get(self, names: Sequence[DocumentName], now: datetime) -> Mapping[DocumentName, Document]:
        if not names:
            return {}
        tokens = {self._name_token(name): name for name in names}
        rows = self._tx.all("list_documents_by_name", name_tokens=[*tokens], now=to_micros(now))
        found: dict[DocumentName, Document] = {}
        for token, *row in rows:
            document = self._document(tuple(row))
            name = DocumentName.model_construct(namespace=document.namespace, key=document.key)
            if tokens[token] != name:
                raise StoreDamaged(
                    f"document {UUID(bytes=row[0])} has a wrong name in the index; run gieok check"
                )
            found[name] = document
        return found

    def open(self, root_ids: Sequence[UUID], now: datetime) -> Mapping[UUID, Document]:
        if not root_ids:
            return {}
        rows = self._tx.all("list_documents", root_ids=[root.bytes for root in root_ids], now=to_micros(now))
        return {UUID(bytes=row[0]): self._document(row) for row in rows}

    def candidates(self, namespace: Sequence[str], terms: Sequence[str]) -> Candidates:
        revision = scope_revision(self._tx, "documents", SCOPE)
        if revision is None:
            return Candidates(EMPTY_INDEX, None, {})
        index = self._indexes.get(
            "documents", revision, lambda after: self._tx.all("list_document_index", after=after)
        )
        below = None
        if namespace:
            token = self._namespace_token(namespace)
            below = np.zeros(len(index), np.bool_)
            if (match := index.find([token]).get(token)) is not None:
                below[match.rows] = True
        tokens = dict(zip(self._tokens(terms), terms, strict=True))
        found = index.find(list(tokens)) if tokens else {}
        return Candidates(index, below, {tokens[token]: match for token, match in found.items()})

    def vectors(self, space: str, dimension: int, root_ids: Sequence[UUID]) -> Mapping[UUID, VectorRows]:
        return self._vectors.list(space, dimension, root_ids)

    def namespaces(self, now: datetime) -> list[tuple[str, ...]]:
        rows = self._tx.all("list_document_namespaces", now=to_micros(now))
        return [self._content(self._chain.open_row(row)).namespace for row in rows]

    def history(self, name: DocumentName, now: datetime) -> list[DocumentVersion]:
        row = self._tx.one("get_document_head", name_token=self._name_token(name))
        if row is None or _is_expired(row[4], now):
            return []
        return [
            DocumentVersion(version=each.version, value=self._content(each).value, created_at=each.created_at)
            for each in self._chain.history(UUID(bytes=row[0]), 0, HISTORY)
        ]

    def change(self, changes: Sequence[Change], now: datetime) -> list[ChangeResult]:
        self._lock()
        return [
            ChangeResult(saved=self._put(each, now))
            if isinstance(each, PutDocument)
            else ChangeResult(deleted=self._delete(each, now))
            for each in changes
        ]

    def refresh(self, names: Sequence[DocumentName], now: datetime) -> None:
        found = {self._name_token(name): document for name, document in self.get(names, now).items()}
        for token, document in sorted(found.items()):  # sorted, so that two writers cannot block each other
            if document.ttl_seconds is not None:
                self._tx.run(
                    "set_document_expiry",
                    name_token=token,
                    version=document.version,
                    expires_at=_micros(expiry(document.ttl_seconds, now)),
                )

    def delete_expired(self, now: datetime, limit: int) -> int:
        if not self._tx.all("list_expired_documents", now=to_micros(now), limit=1):
            return 0
        self._lock()
        rows = self._tx.all("list_expired_documents", now=to_micros(now), limit=limit)
        for (root,) in rows:
            self._remove(UUID(bytes=root))
        return len(rows)

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        return self._chain.seals(after, limit)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next documents by root. Returns the last root, None at the end."""
        if not self._tx.all("list_document_entries", after=after, limit=1):
            return None
        self._lock()
        rows = self._tx.all("list_document_entries", after=after, limit=limit)
        for row in rows:
            entry = _Entry(row)
            version = self._chain.open_row(entry.chain_row)
            content = self._content(version)
            expires_at = entry.expires_at
            if entry.version is None:  # the head is missing: it expires as after the last put
                expires_at = _micros(expiry(content.ttl_seconds, version.created_at))
            self._save_head(version, content, entry.first_at, expires_at, is_new=entry.version is None)
        return _Entry(rows[-1]).root if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the heads of the next documents by root, as far as these open. Returns the last root, None
        at the end."""
        rows = self._tx.all("list_document_entries", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for row in rows:
            entry = _Entry(row)
            with suppress(SealBroken, StoreDamaged):
                version = self._chain.open_row(entry.chain_row)
                expected = self._head(version, self._content(version), entry.first_at)
                entries.append(IndexEntry(str(version.root_id), after, entry.root, entry.head == expected))
            after = entry.root
        return entries, after if len(rows) == limit else None

    def append(
        self,
        root_id: UUID,
        draft: DocumentDraft,
        *,
        version_id: UUID,
        created_at: datetime,
        first_at: datetime,
        expires_at: datetime | None,
        expected_version: int | None,
    ) -> ChainVersion:
        """Append a version and save the head. The vectors of the former version are deleted. Conflict,
        NotFound as in `ChainStore.append`."""
        content = SealedDocument(**{name: getattr(draft, name) for name in SealedDocument.model_fields})
        version = self._chain.append(
            root_id,
            VersionDraft(
                id=version_id,
                form=FORM,
                content=content.model_dump_json(by_alias=True, exclude_none=True).encode(),
                created_at=created_at,
            ),
            expected_version,
        )
        first, expires = to_micros(first_at), _micros(expires_at)
        self._save_head(version, content, first, expires, is_new=version.version == 1)
        if version.version > 1:
            self._tx.run("remove_document_vectors", root_id=root_id.bytes)
        return version

    def _lock(self) -> None:
        """Hold off other writers of documents until the transaction ends. Before any other row is locked."""
        change_scope(self._tx, "documents", SCOPE)

    def _put(self, draft: PutDocument, now: datetime) -> DocumentHead:
        row = self._tx.one("get_document_head", name_token=self._name_token(draft))
        if row is not None and _is_expired(row[4], now):
            self._remove(UUID(bytes=row[0]))
            row = None
        root_id, latest, first_at = (
            (UUID(bytes=row[0]), row[1], from_micros(row[2])) if row else (uuid4(), NEW, now)
        )
        expires_at = expiry(draft.ttl_seconds, now)
        version = self.append(
            root_id,
            draft,
            version_id=uuid4(),
            created_at=now,
            first_at=first_at,
            expires_at=expires_at,
            expected_version=latest,
        )
        if draft.vectors is not None:
            self._vectors.save(root_id, version.version, draft.vectors)
        return DocumentHead(
            namespace=draft.namespace,
            key=draft.key,
            version=version.version,
            created_at=first_at,
            updated_at=now,
            ttl_seconds=draft.ttl_seconds,
            expires_at=expires_at,
        )

    def _delete(self, name: DocumentName, now: datetime) -> bool:
        row = self._tx.one("get_document_head", name_token=self._name_token(name))
        if row is None:
            return False
        self._remove(UUID(bytes=row[0]))
        return not _is_expired(row[4], now)

    def _remove(self, root_id: UUID) -> None:
        self._tx.run("remove_document_vectors", root_id=root_id.bytes)
        self._tx.run("remove_document_head", root_id=root_id.bytes)
        self._chain.delete(root_id)
        change_scope(self._tx, "documents", SCOPE, added=-1)

    def _save_head(
        self,
        version: ChainVersion,
        content: SealedDocument,
        first_at: int,
        expires_at: int | None,
        *,
        is_new: bool,
    ) -> None:
        number, name, namespace, created_at, updated_at, terms = self._head(version, content, first_at)
        self._tx.run(
            "save_document_head",
            root_id=version.root_id.bytes,
            version=number,
            name_token=name,
            namespace_token=namespace,
            created_at=created_at,
            updated_at=updated_at,
            expires_at=expires_at,
            terms=terms,
            changed=change_scope(self._tx, "documents", SCOPE, added=int(is_new)),
        )

    def _head(
        self, version: ChainVersion, content: SealedDocument, first_at: int
    ) -> tuple[int, int, int, int, int, bytes]:
        """The columns of a head: version, both tokens, both times, terms. Each prefix of the namespace is
        a term, so that the index finds what is below it."""
        counts = Counter(document_terms(content.value, content.index))
        tokens = dict(zip(self._tokens([*counts]), counts.values(), strict=True))
        for length in range(1, len(content.namespace) + 1):
            tokens[self._namespace_token(content.namespace[:length])] = 1
        return (
            version.version,
            self._name_token(content.name),
            self._namespace_token(content.namespace),
            first_at,
            to_micros(version.created_at),
            pack_terms(version.version, tokens, own_words=counts.total()),
        )

    def _document(self, row: Row) -> Document:
        """A document of a row with the columns of its version, then its first time and its expiry."""
        *chain_row, first_at, expires_at = row
        version = self._chain.open_row(tuple(chain_row))
        content = self._content(version)
        return Document.model_construct(
            namespace=content.namespace,
            key=content.key,
            version=version.version,
            created_at=from_micros(first_at),
            updated_at=version.created_at,
            ttl_seconds=content.ttl_seconds,
            expires_at=None if expires_at is None else from_micros(expires_at),
            value=content.value,
        )

    def _content(self, version: ChainVersion) -> SealedDocument:
        """The content of a version. SchemaMismatch for a newer form, StoreDamaged if it does not match."""
        if version.form > FORM:
            raise SchemaMismatch(
                f"a document has form {version.form} and this program reads up to form {FORM}; "
                "install a newer Gieok"
            )
        try:
            return SealedDocument.model_validate_json(version.content)
        except ValueError:
            raise StoreDamaged(
                f"document {version.root_id} does not have the form it claims; restore a backup"
            ) from None

    def _name_token(self, name: DocumentName) -> int:
        return self._keys.token("documents.name", *name.namespace, name.key)

    def _namespace_token(self, namespace: Sequence[str]) -> int:
        return self._keys.token("documents.namespace", *namespace)

    def _tokens(self, terms: Sequence[str]) -> list[int]:
        return self._keys.tokens("documents.value", "", terms)


class _Entry:
    """A row of `list_document_entries`: a head, which may be missing, and the version it is made of."""

    def __init__(self, row: Row) -> None:
        self.version: int | None = row[0]
        self.head = (*row[:5], None if row[5] is None else bytes(row[5]))
        self.expires_at: int | None = row[6]
        self.first_at: int = row[7]
        self.chain_row = tuple(row[8:])
        self.root: bytes = row[8]


def _is_expired(expires_at: int | None, now: datetime) -> bool:
    return expires_at is not None and expires_at <= to_micros(now)


def _micros(at: datetime | None) -> int | None:
    return None if at is None else to_micros(at)
