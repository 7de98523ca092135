"""`client.documents`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from gieok.client.transport import Call, Transport
from gieok.errors import NotFound
from gieok.memory.documents.records import (
    ChangeResult,
    Document,
    DocumentHead,
    DocumentVectors,
    DocumentVersion,
    FoundDocument,
    Operation,
    QueryVector,
    ReadResult,
)


class Documents:
    """The documents of one owner: JSON objects with a namespace and a key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        index: Sequence[str] | None = None,
        ttl: timedelta | None = None,
        vectors: DocumentVectors | None = None,
        idempotency_key: str | None = None,
    ) -> DocumentHead:
        """Write a document: a new one, or a new version of it. Each call has an Idempotency-Key."""
        body = {
            "namespace": list(namespace),
            "key": key,
            "value": dict(value),
            "index": None if index is None else list(index),
            "ttlSeconds": None if ttl is None else ttl.total_seconds(),
            "vectors": vectors,
        }
        call = Call("PUT", "/documents", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, DocumentHead, field="document")

    async def get(self, namespace: Sequence[str], key: str) -> Document | None:
        """A document, or None. Its time to live does not begin again."""
        call = Call("GET", "/documents", {"namespace": list(namespace), "key": key})
        try:
            return await self._transport.request(call, Document, field="document")
        except NotFound:
            return None

    async def delete(self, namespace: Sequence[str], key: str, *, idempotency_key: str | None = None) -> bool:
        """Delete a document with all its versions. False if there is none."""
        query = {"namespace": list(namespace), "key": key}
        call = Call("DELETE", "/documents", query, idempotency_key=idempotency_key or str(uuid4()))
        try:
            await self._transport.content(call)
        except NotFound:
            return False
        return True

    async def history(self, namespace: Sequence[str], key: str) -> tuple[DocumentVersion, ...]:
        """The versions of a document, oldest first. NotFound if there is no such document."""
        call = Call("GET", "/documents/history", {"namespace": list(namespace), "key": key})
        return await self._transport.request(call, tuple[DocumentVersion, ...], field="versions")

    async def search(
        self,
        namespace: Sequence[str] = (),
        query: str | None = None,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  LangGraph's word
        vector: QueryVector | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> tuple[FoundDocument, ...]:
        """Documents below a namespace: by words or by a vector, best first and with the reasons; else last
        updated first."""
        body = {
            "namespace": list(namespace),
            "query": query,
            "filter": None if filter is None else dict(filter),
            "vector": vector,
            "limit": limit,
            "offset": offset,
        }
        call = Call("POST", "/documents/search", body=body)
        return await self._transport.request(call, tuple[FoundDocument, ...], field="documents")

    async def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[tuple[str, ...], ...]:
        """Namespaces that have documents, in alphabetical order. In prefix and suffix, `*` is any label."""
        query = {
            "prefix": list(prefix),
            "suffix": list(suffix),
            "maxDepth": max_depth,
            "limit": limit,
            "offset": offset,
        }
        call = Call("GET", "/documents/namespaces", query)
        return await self._transport.request(call, tuple[tuple[str, ...], ...], field="namespaces")

    async def batch(
        self,
        operations: Sequence[Operation],
        *,
        refresh_ttl: bool = True,
        idempotency_key: str | None = None,
    ) -> tuple[ReadResult | ChangeResult, ...]:
        """Run up to 1,000 operations: all reads on one snapshot, then all changes in one commit."""
        body = {"operations": list(operations), "refreshTtl": refresh_ttl}
        call = Call("POST", "/documents/batch", body=body, idempotency_key=idempotency_key or str(uuid4()))
        return await self._transport.request(call, tuple[ReadResult | ChangeResult, ...], field="results")
