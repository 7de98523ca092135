"""Decisions in SQL: version chains, and a table of heads that lists the active versions by domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np

from gieok.adapters.sql.driver.database import Row, Tx, to_micros
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.adapters.sql.stores.seals import SealPage
from gieok.adapters.sql.stores.search import (
    UNCACHED_INDEXES,
    IndexCache,
    IndexEntry,
    change_scope,
    scope_revision,
)
from gieok.errors import InputRefused, SealBroken, StoreDamaged
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
from gieok.ranking import pack_terms
from gieok.vault import OwnerKeys

KIND = "decision"
_GLOBAL = 0
_END_OF_TIME = 2**62


class SqlDecisionStore:
    """Decisions of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys, indexes: IndexCache = UNCACHED_INDEXES) -> None:
        self._tx = tx
        self._keys = keys
        self._indexes = indexes
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
        self._save_head(root_id.bytes, added.version, content, to_micros(created_at))
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
        domains = (None,) if domain is None else (None, domain)
        found = [each for place in domains for each in self._matched(place, terms)]
        found.sort(key=lambda each: (-each.words, -each.created_at, each.root))
        roots = [each.root for each in found[:limit]]
        rows = self._tx.all("list_decision_heads", root_ids=roots) if roots else []
        if len(rows) != len(roots):
            raise StoreDamaged("the index refers to decisions that do not exist; restore a backup")
        opened = {row[0]: self._open(row, domains, None) for row in rows}
        return [opened[root] for root in roots]

    def history(self, root_id: UUID, *, after: int, limit: int) -> list[Decision]:
        return [_read(version) for version in self._chain.history(root_id, after, limit)]

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        return self._chain.seals(after, limit)

    def reindex(self, after: bytes, limit: int) -> bytes | None:
        """Re-index the next decisions by root. Returns the last root, None at the end."""
        rows = self._tx.all("lock_decision_chains", after=after, limit=limit)
        for each in self.active([UUID(bytes=root_id) for (root_id,) in rows]):
            self._save_head(each.root_id.bytes, each.version, each, to_micros(each.created_at))
        return rows[-1][0] if len(rows) == limit else None

    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]:
        """Compare the heads of the next decisions by root, as far as these open. Returns the last root, None
        at the end."""
        rows = self._tx.all("list_decision_entries", after=after, limit=limit)
        entries: list[IndexEntry] = []
        for version, token, strength, at, terms, *row in rows:
            with suppress(SealBroken, StoreDamaged):
                found = _read(self._chain.open_row(tuple(row)))
                stored = (version, token, strength, at, None if terms is None else bytes(terms))
                entries.append(IndexEntry(str(found.root_id), after, row[0], stored == self._head(found)))
            after = row[0]
        return entries, after if len(rows) == limit else None

    def _head(self, decision: Decision) -> tuple[int, int, int, int, bytes]:
        """The columns of its head: version, domain, strength, time, terms."""
        token, at = domain_token(self._keys, decision.domain), to_micros(decision.created_at)
        terms = self._packed(decision.version, decision)
        return decision.version, token, strength_number(decision.strength), at, terms

    def _save_head(self, root: bytes, version: int, content: DecisionContent, created_at: int) -> None:
        token = domain_token(self._keys, content.domain)
        before = self._tx.one("get_decision_domain", root_id=root)
        is_new = before is None or before[0] != token
        if before is not None and is_new:
            change_scope(self._tx, "decisions", str(before[0]), added=-1)
        self._tx.run(
            "save_decision_head",
            root_id=root,
            version=version,
            domain_token=token,
            strength=strength_number(content.strength),
            created_at=created_at,
            terms=self._packed(version, content),
            changed=self._change(content.domain, added=int(is_new)),
        )

    def _change(self, domain: str | None, added: int = 0) -> int:
        token = domain_token(self._keys, domain or None)
        return change_scope(self._tx, "decisions", str(token), added=added)

    def _packed(self, version: int, content: DecisionContent) -> bytes:
        tokens = self._tokens(content.domain, statement_terms(content.statement))
        return pack_terms(version, dict.fromkeys(tokens, 1), own_words=len(tokens))

    def _matched(self, domain: str | None, terms: Iterable[str]) -> list[_Matched]:
        """The decisions of a domain that share words with the query."""
        token = domain_token(self._keys, domain)
        revision = scope_revision(self._tx, "decisions", str(token))
        if revision is None:
            return []
        index = self._indexes.get(
            ("decisions", token),
            revision,
            lambda after: self._tx.all("list_decision_index", domain_token=token, after=after),
        )
        counts = np.zeros(len(index), np.int64)
        for match in index.find(list(self._tokens(domain, terms))).values():
            counts[match.rows] += 1
        return [
            _Matched(int(counts[row]), int(index.columns.at[row]), index.columns.ids[row].tobytes())
            for row in np.flatnonzero(counts)
        ]

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

        Heads are not sealed: a row that was moved in them is damage.
        """
        found = _read(self._chain.open_row(row))
        if (domains is not None and found.domain not in domains) or strength not in (None, found.strength):
            raise StoreDamaged(
                f"decision {found.root_id} has a wrong domain or strength in the index; restore a backup"
            )
        return found

    def _tokens(self, domain: str | None, terms: Iterable[str]) -> set[int]:
        return set(self._keys.tokens("decisions.statement", domain or "", terms))


class _Matched(NamedTuple):
    """A decision that shares words with a query."""

    words: int
    """How many."""
    created_at: int
    root: bytes


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
