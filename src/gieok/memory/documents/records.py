"""Records of documents: what is put, read and searched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from gieok.engine import Data
from gieok.engine.strict_json import JsonRefused, parse_json
from gieok.memory.chains import VersionNumber
from gieok.memory.fields import Timestamp, storable
from gieok.memory.signals import Signal

MAX_LABELS = 16
MAX_LABEL_CHARS = 256
MAX_KEY_CHARS = 512
MAX_VALUE_BYTES = 256 * 1024
MAX_VALUE_DEPTH = 32
MAX_PATHS = 64
MAX_FILTERS = 64
MAX_LIST = 1_000
MAX_OFFSET = 1_000_000
MAX_QUERY_CHARS = 4_000
MAX_TTL_SECONDS = 10 * 366 * 24 * 3600
MAX_VECTORS = 256
"""Vectors of one document."""
MAX_DIMENSION = 8_192
MAX_SPACE_CHARS = 128
MAX_COORDINATE = 1e15
"""A larger value would make the length of a vector infinite."""
MAX_OPERATIONS = 1_000
"""Operations of a batch."""


def _check_value(value: object) -> dict[str, Any]:
    """A JSON object exactly as it will be read back. ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")  # noqa: TRY004  pydantic catches this one
    try:
        content = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        if len(content) > MAX_VALUE_BYTES:
            raise ValueError(f"may have at most {MAX_VALUE_BYTES} bytes as JSON, and has {len(content)}")
        read = parse_json(content, depth=MAX_VALUE_DEPTH)
    except JsonRefused as refused:
        raise ValueError(f"{refused.at}: {refused}" if refused.at else str(refused)) from None
    except (TypeError, UnicodeEncodeError, RecursionError):
        raise ValueError("must be JSON: objects, lists, text, numbers, true, false and null") from None
    return read


Label = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL_CHARS), AfterValidator(storable)]
Namespace = Annotated[tuple[Label, ...], Field(min_length=1, max_length=MAX_LABELS, strict=False)]
"""A path of labels, such as `("memories", "user-7")`."""
NamespacePrefix = Annotated[tuple[Label, ...], Field(max_length=MAX_LABELS, strict=False)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_CHARS), AfterValidator(storable)]
DocumentValue = Annotated[dict[str, JsonValue], BeforeValidator(_check_value)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL_CHARS)]
IndexedPaths = Annotated[tuple[Path, ...], Field(max_length=MAX_PATHS, strict=False)]
"""Which parts of a value are searchable: `title`, `parts[*].text`, `authors[0].name`; `$` is all of it."""
TtlSeconds = Annotated[float, Field(gt=0, le=MAX_TTL_SECONDS)]
PageLimit = Annotated[int, Field(ge=1, le=MAX_LIST)]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET)]
QueryText = Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARS)]


Space = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SPACE_CHARS), AfterValidator(storable)]
"""The name of an embedding model. Only vectors with the same name and dimension are compared."""
Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
Vector = Annotated[tuple[Coordinate, ...], Field(min_length=1, max_length=MAX_DIMENSION, strict=False)]


class DocumentVectors(Data):
    """Vectors of a document, made by the caller's embedding model: one for each text that is searched."""

    space: Space
    values: Annotated[tuple[Vector, ...], Field(min_length=1, max_length=MAX_VECTORS, strict=False)]

    @model_validator(mode="after")
    def _has_one_dimension(self) -> Self:
        if len({len(vector) for vector in self.values}) > 1:
            raise ValueError("must be vectors of one length")
        return self

    @property
    def full_space(self) -> str:
        """The space with its dimension."""
        return space_of(self.space, len(self.values[0]))


class QueryVector(Data):
    """The vector of a query, made by the caller's embedding model."""

    space: Space
    values: Vector

    @property
    def full_space(self) -> str:
        """The space with its dimension."""
        return space_of(self.space, len(self.values))


def space_of(name: str, dimension: int) -> str:
    """Vectors of one model and one length are comparable."""
    return f"{name}@{dimension}"


