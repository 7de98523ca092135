"""Vectors of documents in SQL: all of one document in one sealed value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.errors import StoreDamaged
from gieok.memory.documents.records import DocumentVectors
from gieok.ranking import VectorRows, pack_rows, unpack_rows
from gieok.vault import OwnerKeys, Place


class SqlDocumentVectors:
    """The vectors of one owner's documents inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, root_id: UUID, version: int, vectors: DocumentVectors) -> None:
        """Save the vectors of a version of a document."""
        space = vectors.full_space
        packed = b"".join(pack_rows(np.asarray(vectors.values, dtype=np.float32)))
        self._tx.run(
            "save_document_vectors",
            root_id=root_id.bytes,
            version=version,
            space=space,
            vectors=self._keys.seal(_place(root_id, space, version), packed),
        )

    def list(self, space: str, dimension: int, root_ids: Sequence[UUID]) -> Mapping[UUID, VectorRows]:
        """The vectors of these documents in a space. StoreDamaged if they have another length."""
        if not root_ids:
            return {}
        rows = self._tx.all(
            "list_document_vectors", space=space, root_ids=[root_id.bytes for root_id in root_ids]
        )
        return {
            root_id: self._open(root_id, space, dimension, version, sealed)
            for root_id, version, sealed in ((UUID(bytes=row[0]), row[1], row[2]) for row in rows)
        }

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed vectors of the next documents, by root."""
        rows = self._tx.all("list_document_vector_seals", after=after, limit=limit)
        sealed = [
            SealedRow(
                "replace_document_vector_seal",
                {"root_id": root, "version": version, "space": space},
                {"vectors": (_place(UUID(bytes=root), space, version), vectors)},
            )
            for root, version, space, vectors in rows
        ]
        return SealPage(sealed, rows[-1][0] if len(rows) == limit else None)

    def _open(self, root_id: UUID, space: str, dimension: int, version: int, sealed: bytes) -> VectorRows:
        try:
            return unpack_rows(self._keys.open(_place(root_id, space, version), sealed), dimension)
        except ValueError:
            raise StoreDamaged(
                f"the vectors of document {root_id} have a wrong length; put it again"
            ) from None


def _place(root_id: UUID, space: str, version: int) -> Place:
    return Place("document_vectors", f"vectors in {space}", str(root_id), version)
