"""A sample database: one domain to load, one decision with a blast radius, and filler decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from uuid import UUID, uuid5

from bench.terms import random_terms
from gieok import Gieok, Settings
from gieok.adapters.sql.driver import sqlite_file
from gieok.memory.decisions.exchange import DecisionEntry
from gieok.memory.decisions.records import STRENGTHS, ProposedRelation, Strength
from gieok.testing.settings import settings_for

OWNER = "team"
DOMAIN = "wms"
_NAMESPACE = UUID("5f0d6c1e-64a1-4f5b-8a52-3b6c3f7a9d10")
_MANY: dict[Strength, int] = {"axis": 5, "lock": 15, "normal": 80}
_SUBJECTS = ("재고", "출고", "입고", "주문", "배송", "반품", "stock", "picking", "packing", "billing")
_DOMAINS = 500
_WORDS = 8
_START_MICROSECONDS = 1_767_600_000_000_000
_DEPENDS_ON = 1

_ADD_VERSION = """
INSERT INTO chain_versions (owner, kind, root_id, version, id, form, content, created_at)
VALUES (?, 'decision', ?, ?, randomblob(16), 1, randomblob(420), ?)
"""
_MOVE_CHAIN = """
INSERT OR REPLACE INTO chain_heads (owner, kind, root_id, latest, active) VALUES (?, 'decision', ?, ?, ?)
"""
_MOVE_HEAD = """
INSERT OR REPLACE INTO decision_heads
    (owner, root_id, version, domain_token, strength, created_at, terms, changed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_MOVE_SCOPE = """
INSERT OR REPLACE INTO search_scopes (owner, kind, scope, revision, removed, row_count)
VALUES (?, 'decisions', ?, ?, 0, ?)
"""
_ADD_RELATION = """
INSERT OR IGNORE INTO decision_relations (owner, id, source, type, target) VALUES (?, randomblob(16), ?, ?, ?)
"""
_ADD_IMPACT = """
INSERT OR IGNORE INTO decision_impacts (owner, origin, affected, type, from_source) VALUES (?, ?, ?, ?, 0)
"""


@dataclass(frozen=True)
class Filling:
    """The total number of active decisions, versions of each, and unrelated edges."""

    active: int
    versions: int
    edges: int


@dataclass(frozen=True)
class Size:
    """The sizes of a run."""

    rounds: int
    times: int
    saves: int
    """Versions per round and case. Many, because the first save after a pause is slow."""
    reached: int
    """Decisions in the blast radius."""
    edges_among_reached: int
    """Relations between the decisions in the blast radius."""
    few: Filling
    many: Filling


SHORT = Size(2, 2, 16, 60, 300, Filling(200, 1, 0), Filling(400, 3, 1_000))
LONG = Size(15, 5, 208, 890, 9_000, Filling(1_000, 1, 0), Filling(100_000, 10, 1_000_000))


@dataclass(frozen=True)
class Sample:
    """A database file to measure."""

    settings: Settings
    filling: Filling
    origin: UUID
    """The decision whose blast radius is measured."""

    @property
    def file(self) -> Path:
        return Path(self.settings.database_url.removeprefix("sqlite:///"))


def settings_at(file: Path) -> Settings:
    """Settings for this file. The root key must be outside the folder of the data."""
    return settings_for(f"sqlite:///{file}", file.parent.parent / "root.key")


async def create_sample(file: Path, size: Size, filling: Filling) -> Sample:
    """Create a database. Gieok saves the measured decisions; the filler is written with SQL.

    All decisions get version 1, then all get version 2, and so on, so that the rows of the domain are spread
    over the file as in a real database.
    """
    sample = Sample(settings_at(file), filling, origin=_root("origin"))
    domain, others = list(_domain()), list(_others())
    async with await Gieok.open(sample.settings) as gieok:
        exchange = gieok.user(OWNER).exchange
        await exchange.import_entries([*domain, *others])
        filler = Filler(file, OWNER, filling.active - len(domain) - len(others))
        for version in range(1, filling.versions + 1):
            if version > 1:
                await exchange.import_entries([_changed(entry, version) for entry in domain])
            filler.append(version)
        filler.add_relations(sample.origin, size.reached, size.edges_among_reached, filling.edges)
        filler.close()
    return sample


def _domain() -> Iterator[DecisionEntry]:
    """The 100 decisions of the measured domain, with a few relations between them."""
    for strength in STRENGTHS:
        for number in range(_MANY[strength]):
            relations = ()
            if number % 5 == 1:
                relations = (ProposedRelation(type="DEPENDS_ON", target=_root(f"{strength} 0")),)
            yield _entry(f"{strength} {number}", strength, DOMAIN, relations)


def _others() -> Iterator[DecisionEntry]:
    """Global decisions, and the decision whose blast radius is measured."""
    for strength in STRENGTHS:
        for number in range(3):
            yield _entry(f"global {strength} {number}", strength, None)
    yield _entry("origin", "normal", "graph")


def _entry(
    name: str, strength: Strength, domain: str | None, relations: tuple[ProposedRelation, ...] = ()
) -> DecisionEntry:
    subject = _SUBJECTS[len(name) % len(_SUBJECTS)]
    return DecisionEntry(
        root_id=_root(name),
        statement=f"{subject}는 한 곳에서만 바꾼다: {name}",
        rationale=f"{subject} changed in two places drifts apart. " * 4,
        strength=strength,
        scope="domain" if domain else "global",
        domain=domain,
        relations=relations,
    )


def _changed(entry: DecisionEntry, version: int) -> DecisionEntry:
    return entry.model_copy(update={"statement": f"{entry.statement} ({version})"})


def _root(name: str) -> UUID:
    return uuid5(_NAMESPACE, name)


class Filler:
    """Adds decisions of one owner in other domains, version by version, and relations between them."""

    def __init__(self, file: Path, owner: str, count: int) -> None:
        self._random = Random(7)
        self._owner = owner
        self._roots = sorted(self._random.randbytes(16) for _ in range(count))
        self._connection = sqlite_file.connect(file, lock_seconds=30.0)
        self._connection.pragma("synchronous", "off")
        self._connection.pragma("foreign_keys", 0)

    def append(self, version: int) -> None:
        """Append the next version of every decision, in key order, which keeps a million inserts fast."""
        owner, at = self._owner, _START_MICROSECONDS + version
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(_ADD_VERSION, ((owner, root, version, at) for root in self._roots))
        self._connection.executemany(_MOVE_CHAIN, ((owner, root, version, version) for root in self._roots))
        self._connection.executemany(_MOVE_HEAD, self._heads(version, at))
        domains = Counter(2 + number % _DOMAINS for number in range(len(self._roots)))
        self._connection.executemany(
            _MOVE_SCOPE, ((owner, str(domain), version, count) for domain, count in domains.items())
        )
        self._connection.execute("COMMIT")

    def add_relations(self, origin: UUID, reached: int, edges: int, other_edges: int) -> None:
        """Add relations so that a change of the origin reaches exactly `reached` decisions.

        The other decisions get `other_edges` relations among themselves.
        """
        shuffled = self._random.sample(self._roots, len(self._roots))
        near, others = shuffled[:reached], shuffled[reached:]
        self._connection.execute("BEGIN IMMEDIATE")
        self._relate(sorted([*self._reaching(origin.bytes, near, edges), *self._pairs(others, other_edges)]))
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Update the statistics of the query planner, as a running service does, and close the file."""
        self._connection.execute("ANALYZE")
        self._connection.pragma("wal_checkpoint", "TRUNCATE")
        self._connection.close()

    def _heads(self, version: int, at: int) -> Iterator[tuple[str, bytes, int, int, int, int, bytes, int]]:
        packed = random_terms(len(self._roots), [1] * _WORDS, version=version, words=_WORDS)
        for number, (root, terms) in enumerate(zip(self._roots, packed, strict=True)):
            yield self._owner, root, version, 2 + number % _DOMAINS, 1 + number % 3, at, terms, version

    def _reaching(self, origin: bytes, near: list[bytes], edges: int) -> Iterator[tuple[bytes, bytes]]:
        """A tree, so that every decision is reached, and further random relations with cycles."""
        roots = [origin, *near]
        for number, affected in enumerate(near):
            yield roots[number // 3], affected
        yield from self._pairs(roots, edges - len(near))

    def _pairs(self, roots: list[bytes], count: int) -> Iterator[tuple[bytes, bytes]]:
        for _ in range(count):
            one, other = self._random.choice(roots), self._random.choice(roots)
            if one != other:
                yield one, other

    def _relate(self, pairs: list[tuple[bytes, bytes]]) -> None:
        owner = self._owner
        self._connection.executemany(
            _ADD_IMPACT, ((owner, origin, affected, _DEPENDS_ON) for origin, affected in pairs)
        )
        self._connection.executemany(
            _ADD_RELATION, ((owner, affected, _DEPENDS_ON, origin) for origin, affected in pairs)
        )
