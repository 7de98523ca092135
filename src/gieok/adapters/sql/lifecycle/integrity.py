"""`gieok check`: compare what is stored twice, and rebuild what can be rebuilt.

`CHECKS` is the table of checks. To check another table, add a row: sealed values need their name in
`SqlView.sealed`, index columns need the methods `index_entries` and `reindex` of their store, and a count
needs two queries in `integrity.sql`. Checks read page by page, so the service may run meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, Protocol

from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.lifecycle.owners import owners_after
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.search import IndexEntry
from gieok.errors import OwnerErased, SealBroken, StoreDamaged
from gieok.vault import Vault

PAGE = 500
MOST_FOUND = 10_000
"""How many damaged rows of an owner one check lists."""

Kind = Literal["keys", "seal", "chain", "index", "count", "audit"]
Report = Callable[[int, int], None]
"""Called with the number of checks that are done, and the number of all of them."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A row that is damaged. `row` has its ids, never its content."""

    owner: str
    kind: Kind
    table: str
    row: str
    is_repairable: bool
    is_repaired: bool = False


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """The result of a check."""

    owners: int
    rows: int
    """How many sealed rows were opened."""
    damage: tuple[Damage, ...]
    skipped_index: bool = False
    """Whether search terms were not compared, because a worker is rebuilding them for another analyzer."""

    @property
    def is_ok(self) -> bool:
        """Whether no damage is left."""
        return all(each.is_repaired for each in self.damage)


class _Found(NamedTuple):
    row: str
    before: bytes = b""
    """The position before the row, where a repair starts."""
    position: bytes = b""
    """The position of the row."""


class _Page(NamedTuple):
    found: Sequence[_Found]
    after: bytes | None = None
    rows: int = 0


