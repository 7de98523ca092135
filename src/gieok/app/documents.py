"""The facade of documents: `user.documents`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from gieok.app.cycles import Cycles, validated
from gieok.errors import InputRefused, NotFound
from gieok.memory.companion.vectors.search import Embedder
from gieok.memory.documents.records import (
    MAX_OPERATIONS,
    ChangeResult,
    DeleteDocument,
    Document,
    DocumentHead,
    DocumentName,
    DocumentVectors,
    DocumentVersion,
    FoundDocument,
    GetDocument,
    ListNamespaces,
    NamespaceMatch,
    Operation,
    PutDocument,
    QueryVector,
    ReadResult,
    SearchDocuments,
)
from gieok.memory.documents.steps import ChangeDocuments, ReadDocuments
from gieok.memory.requests import RequestKey

READ_PLAN = "read_documents"
CHANGE_PLAN = "change_documents"
SWEEP = 500
"""Expired documents that one transaction of a sweep deletes."""


class Documents:
    """One owner's documents: JSON objects with a namespace and a key."""

    def __init__(self, cycles: Cycles, embedder: Embedder | None = None) -> None:
        self._cycles = cycles
        self.embedder = embedder
        """The embedder of the settings, for programs that make vectors of their documents with it."""

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        index: Sequence[str] | None = None,
        ttl: timedelta | None = None,
        vectors: DocumentVectors | None = None,
        once: RequestKey | None = None,
    ) -> DocumentHead:
        """Write a document: a new one, or a new version of it.

        `index` lists the paths that are searchable; None is all text in it, () is nothing. `ttl` is how long
        it is kept after it was written, or read with `refresh_ttl`. `vectors` are of your own embedding
        model, for a search with `vector`. `once` is an idempotency key. InputRefused if the value is not
        JSON.
        """
        operation = put_operation(namespace, key, value, index=index, ttl=ttl, vectors=vectors)
        (saved,) = await self.batch([operation], once=once)
        assert isinstance(saved, ChangeResult) and saved.saved is not None  # noqa: S101, PT018
        return saved.saved

    async def get(self, namespace: Sequence[str], key: str, *, refresh_ttl: bool = True) -> Document | None:
        """A document, or None. With `refresh_ttl` its time to live begins again."""
        operation = validated(GetDocument, namespace=tuple(namespace), key=key)
        (read,) = await self.batch([operation], refresh_ttl=refresh_ttl)
        assert isinstance(read, ReadResult)  # noqa: S101
        return read.document

    async def delete(self, namespace: Sequence[str], key: str, *, once: RequestKey | None = None) -> bool:
        """Delete a document with all its versions. False if there is none."""
        operation = validated(DeleteDocument, namespace=tuple(namespace), key=key)
        (deleted,) = await self.batch([operation], once=once)
        assert isinstance(deleted, ChangeResult)  # noqa: S101
        return bool(deleted.deleted)

    async def search(
        self,
        namespace: Sequence[str] = (),
        query: str | None = None,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  LangGraph's word
        vector: QueryVector | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool = True,
    ) -> tuple[FoundDocument, ...]:
        """Documents below a namespace, () being all of them.

        With a query: those that share words with it, best first, each with its score and the reasons. With a
        vector: by similarity, the score being the cosine; then those without a vector in its space. With
        neither: those that were updated last. `filter` has values by key, or operators (`$eq`, `$ne`, `$gt`,
        `$gte`, `$lt`, `$lte`) by key.
        """
        operation = validated(
            SearchDocuments,
            namespace=tuple(namespace),
            query=query,
            filter=None if filter is None else dict(filter),
            vector=vector,
            limit=limit,
            offset=offset,
        )
        (found,) = await self.batch([operation], refresh_ttl=refresh_ttl)
        assert isinstance(found, ReadResult)  # noqa: S101
        return found.documents or ()

    async def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[tuple[str, ...], ...]:
        """Namespaces that have documents, in alphabetical order. In prefix and suffix, `*` is any label."""
        paths = {"prefix": prefix, "suffix": suffix}
        operation = validated(
            ListNamespaces,
            matching=tuple(
                validated(NamespaceMatch, at=at, path=tuple(path)) for at, path in paths.items() if path
            ),
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
        (found,) = await self.batch([operation])
        assert isinstance(found, ReadResult)  # noqa: S101
        return found.namespaces or ()

    async def history(self, namespace: Sequence[str], key: str) -> Sequence[DocumentVersion]:
        """The versions of a document, oldest first, at most 1,000. NotFound if there is no such document."""
        name, now = validated(DocumentName, namespace=tuple(namespace), key=key), self._cycles.now
        versions = await self._cycles.scope.read(lambda view: view.documents.history(name, now))
        if not versions:
            raise NotFound("there is no document with this namespace and key")
        return versions

    async def batch(
        self, operations: Sequence[Operation], *, refresh_ttl: bool = True, once: RequestKey | None = None
    ) -> tuple[ReadResult | ChangeResult, ...]:
        """Run up to 1,000 operations. Returns their results in the same order.

        All reads see the state before the batch, on one snapshot. All changes are one commit: all of them are
        stored or none. With `refresh_ttl`, the time to live of what was read begins again, in that commit.
        `once` is an idempotency key: repeated, the changes are made once.
        """
        refreshed = range(len(operations)) if refresh_ttl else ()
        return await self.batch_refreshing(operations, frozenset(refreshed), once)

    async def batch_refreshing(
        self, operations: Sequence[Operation], refreshed: frozenset[int], once: RequestKey | None = None
    ) -> tuple[ReadResult | ChangeResult, ...]:
        """As `batch`; only the reads at these places begin times to live again."""
        if len(operations) > MAX_OPERATIONS:
            raise InputRefused(f"a batch may have at most {MAX_OPERATIONS}", at="operations")
        reads = {
            place: each
            for place, each in enumerate(operations)
            if isinstance(each, GetDocument | SearchDocuments | ListNamespaces)
        }
        changes = {
            place: each
            for place, each in enumerate(operations)
            if isinstance(each, PutDocument | DeleteDocument)
        }
        results: dict[int, ReadResult | ChangeResult] = {}
        if reads:
            read = await self._cycles.output(READ_PLAN, ReadDocuments, {"reads": tuple(reads.values())})
            results.update(zip(reads, read.results, strict=True))
        refresh = tuple(_expiring(results[place] for place in reads if place in refreshed))
        if changes or refresh:
            request = {"changes": tuple(changes.values()), "refresh": refresh}
            changed = await self._cycles.output_once(once, CHANGE_PLAN, ChangeDocuments, request)
            results.update(zip(changes, changed.results, strict=True))
        return tuple(results[place] for place in range(len(operations)))

    async def sweep(self) -> int:
        """Delete expired documents now, and return how many. Background work does so every few hours; nothing
        reads an expired document in between."""
        now, deleted = self._cycles.now, 0
        while True:
            count = await self._cycles.scope.write(lambda view: view.documents.delete_expired(now, SWEEP))
            deleted += count
            if count < SWEEP:
                return deleted


def put_operation(
    namespace: Sequence[str],
    key: str,
    value: Mapping[str, Any],
    *,
    index: Sequence[str] | None = None,
    ttl: timedelta | None = None,
    vectors: DocumentVectors | None = None,
) -> PutDocument:
    """A put for a batch. InputRefused names what is wrong with it."""
    return validated(
        PutDocument,
        namespace=tuple(namespace),
        key=key,
        value=dict(value),
        index=None if index is None else tuple(index),
        ttl_seconds=None if ttl is None else ttl.total_seconds(),
        vectors=vectors,
    )


def _expiring(results: Iterable[ReadResult | ChangeResult]) -> Iterator[DocumentName]:
    """The names of documents with a time to live among what was read."""
    for result in results:
        assert isinstance(result, ReadResult)  # noqa: S101  only reads are refreshed
        for found in (result.document, *(result.documents or ())):
            if found is not None and found.expires_at is not None:
                yield DocumentName.model_construct(namespace=found.namespace, key=found.key)
