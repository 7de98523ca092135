"""Documents: put, get, search, delete, list namespaces, many at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from gieok.errors import NotFound
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Reader, Writer
from gieok.interfaces.rest.schema.common import Done, failures
from gieok.interfaces.rest.schema.documents import (
    BatchAnswer,
    DocumentAnswer,
    DocumentBatch,
    DocumentVersionsAnswer,
    FoundDocumentsAnswer,
    NamespacesAnswer,
    PutDocument,
    SavedDocumentAnswer,
    SearchDocuments,
)
from gieok.interfaces.rest.schema.params import IdempotencyKey, request_key
from gieok.memory.documents.records import MAX_LABELS, MAX_LIST, MAX_OFFSET, Key, Label

router = APIRouter(prefix="/documents", tags=["documents"], route_class=JsonRoute)

NamespaceQuery = Annotated[
    list[Label],
    Query(
        alias="namespace",
        min_length=1,
        max_length=MAX_LABELS,
        description="Repeat it for each label, in order.",
    ),
]
KeyQuery = Annotated[Key, Query()]
LabelsQuery = Annotated[list[Label], Query(max_length=MAX_LABELS, description="`*` is any label.")]


@router.put("", responses=failures(409), summary="Write a document")
async def put(
    body: PutDocument, caller: Writer, idempotency_key: IdempotencyKey = None
) -> SavedDocumentAnswer:
    """A new one, or a new version of it."""
    saved = await caller.user.documents.put(
        body.namespace,
        body.key,
        body.value,
        index=body.index,
        ttl=None if body.ttl_seconds is None else timedelta(seconds=body.ttl_seconds),
        vectors=body.vectors,
        once=request_key(idempotency_key, body),
    )
    return SavedDocumentAnswer(document=saved)


@router.get("", responses=failures(404), summary="Get a document")
async def get(caller: Reader, namespace: NamespaceQuery, key: KeyQuery) -> DocumentAnswer:
    """Its time to live does not begin again."""
    document = await caller.user.documents.get(namespace, key, refresh_ttl=False)
    if document is None:
        raise NotFound("there is no document with this namespace and key")
    return DocumentAnswer(document=document)


@router.delete("", responses=failures(404, 409), summary="Delete a document")
async def delete(
    caller: Writer, namespace: NamespaceQuery, key: KeyQuery, idempotency_key: IdempotencyKey = None
) -> Done:
    """Permanently, with all its versions."""
    once = request_key(idempotency_key, None, *namespace, "", key)
    if not await caller.user.documents.delete(namespace, key, once=once):
        raise NotFound("there is no document with this namespace and key")
    return Done()


@router.get("/history", responses=failures(404), summary="List the versions of a document")
async def history(caller: Reader, namespace: NamespaceQuery, key: KeyQuery) -> DocumentVersionsAnswer:
    """Oldest first."""
    versions = await caller.user.documents.history(namespace, key)
    return DocumentVersionsAnswer(versions=tuple(versions))


@router.get("/namespaces", responses=failures(), summary="List namespaces")
async def namespaces(
    caller: Reader,
    prefix: LabelsQuery = [],  # noqa: B006  FastAPI copies it
    suffix: LabelsQuery = [],  # noqa: B006
    max_depth: Annotated[int | None, Query(alias="maxDepth", ge=1, le=MAX_LABELS)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIST)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> NamespacesAnswer:
    """In alphabetical order. Longer ones are cut to `maxDepth` labels."""
    found = await caller.user.documents.namespaces(
        prefix=prefix, suffix=suffix, max_depth=max_depth, limit=limit, offset=offset
    )
    return NamespacesAnswer(namespaces=found)


@router.post("/search", responses=failures(), summary="Search documents")
async def search(body: SearchDocuments, caller: Reader) -> FoundDocumentsAnswer:
    """By words or by a vector, each hit with its score and the reasons, or by a filter on values. No time to
    live begins again."""
    found = await caller.user.documents.search(
        body.namespace,
        body.query,
        filter=body.filter,
        vector=body.vector,
        limit=body.limit,
        offset=body.offset,
        refresh_ttl=False,
    )
    return FoundDocumentsAnswer(documents=found)


@router.post("/batch", responses=failures(409), summary="Run several operations at once")
async def batch(body: DocumentBatch, caller: Writer, idempotency_key: IdempotencyKey = None) -> BatchAnswer:
    """All reads see the state before the batch. All changes are one commit: they are stored whole or not."""
    once = request_key(idempotency_key, body)
    results = await caller.user.documents.batch(body.operations, refresh_ttl=body.refresh_ttl, once=once)
    return BatchAnswer(results=results)