class _Find(Protocol):
    def __call__(self, view: SqlView, /, after: bytes) -> _Page: ...


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of damage in one table: how it is found and, if it can be, how it is repaired."""

    kind: Kind
    table: str
    find: _Find
    repair: Callable[[SqlView, _Found], None] | None = None
    repairs_all: bool = False
    """Whether one repair is enough for all rows of the owner."""
    uses_analyzer: bool = False


class _Indexed(Protocol):
    def index_entries(self, after: bytes, limit: int) -> tuple[list[IndexEntry], bytes | None]: ...
    def reindex(self, after: bytes, limit: int) -> bytes | None: ...


_Entries = Callable[[SqlView, bytes, int], tuple[list[IndexEntry], bytes | None]]
_Rebuild = Callable[[SqlView, bytes, int], bytes | None]


def _seals(table: str) -> Check:
    def find(view: SqlView, after: bytes) -> _Page:
        page = view.sealed[table].seals(after, PAGE)
        broken = view.integrity.broken_seals(page.rows)
        found = [_Found(f"{each.column} of {each.row} version {each.version}", after) for each in broken]
        return _Page(found, page.after, len(page.rows))

    return Check("seal", table, find, _embed_again if table == "vectors" else None)


def _embed_again(view: SqlView, found: _Found) -> None:
    """Remove the vectors of a page that do not open. A worker embeds what has no vector."""
    page = view.sealed["vectors"].seals(found.before, PAGE)
    view.integrity.remove_broken(page.rows, "remove_vector")
    view.integrity.run("repair_vector_progress")


def _index(table: str, entries: _Entries, rebuild: _Rebuild, *, uses_analyzer: bool = False) -> Check:
    def find(view: SqlView, after: bytes) -> _Page:
        compared, last = entries(view, after, PAGE)
        wrong = [each for each in compared if not each.is_right]
        return _Page([_Found(each.row, each.before, each.position) for each in wrong], last)

    def repair(view: SqlView, found: _Found) -> None:
        after: bytes | None = found.before
        for _ in range(PAGE):  # rows that were added before this one since it was found are written too
            after = rebuild(view, after, 1)
            if after is None or after == found.position:
                break

    return Check("index", table, find, repair, uses_analyzer=uses_analyzer)


def _store(table: str, store: Callable[[SqlView], _Indexed], *, uses_analyzer: bool = False) -> Check:
    return _index(
        table,
        lambda view, after, limit: store(view).index_entries(after, limit),
        lambda view, after, limit: store(view).reindex(after, limit),
        uses_analyzer=uses_analyzer,
    )


def _whole(
    kind: Kind, table: str, find: Callable[[SqlView], Sequence[str]], repair: Callable[[SqlView], None]
) -> Check:
    """A check of all rows of an owner at once."""
    return Check(
        kind,
        table,
        lambda view, after: _Page([_Found(row) for row in find(view)]),
        lambda view, _found: repair(view),
        repairs_all=True,
    )


def _query(kind: Kind, table: str, find: str, *repairs: str) -> Check:
    return _whole(
        kind,
        table,
        lambda view: view.integrity.find(find, MOST_FOUND),
        lambda view: view.integrity.run(*repairs),
    )


def _audit() -> Check:
    def find(view: SqlView, after: bytes) -> _Page:
        try:
            view.audit.verify()
        except StoreDamaged:
            return _Page([_Found("chain")])
        return _Page([])

    return Check("audit", "audit_entries", find)


SEALED = (
    *("turns", "messages", "personas", "facts", "profile", "decisions", "policy", "evidence", "anchors"),
    *("documents", "document_vectors", "walks", "remembered", "memories", "memory_versions", "moments"),
    *("vectors", "requests", "webhooks"),
)
"""The names in `SqlView.sealed`. A test compares them."""
CHECKS: tuple[Check, ...] = (
    *map(_seals, SEALED),
    # Chains come first, because index columns are made of the active version, and counts last.
    _query("chain", "chain_heads", "find_chains", "repair_chains"),
    _query("index", "persona_heads", "find_persona_heads", "repair_persona_heads"),
    _index(
        "fact_heads",
        lambda view, after, limit: view.facts.head_entries(after, limit),
        lambda view, after, limit: view.facts.rebuild_heads(after, limit),
    ),
    _store("fact_heads", lambda view: view.facts, uses_analyzer=True),
    _store("messages", lambda view: view.messages, uses_analyzer=True),
    _store("decision_heads", lambda view: view.decisions, uses_analyzer=True),
    _store("document_heads", lambda view: view.documents, uses_analyzer=True),
    _store("turn_memories", lambda view: view.turns, uses_analyzer=True),
    _store("memories", lambda view: view.companion, uses_analyzer=True),
    _store("evidence", lambda view: view.evidence),
    _store("anchor_targets", lambda view: view.anchors),
    _whole(
        "index",
        "decision_impacts",
        lambda view: view.relations.wrong_impacts(),
        lambda view: view.relations.rebuild_impacts(),
    ),
    _query("index", "memory_vectors", "find_vectors", "repair_vectors", "repair_vector_progress"),
    _query("index", "document_vectors", "find_document_vectors", "repair_document_vectors"),
    _query("count", "search_scopes", "find_scopes", "repair_scopes"),
    _query("count", "persona_memory_configs", "find_memory_counts", "repair_memory_counts"),
    _whole(
        "count",
        "persona_memory_configs",
        lambda view: view.integrity.wrong_entry_counts(),
        lambda view: view.integrity.repair_entry_counts(),
    ),
    _query("count", "sessions", "find_message_counts", "repair_message_counts"),
    _audit(),
)


async def check_integrity(
    database: Database,
    vault: Vault,
    *,
    owner: str | None = None,
    repair: bool = False,
    is_analyzer_current: bool = True,
    report: Report = lambda _done, _all: None,
) -> IntegrityReport:
    """Check the rows of one owner, or of all owners. Repairs take one short transaction per row.

    A row that does not open, a missing version or message and a broken audit trail cannot be rebuilt.
    """
    owners = [owner] if owner is not None else await _all_owners(database)
    checks = [check for check in CHECKS if is_analyzer_current or not check.uses_analyzer]
    rows, damage = 0, list[Damage]()
    for number, each in enumerate(owners):
        scope = OwnerScope(database, vault, each)
        try:
            if not await _has_keys(scope):
                damage.append(Damage(each, "keys", "keystore", each, is_repairable=False))
                continue
            for done, check in enumerate(checks, start=1):
                found, count = await _find(scope, check)
                rows += count
                damage += await _mend(scope, check, found, repair=repair)
                report(number * len(checks) + done, len(owners) * len(checks))
        except OwnerErased:
            continue  # since the list was read
    return IntegrityReport(len(owners), rows, tuple(damage), skipped_index=not is_analyzer_current)


async def _all_owners(database: Database) -> list[str]:
    owners: list[str] = []
    while page := await database.system_read(owners_after(owners[-1] if owners else "")):
        owners += [owner for owner, _ in page]
    return owners


async def _has_keys(scope: OwnerScope) -> bool:
    try:
        await scope.read(lambda _view: None)
    except StoreDamaged:
        return False
    return True


async def _find(scope: OwnerScope, check: Check) -> tuple[list[_Found], int]:
    """The damaged rows, and how many sealed rows were opened."""
    found, rows, after = list[_Found](), 0, b""
    while True:
        page = await scope.read(partial(check.find, after=after), heavy=True)
        found += page.found
        rows += page.rows
        if page.after is None or len(found) >= MOST_FOUND:
            return found, rows
        after = page.after


async def _mend(scope: OwnerScope, check: Check, found: list[_Found], *, repair: bool) -> list[Damage]:
    """The damage of a check. It is repaired first if it can be and `repair` is true."""
    left = {each.row for each in found}
    if repair and found and check.repair is not None:
        for each in found[:1] if check.repairs_all else found:
            with suppress(SealBroken, StoreDamaged):  # what it is rebuilt from is damaged too
                await scope.write(_locked(check.repair, each))
        left = {each.row for each in (await _find(scope, check))[0]}
    is_repairable = check.repair is not None
    return [
        Damage(scope.owner, check.kind, check.table, each.row, is_repairable, each.row not in left)
        for each in found
    ]


def _locked(repair: Callable[[SqlView, _Found], None], found: _Found) -> Callable[[SqlView], None]:
    def run(view: SqlView) -> None:
        view.integrity.lock()
        repair(view, found)

    return run
