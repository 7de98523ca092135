"""Decisions in SQL: version chains, and a table of heads that lists the active versions by domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, to_micros
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.errors import InputRefused, StoreDamaged
from gieok.memory.chains import ChainVersion, VersionDraft
from gieok.memory.decisions.documents import FORM, from_document, to_document
from gieok.memory.decisions.records import (
    STRENGTHS,
    Decision,
    DecisionContent,
    DecisionPosition,
    Scope,
    Strength,
)
from gieok.memory.decisions.rules import check_query, statement_terms
from gieok.vault import OwnerKeys

KIND = "decision"
_GLOBAL = 0
_END_OF_TIME = 2**62


class SqlDecisionStore:
    """Decisions of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys
        self._chain = SqlChainStore(tx, keys, KIND)

    def append(
        self,
        root_id: UUID,
        content: DecisionContent,
        *,
        version_id: UUID,
        created_at: datetime,
        expected_version: int | None,
    ) -> Decision:
        if type(content) is not DecisionContent:
            raise InputRefused("only decisions are stored, not proposals", at="content")
        draft = VersionDraft(id=version_id, form=FORM, content=to_document(content), created_at=created_at)
        added = self._chain.append(root_id, draft, expected_version)
        root = root_id.bytes
        self._tx.run(
            "save_decision_head",
            root_id=root,
            version=added.version,
            domain_token=domain_token(self._keys, content.domain),
            strength=strength_number(content.strength),
            created_at=to_micros(created_at),
        )
        self._index(root, content, self._postings(root) if added.version > 1 else frozenset())
        return _decision(added, content)

    def active(self, root_ids: Sequence[UUID]) -> list[Decision]:
        return [_read(version) for version in self._chain.active(root_ids)]

    def existing(self, root_ids: Sequence[UUID]) -> Set[UUID]:
        rows = self._tx.all("list_existing_decisions", root_ids=[root.bytes for root in root_ids])
        return {UUID(bytes=root_id) for (root_id,) in rows}

    def list(
        self,
        *,
        scope: Scope | None,
        domain: str | None,
        strength: Strength | None,
        after: DecisionPosition | None,
        limit: int,
    ) -> list[Decision]:
        """Reads one range of the index for each strength, so that the cost of a page does not depend on its
        position."""
        if domain is not None and scope == "global":
            return []
        found: list[Decision] = []
        for wanted in STRENGTHS if strength is None else (strength,):
            if after is not None and strength_number(wanted) < strength_number(after.strength):
                continue
            begins_here = after if after is not None and after.strength == wanted else None
            found += self._list_strength(scope, domain, wanted, begins_here, limit - len(found))
            if len(found) == limit:
                break
        return found

    def search(self, query: str, *, domain: str | None, limit: int) -> list[Decision]:
        check_query(query)
        terms = statement_terms(query)
        places = (None,) if domain is None else (None, domain)
        tokens = [token for place in places for token in self._tokens(place, terms)]
        rows = self._tx.all("search_decisions", tokens=tokens, limit=limit) if tokens else []
        return [self._open(row, places, None) for row in rows]

    def history(self, root_id: UUID, *, after: int, limit: int) -> list[Decision]:
        return [_read(version) for version in self._chain.history(root_id, after, limit)]

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Reseal the next versions. Returns how many, and the last row, None at the end."""
        return self._chain.reseal(after, limit)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next decisions by root. Returns the last root, None at the end."""
        rows = self._tx.all("lock_decision_heads", after=after, limit=limit)
        for decision in self.active([UUID(bytes=root_id) for (root_id,) in rows]):
            root = decision.root_id.bytes
            self._index(root, decision, self._postings(root))
        return rows[-1][0] if len(rows) == limit else None

    def _postings(self, root: bytes) -> Set[int]:
        return {token for (token,) in self._tx.all("list_decision_postings", root_id=root)}

    def _index(self, root: bytes, content: DecisionContent, before: Set[int]) -> None:
        """Index a decision by the words of its statement. `before` are its current postings."""
        wanted = self._tokens(content.domain, statement_terms(content.statement))
        for query, tokens in (
            ("remove_decision_postings", before - wanted),
            ("add_decision_postings", wanted - before),
        ):
            self._tx.run_many(query, [{"token": token, "root_id": root} for token in tokens])

    def _list_strength(
        self,
        scope: Scope | None,
        domain: str | None,
        strength: Strength,
        after: DecisionPosition | None,
        limit: int,
    ) -> list[Decision]:
        number = strength_number(strength)
        at = to_micros(after.created_at) if after else _END_OF_TIME
        root = after.root_id.bytes if after else b""
        if domain is None and scope != "global":
            query = "list_decisions_of_strength" if scope is None else "list_decisions_in_domains"
            rows = self._tx.all(query, strength=number, created_at=at, root_id=root, limit=limit)
            return [self._open(row, None, strength) for row in rows]
        rows = self._tx.all(
            "list_decisions_of_domain",
            domain_token=domain_token(self._keys, domain),
            strength=number,
            created_at=at,
            root_id=root,
            limit=limit,
        )
        return [self._open(row, (domain,), strength) for row in rows]

    def _open(self, row: Row, domains: Iterable[str | None] | None, strength: Strength | None) -> Decision:
        """Decrypt a row and check its domain and strength (None: any).

        Heads and postings are not sealed: a row that was moved in them is damage.
        """
        found = _read(self._chain.open_row(row))
        if (domains is not None and found.domain not in domains) or strength not in (None, found.strength):
            raise StoreDamaged(
                f"decision {found.root_id} has a wrong domain or strength in the index; restore a backup"
            )
        return found

    def _tokens(self, domain: str | None, terms: Iterable[str]) -> set[int]:
        return set(self._keys.tokens("decisions.statement", domain or "", terms))


def domain_token(keys: OwnerKeys, domain: str | None) -> int:
    """The number under which the tables keep a domain; None is global."""
    return _GLOBAL if domain is None else keys.token("decisions.domain", domain) or 1


def strength_number(strength: Strength) -> int:
    """The number of a strength in the tables; the strongest has the smallest."""
    return STRENGTHS.index(strength) + 1


def _read(version: ChainVersion) -> Decision:
    return _decision(version, from_document(version.content, version.form))


def _decision(version: ChainVersion, content: DecisionContent) -> Decision:
    """Both parts are validated already."""
    return Decision(
        **vars(content),
        id=version.id,
        root_id=version.root_id,
        version=version.version,
        is_active=version.is_active,
        created_at=version.created_at,
    )
