"""The index config of a `GieokStore`: which fields are searched, and with which embedding model."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    IndexConfig,
    Op,
    PutOp,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

from gieok.app import User
from gieok.app.cycles import validated
from gieok.errors import InputRefused
from gieok.memory.companion.vectors.search import Embedder, Vector
from gieok.memory.documents.records import MAX_SPACE_CHARS, DocumentVectors, QueryVector

OWN = "gieok"
"""`embed` for the embedder of Gieok's settings."""
WHOLE = "$"
T = TypeVar("T")


class Embedded(NamedTuple):
    """The vectors of the queries and texts of a batch, by text."""

    queries: Mapping[str, Vector] = {}
    texts: Mapping[str, Vector] = {}


class StoreIndex:
    """Makes the vectors of a store's documents and queries, as LangGraph's own stores do.

    Without `embed` in the config there are no vectors, and `fields` are searched by words only.
    """

    def __init__(self, config: IndexConfig, user: User, loop: asyncio.AbstractEventLoop) -> None:
        self._fields = list(config.get("fields") or [WHOLE])
        self._embeddings: Embeddings | None = None
        self._dimension = config.get("dims")
        self._space = ""
        embed = config.get("embed")
        if embed is None:
            return
        if embed == OWN:
            embedder = user.documents.embedder
            if embedder is None:
                raise InputRefused("there is no embedder; set GIEOK_EMBEDDER, or give a function", at="embed")
            self._embeddings, self._space = _OwnEmbeddings(embedder, loop), embedder.name
            self._dimension = embedder.dimension
        else:
            self._embeddings, self._space = ensure_embeddings(embed), _name_of(embed)

    def paths(self, put: PutOp) -> Sequence[str]:
        """The fields of a put that are searched."""
        return () if put.index is False else self._fields if put.index is None else put.index

    def embed(self, ops: Iterable[Op]) -> Embedded:
        """The vectors of all queries and texts of these operations."""
        if self._embeddings is None:
            return Embedded()
        queries, texts = self._texts(ops)
        vectors = self._embeddings.embed_documents(texts) if texts else []
        return self._embedded(queries, list(map(self._embeddings.embed_query, queries)), texts, vectors)

    async def aembed(self, ops: Iterable[Op]) -> Embedded:
        """As `embed`."""
        if self._embeddings is None:
            return Embedded()
        queries, texts = self._texts(ops)
        vectors = await self._embeddings.aembed_documents(texts) if texts else []
        asked = await asyncio.gather(*map(self._embeddings.aembed_query, queries))
        return self._embedded(queries, asked, texts, vectors)

    def query_vector(self, search: SearchOp, embedded: Embedded) -> QueryVector | None:
        """The vector of a search, if it has a query and the store has an embedding model."""
        values = embedded.queries.get(search.query or "")
        return None if values is None else validated(QueryVector, space=self._space, values=tuple(values))

    def vectors(self, put: PutOp, embedded: Embedded) -> DocumentVectors | None:
        """The vectors of a put: one for each text of its fields."""
        if self._embeddings is None or not (texts := self._texts_of(put)):
            return None
        values = tuple(tuple(embedded.texts[text]) for text in texts)
        return validated(DocumentVectors, space=self._space, values=values)

    def _texts(self, ops: Iterable[Op]) -> tuple[list[str], list[str]]:
        """The queries and the texts to embed, each once."""
        queries: dict[str, None] = {}
        texts: dict[str, None] = {}
        for op in ops:
            if isinstance(op, SearchOp) and op.query and op.query.strip():
                queries[op.query] = None
            elif isinstance(op, PutOp) and op.value is not None:
                texts.update(dict.fromkeys(self._texts_of(op)))
        return list(queries), list(texts)

    def _texts_of(self, put: PutOp) -> list[str]:
        found = (
            get_text_at_path(put.value, path if path == WHOLE else tokenize_path(path))
            for path in self.paths(put)
        )
        return list(dict.fromkeys(text for texts in found for text in texts if text.strip()))

    def _embedded(
        self, queries: list[str], asked: Sequence[Vector], texts: list[str], vectors: Sequence[Vector]
    ) -> Embedded:
        if len(vectors) != len(texts):
            raise InputRefused(f"returned {len(vectors)} vectors for {len(texts)} texts", at="embed")
        for vector in (*asked, *vectors):
            if self._dimension is not None and len(vector) != self._dimension:
                raise InputRefused(
                    f"returned a vector of length {len(vector)}, and dims is {self._dimension}", at="embed"
                )
        return Embedded(dict(zip(queries, asked, strict=True)), dict(zip(texts, vectors, strict=True)))


class _OwnEmbeddings(Embeddings):
    """Gieok's embedder as LangChain's `Embeddings`. It runs in Gieok's event loop."""

    def __init__(self, embedder: Embedder, loop: asyncio.AbstractEventLoop) -> None:
        self._embedder = embedder
        self._loop = loop

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return _lists(self._start(self._embedder.embed_documents(texts)).result())

    def embed_query(self, text: str) -> list[float]:
        return list(self._start(self._embedder.embed_query(text)).result())

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return _lists(await asyncio.wrap_future(self._start(self._embedder.embed_documents(texts))))

    async def aembed_query(self, text: str) -> list[float]:
        return list(await asyncio.wrap_future(self._start(self._embedder.embed_query(text))))

    def _start(self, work: Coroutine[Any, Any, T]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)


def _lists(vectors: Sequence[Vector]) -> list[list[float]]:
    return [list(vector) for vector in vectors]


def _name_of(embed: object) -> str:
    """The name of an embedding model. Vectors of models with different names are not compared."""
    if isinstance(embed, str):
        return embed[:MAX_SPACE_CHARS]
    if isinstance(embed, Embeddings):
        model = getattr(embed, "model", None) or getattr(embed, "model_name", None)
        return ":".join(filter(None, (type(embed).__name__, model and str(model))))[:MAX_SPACE_CHARS]
    return str(getattr(embed, "__qualname__", type(embed).__name__))[:MAX_SPACE_CHARS]
