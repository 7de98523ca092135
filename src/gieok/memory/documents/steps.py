"""The steps of documents: read on one snapshot, change in one commit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import InputRefused
from gieok.memory.documents.records import (
    MAX_OPERATIONS,
    Change,
    ChangeResult,
    DocumentName,
    GetDocument,
    PageLimit,
    ReadOperation,
    ReadResult,
    SearchDocuments,
)
from gieok.memory.documents.search import DocumentSearchPolicy, list_namespaces, search_documents
from gieok.memory.documents.store import DocumentView


class ReadDocumentsMetadata(DocumentSearchPolicy):
    max_limit: PageLimit
    """The largest page of documents that a search may ask for."""


class ReadDocumentsInputs(Data):
    reads: Annotated[tuple[ReadOperation, ...], Field(max_length=MAX_OPERATIONS)]


class DocumentsRead(Data):
    results: tuple[ReadResult, ...]
    """One per operation, in their order."""


class ReadDocuments(ReadStep[ReadDocumentsMetadata, ReadDocumentsInputs, DocumentsRead]):
    """Read and search documents and list namespaces, all on one snapshot."""

    type = "ReadDocuments"
    stages = frozenset({Stage.CONTEXT_SELECT})
    heavy = True  # a filter may open every document of a namespace

    def read(
        self,
        view: DocumentView,
        metadata: ReadDocumentsMetadata,
        inputs: ReadDocumentsInputs,
        context: StepContext,
    ) -> DocumentsRead:
        store, now = view.documents, context.now
        names = [_name(each) for each in inputs.reads if isinstance(each, GetDocument)]
        by_name = store.get(names, now)
        results: list[ReadResult] = []
        for each in inputs.reads:
            if isinstance(each, GetDocument):
                results.append(ReadResult(document=by_name.get(_name(each))))
            elif isinstance(each, SearchDocuments):
                if each.limit > metadata.max_limit:
                    raise InputRefused(f"must be at most {metadata.max_limit}", at="limit")
                results.append(ReadResult(documents=search_documents(store, each, metadata, now)))
            else:
                results.append(ReadResult(namespaces=list_namespaces(store, each, now)))
        context.note("found", sum(len(each.documents or ()) for each in results))
        return DocumentsRead(results=tuple(results))


class ChangeDocumentsInputs(Data):
    changes: Annotated[tuple[Change, ...], Field(max_length=MAX_OPERATIONS)]
    refresh: tuple[DocumentName, ...] = ()
    """Documents that were read, and expire later for it."""


class DocumentsChanged(Data):
    results: tuple[ChangeResult, ...]
    """One per change, in their order."""


class ChangeDocuments(WriteStep[NoData, ChangeDocumentsInputs, DocumentsChanged]):
    """Put and delete documents in order, all of them or none."""

    type = "ChangeDocuments"

    def apply(
        self, view: DocumentView, metadata: NoData, inputs: ChangeDocumentsInputs, context: StepContext
    ) -> DocumentsChanged:
        store, now = view.documents, context.now
        results = tuple(store.change(inputs.changes, now)) if inputs.changes else ()
        store.refresh(inputs.refresh, now)
        context.note("changed", len(results))
        return DocumentsChanged(results=results)


def _name(operation: GetDocument) -> DocumentName:
    return DocumentName.model_construct(namespace=operation.namespace, key=operation.key)


STEPS: tuple[type[AnyStep], ...] = (ReadDocuments, ChangeDocuments)
