"""The relation graph in SQL, for walks and the guardian. It reads keys only and decrypts nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.decisions import domain_token, strength_number
from gieok.adapters.sql.stores.relations import read_relation, type_number
from gieok.memory.decisions.graph.impact import Edge
from gieok.memory.decisions.records import Relation, RelationType, Scope, Strength
from gieok.vault import OwnerKeys

_ORIGINS = 500
_PAGE = 2_000


class SqlDecisionGraph:
    """The graph of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def edges(self, origins: Sequence[bytes], visited: Collection[bytes]) -> Iterator[Edge]:
        parts = (origins[start : start + _ORIGINS] for start in range(0, len(origins), _ORIGINS))
        pages = chain.from_iterable(self._pages(part, visited) for part in parts)
        return chain.from_iterable(pages)

    def declared_from(
        self, sources: Sequence[UUID], types: Sequence[RelationType], limit: int
    ) -> list[Relation]:
        if not sources:
            return []
        rows = self._tx.all(
            "list_relations_from", sources=_bytes(sources), types=list(map(type_number, types)), limit=limit
        )
        return [read_relation(row) for row in rows]

    def declared_to(
        self, targets: Sequence[UUID], types: Sequence[RelationType], limit: int
    ) -> list[Relation]:
        if not targets:
            return []
        rows = self._tx.all(
            "list_relations_to", targets=_bytes(targets), types=list(map(type_number, types)), limit=limit
        )
        return [read_relation(row) for row in rows]

    def roots(self, scope: Scope, domain: str, strength: Strength, limit: int) -> list[UUID]:
        rows = self._tx.all("list_domain_roots", **self._place(scope, domain, strength), limit=limit)
        return [UUID(bytes=root) for (root,) in rows]

    def count(self, scope: Scope, domain: str, strength: Strength) -> int:
        row = self._tx.one("count_domain_decisions", **self._place(scope, domain, strength))
        return row[0] if row else 0

    def _pages(self, origins: Sequence[bytes], visited: Collection[bytes]) -> Iterator[Sequence[Edge]]:
        """Pages of edges. Of a decision with a million edges only as many are read as the walk needs."""
        last: Edge = (b"", b"", 0, 0)
        while True:
            origin, affected, number, from_source = last
            page: Sequence[Edge] = self._tx.all(
                "list_impacts",
                origins=[each for each in origins if each >= origin],
                visited=list(visited),
                origin=origin,
                affected=affected,
                type=number,
                from_source=from_source,
                limit=_PAGE,
            )
            yield page
            if len(page) < _PAGE:
                return
            last = page[-1]

    def _place(self, scope: Scope, domain: str, strength: Strength) -> dict[str, int]:
        token = domain_token(self._keys, domain if scope == "domain" else None)
        return {"domain_token": token, "strength": strength_number(strength)}


def _bytes(ids: Sequence[UUID]) -> list[bytes]:
    return [each.bytes for each in ids]
