"""The protocol of the document store: for one owner, inside one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from gieok.memory.documents.records import (
    Change,
    ChangeResult,
    Document,
    DocumentName,
    DocumentVersion,
)
from gieok.ranking import Flags, Match, SearchIndex, VectorRows


class Candidates(NamedTuple):
    """The index of all documents, which of them are below a namespace, and which contain each term."""

    rows: SearchIndex
    below: Flags | None
    """None is all."""
    matches: Mapping[str, Match]


class DocumentStore(Protocol):
    """Documents of one owner. A document that has expired at `now` does not exist for any method."""

    def get(self, names: Sequence[DocumentName], now: datetime) -> Mapping[DocumentName, Document]:
        """The documents with these names. Unknown ones are omitted."""
        ...

    def open(self, root_ids: Sequence[UUID], now: datetime) -> Mapping[UUID, Document]:
        """Documents of the index. Expired ones are omitted."""
        ...

    def candidates(self, namespace: Sequence[str], terms: Sequence[str]) -> Candidates:
        """What a search looks through. Expired documents are among them."""
        ...

    def vectors(self, space: str, dimension: int, root_ids: Sequence[UUID]) -> Mapping[UUID, VectorRows]:
        """The vectors of these documents in a space, of length 1. Documents without any are omitted."""
        ...

    def namespaces(self, now: datetime) -> Sequence[tuple[str, ...]]:
        """The namespaces that have documents, in any order."""
        ...

    def history(self, name: DocumentName, now: datetime) -> Sequence[DocumentVersion]:
        """All versions of a document, oldest first; none if it does not exist."""
        ...

    def change(self, changes: Sequence[Change], now: datetime) -> Sequence[ChangeResult]:
        """Apply changes in order. A put appends a version; a delete removes all versions."""
        ...

    def refresh(self, names: Sequence[DocumentName], now: datetime) -> None:
        """Let documents with a time to live expire that much later than now."""
        ...

    def delete_expired(self, now: datetime, limit: int) -> int:
        """Delete expired documents. Returns how many; fewer than `limit` when none is left."""
        ...


class DocumentView(Protocol):
    """A transaction's view with documents."""

    @property
    def documents(self) -> DocumentStore: ...
