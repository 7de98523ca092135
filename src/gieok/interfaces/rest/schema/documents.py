"""Bodies and answers of the routes of documents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, JsonValue

from gieok.interfaces.rest.schema.common import Answer, RequestBody, example
from gieok.memory.documents.records import (
    MAX_FILTERS,
    MAX_OPERATIONS,
    ChangeResult,
    Document,
    DocumentHead,
    DocumentValue,
    DocumentVectors,
    DocumentVersion,
    FoundDocument,
    IndexedPaths,
    Key,
    Namespace,
    NamespacePrefix,
    Offset,
    Operation,
    PageLimit,
    QueryText,
    QueryVector,
    ReadResult,
    TtlSeconds,
)

_VALUE: dict[str, Any] = {"text": "내일 회사 면접이 있다", "rating": 5}
_HEAD: dict[str, Any] = {
    "namespace": ["notes", "work"],
    "key": "interview",
    "version": 1,
    "createdAt": "2025-10-27T12:00:00Z",
    "updatedAt": "2025-10-27T12:00:00Z",
    "ttlSeconds": None,
    "expiresAt": None,
}
_WHY: dict[str, Any] = {
    "matchedWords": ["면접"],
    "signals": {"bm25": {"value": 1.0, "weight": 1.0, "rank": 1}},
    "ageDays": 1.5,
}


class PutDocument(RequestBody):
    """A document to write. `index` lists the searched paths of the value; without it all text is searched.

    `vectors` are of your own embedding model, for a search with `vector`."""

    model_config = example(namespace=["notes", "work"], key="interview", value=_VALUE, ttlSeconds=86_400)

    namespace: Namespace
    key: Key
    value: DocumentValue
    index: IndexedPaths | None = None
    ttl_seconds: TtlSeconds | None = None
    vectors: DocumentVectors | None = None


class SearchDocuments(RequestBody):
    """What to search for: words, or similarity to `vector`. With neither, the documents that were updated
    last come first."""

    model_config = example(
        namespace=["notes"], query="면접은 언제?", filter={"rating": {"$gte": 4}}, limit=10
    )

    namespace: NamespacePrefix = ()
    query: QueryText | None = None
    filter: Annotated[dict[str, JsonValue], Field(max_length=MAX_FILTERS)] | None = None
    vector: QueryVector | None = None
    limit: PageLimit = 10
    offset: Offset = 0


class DocumentBatch(RequestBody):
    """Operations, each with its `op`: `get`, `search`, `namespaces`, `put` or `delete`."""

    model_config = example(
        operations=[
            {"op": "get", "namespace": ["notes", "work"], "key": "interview"},
            {"op": "put", "namespace": ["notes", "work"], "key": "interview", "value": _VALUE},
        ]
    )

    operations: Annotated[list[Operation], Field(min_length=1, max_length=MAX_OPERATIONS)]
    refresh_ttl: bool = True


class DocumentAnswer(Answer):
    model_config = example(success=True, document=_HEAD | {"value": _VALUE})

    document: Document


class SavedDocumentAnswer(Answer):
    model_config = example(success=True, document=_HEAD)

    document: DocumentHead


class FoundDocumentsAnswer(Answer):
    """Best first. Without a query and a vector, `score` and `why` are null. In a search with a vector,
    documents without one come last, with a null score."""

    model_config = example(success=True, documents=[_HEAD | {"value": _VALUE, "score": 1.05, "why": _WHY}])

    documents: tuple[FoundDocument, ...]


class NamespacesAnswer(Answer):
    model_config = example(success=True, namespaces=[["notes", "work"]])

    namespaces: tuple[tuple[str, ...], ...]


class DocumentVersionsAnswer(Answer):
    """Oldest first, at most 1,000."""

    model_config = example(
        success=True, versions=[{"version": 1, "value": _VALUE, "createdAt": "2025-10-27T12:00:00Z"}]
    )

    versions: tuple[DocumentVersion, ...]


class BatchAnswer(Answer):
    """One result per operation, in their order. A read has `document`, `documents` or `namespaces`, a change
    has `saved` or `deleted`."""

    model_config = example(
        success=True,
        results=[
            {"document": None, "documents": None, "namespaces": None},
            {"saved": _HEAD, "deleted": None},
        ],
    )

    results: tuple[ReadResult | ChangeResult, ...]