class DocumentName(Data):
    """The identity of a document."""

    namespace: Namespace
    key: Key


class DocumentDraft(DocumentName):
    """A document to store."""

    value: DocumentValue
    index: IndexedPaths | None = None
    """Which parts are searchable: None is all text in it, () is nothing."""
    ttl_seconds: TtlSeconds | None = None
    """How long it is kept after it was written, or read with `refresh_ttl`; None is for ever."""


class DocumentHead(DocumentName):
    """A stored document without its value."""

    version: VersionNumber
    created_at: Timestamp
    """When the first version was written."""
    updated_at: Timestamp
    ttl_seconds: float | None
    expires_at: Timestamp | None


class Document(DocumentHead):
    """A stored document."""

    value: Mapping[str, JsonValue]


class DocumentVersion(Data):
    """One version of a document."""

    version: VersionNumber
    value: Mapping[str, JsonValue]
    created_at: Timestamp


@dataclass(frozen=True, slots=True)
class DocumentWhy:
    """Why a document was found. The score is the sum of the values of `signals` times their weights."""

    __pydantic_config__: ClassVar[ConfigDict] = Data.model_config

    matched_words: tuple[str, ...]
    signals: Mapping[str, Signal]
    age_days: float
    """Since it was updated."""


class FoundDocument(Document):
    """A document that a search found. Without a query and a vector it has no score and no reasons."""

    score: float | None = None
    why: DocumentWhy | None = None


class NamespaceMatch(Data):
    """A condition on namespaces. The label `*` matches any label."""

    at: Literal["prefix", "suffix"]
    path: Namespace


class GetDocument(DocumentName):
    """Read one document."""

    op: Literal["get"] = "get"


class SearchDocuments(Data):
    """Search the documents below a namespace: by words, by a filter on values, or list them newest first."""

    op: Literal["search"] = "search"
    namespace: NamespacePrefix = ()
    query: QueryText | None = None
    filter: Annotated[dict[str, JsonValue], Field(max_length=MAX_FILTERS)] | None = None
    """Values by key, or operators by key: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`. In a key, `.` leads to
    a field below."""
    limit: PageLimit = 10
    offset: Offset = 0
    vector: QueryVector | None = None
    """Rank by similarity: the score is the cosine of the most similar vector of a document. Documents without
    a vector in this space come last, without a score."""


class ListNamespaces(Data):
    """List namespaces that have documents."""

    op: Literal["namespaces"] = "namespaces"
    matching: Annotated[tuple[NamespaceMatch, ...], Field(max_length=MAX_LABELS, strict=False)] = ()
    max_depth: Annotated[int, Field(ge=1)] | None = None
    """Longer ones are cut to this length."""
    limit: PageLimit = 100
    offset: Offset = 0


class PutDocument(DocumentDraft):
    """Write a document: a new one, or a new version."""

    op: Literal["put"] = "put"
    vectors: DocumentVectors | None = None
    """Stored with this version. The vectors of former versions are deleted."""


class DeleteDocument(DocumentName):
    """Delete a document with all its versions."""

    op: Literal["delete"] = "delete"


ReadOperation = Annotated[GetDocument | SearchDocuments | ListNamespaces, Field(discriminator="op")]
Change = Annotated[PutDocument | DeleteDocument, Field(discriminator="op")]
Operation = Annotated[
    GetDocument | SearchDocuments | ListNamespaces | PutDocument | DeleteDocument, Field(discriminator="op")
]


class ReadResult(Data):
    """The result of one read: the field of its operation is set."""

    document: Document | None = None
    documents: tuple[FoundDocument, ...] | None = None
    namespaces: tuple[tuple[str, ...], ...] | None = None


class ChangeResult(Data):
    """The result of one change."""

    saved: DocumentHead | None = None
    deleted: bool | None = None
    """Whether there was such a document."""


def expiry(ttl_seconds: float | None, now: datetime) -> datetime | None:
    """When a document that is written or read now expires."""
    return None if ttl_seconds is None else now + timedelta(seconds=ttl_seconds)
