"""`GieokStore`: LangGraph's long-term store (`BaseStore`) on the documents of one owner."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Iterable
from contextlib import contextmanager
from datetime import timedelta
from threading import Thread
from typing import Any, NamedTuple, Self, TypeVar, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from pydantic import TypeAdapter

from gieok.app import Gieok, User
from gieok.app.cycles import validated
from gieok.app.documents import put_operation
from gieok.interfaces.langgraph.indexing import Embedded, StoreIndex
from gieok.memory.documents.records import (
    ChangeResult,
    DeleteDocument,
    Document,
    DocumentWhy,
    FoundDocument,
    GetDocument,
    ListNamespaces,
    NamespaceMatch,
    Operation,
    ReadResult,
    SearchDocuments,
)
from gieok.settings import Settings

T = TypeVar("T")
_WHY = TypeAdapter(DocumentWhy)


class GieokItem(SearchItem):
    """A search item that explains itself: `why` has the matched words and the signals of the score."""

    __slots__ = ("why",)

    def __init__(self, document: FoundDocument) -> None:
        super().__init__(
            namespace=document.namespace,
            key=document.key,
            value=dict(document.value),
            created_at=document.created_at,
            updated_at=document.updated_at,
            score=document.score,
        )
        self.why = document.why
        """None in a search without a query."""

    def dict(self) -> dict[str, Any]:
        """As JSON."""
        why = None if self.why is None else _WHY.dump_python(self.why, mode="json", by_alias=True)
        item = cast("dict[str, Any]", super().dict())  # pyright: ignore[reportUnknownMemberType]
        return {**item, "why": why}


class _Batch(NamedTuple):
    ops: list[Op]
    places: list[int]
    """Which of them are run. Of several puts of one item, the last one."""
    operations: list[Operation]
    """What these do."""

    @property
    def kept(self) -> list[Op]:
        return [self.ops[place] for place in self.places]


class GieokStore(BaseStore):
    """One owner's documents as a LangGraph store: encrypted, with versions, searched in Korean and English.

    A batch reads first, on one snapshot, and then makes all its changes in one commit. The owner is fixed
    here: nothing in a namespace, a state or a config can choose another one.

    Search is by words, or by vectors if `index` has an embedding model: then the score is the cosine, as in
    LangGraph's own stores. `index` in a put lists the searched fields; `fields` of the config are those of
    puts without one.

    Make it in the event loop in which Gieok is open, or use `GieokStore.open` in a program without one. The
    synchronous methods work in any other thread. InputRefused for what a document cannot hold.
    """

    supports_ttl = True

    def __init__(self, user: User, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        """`index` and `ttl` as LangGraph defines them. All parts of `index` are optional; `embed` may be
        `"gieok"`, the embedder of Gieok's settings. `ttl` is in minutes; expired items are never returned,
        whatever `omit_expired` says, and Gieok's background work deletes them."""
        self._documents = user.documents
        self._loop = asyncio.get_running_loop()
        self._index = StoreIndex(index or {}, user, self._loop)
        self.index_config = index
        self.ttl_config = ttl

    @classmethod
    @contextmanager
    def open(
        cls,
        owner: str,
        settings: Settings | None = None,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> Generator[Self]:
        """A store for a program without an event loop: opens Gieok on a thread of its own, and closes it."""
        loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_forever, name="gieok-store", daemon=True)
        thread.start()

        async def start() -> tuple[Gieok, Self]:
            gieok = await Gieok.open(settings)
            return gieok, cls(gieok.user(owner), index=index, ttl=ttl)

        try:
            gieok, store = asyncio.run_coroutine_threadsafe(start(), loop).result()
            try:
                yield store
            finally:
                asyncio.run_coroutine_threadsafe(gieok.close(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations from a thread other than that of Gieok's event loop."""
        self._check_thread("abatch")
        batch = self._prepare(list(ops))
        return self._wait(self._run(batch, self._index.embed(batch.kept)), "abatch")

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: first all reads, then all changes in one commit. Of several puts of one item, the
        last one counts. Nothing is changed if the embedding model fails."""
        batch = self._prepare(list(ops))
        running = self._run(batch, await self._index.aembed(batch.kept))
        if asyncio.get_running_loop() is self._loop:
            return await running
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(running, self._loop))

    def sweep_ttl(self) -> int:
        """Delete expired items now, and return how many. Background work does it every few hours."""
        return self._wait(self._documents.sweep(), "asweep_ttl")

    async def asweep_ttl(self) -> int:
        """As `sweep_ttl`."""
        return await self._documents.sweep()

    def _wait(self, work: Coroutine[Any, Any, T], instead: str) -> T:
        try:
            self._check_thread(instead)
        except asyncio.InvalidStateError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _check_thread(self, instead: str) -> None:
        try:
            is_inside = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_inside = False
        if is_inside or not self._loop.is_running():
            raise asyncio.InvalidStateError(
                f"this call would wait for itself; use the async method ({instead}, aget, aput, …)"
                if is_inside
                else "the event loop of this store has ended; open Gieok again"
            )

    def _prepare(self, ops: list[Op]) -> _Batch:
        """Check all operations before anything is embedded. InputRefused."""
        last_put = {(op.namespace, op.key): place for place, op in enumerate(ops) if isinstance(op, PutOp)}
        places = [
            place
            for place, op in enumerate(ops)
            if not (isinstance(op, PutOp) and last_put[op.namespace, op.key] != place)
            and not (isinstance(op, SearchOp | ListNamespacesOp) and op.limit == 0)
        ]
        return _Batch(ops, places, [self._operation(ops[place]) for place in places])

    async def _run(self, batch: _Batch, embedded: Embedded) -> list[Result]:
        refreshed = (getattr(op, "refresh_ttl", False) for op in batch.kept)
        done = await self._documents.batch_refreshing(
            [
                self._with_vectors(op, operation, embedded)
                for op, operation in zip(batch.kept, batch.operations, strict=True)
            ],
            frozenset(number for number, is_refreshed in enumerate(refreshed) if is_refreshed),
        )
        by_place = dict(zip(batch.places, done, strict=True))
        return [_result(op, by_place.get(place)) for place, op in enumerate(batch.ops)]

    def _with_vectors(self, op: Op, operation: Operation, embedded: Embedded) -> Operation:
        if isinstance(op, SearchOp):
            return operation.model_copy(update={"vector": self._index.query_vector(op, embedded)})
        if isinstance(op, PutOp) and op.value is not None:
            return operation.model_copy(update={"vectors": self._index.vectors(op, embedded)})
        return operation

    def _operation(self, op: Op) -> Operation:
        if isinstance(op, GetOp):
            return validated(GetDocument, namespace=tuple(op.namespace), key=op.key)
        if isinstance(op, SearchOp):
            return validated(
                SearchDocuments,
                namespace=tuple(op.namespace_prefix),
                query=op.query,
                filter=op.filter,
                limit=op.limit,
                offset=op.offset,
            )
        if isinstance(op, ListNamespacesOp):
            matching = tuple(
                validated(NamespaceMatch, at=each.match_type, path=tuple(each.path))
                for each in op.match_conditions or ()
                if each.path
            )
            return validated(
                ListNamespaces, matching=matching, max_depth=op.max_depth, limit=op.limit, offset=op.offset
            )
        if op.value is None:
            return validated(DeleteDocument, namespace=tuple(op.namespace), key=op.key)
        ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
        return put_operation(op.namespace, str(op.key), op.value, index=self._index.paths(op), ttl=ttl)


def _result(op: Op, done: ReadResult | ChangeResult | None) -> Result:
    if not isinstance(done, ReadResult):
        return [] if isinstance(op, SearchOp | ListNamespacesOp) else None
    if done.documents is not None:
        return [GieokItem(document) for document in done.documents]
    if done.namespaces is not None:
        return list(done.namespaces)
    return None if done.document is None else _item(done.document)


def _item(document: Document) -> Item:
    return Item(
        value=dict(document.value),
        key=document.key,
        namespace=document.namespace,
        created_at=document.created_at,
        updated_at=document.updated_at,
    )
