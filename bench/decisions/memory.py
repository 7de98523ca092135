"""A memory with a domain to load and a decision to walk from, and as much around them as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from bench.decisions.filler import Filler
from gieok import Gieok, Settings
from gieok.memory.decisions.exchange import DecisionEntry
from gieok.memory.decisions.records import STRENGTHS, ProposedRelation, Strength
from gieok.testing.settings import settings_for

OWNER = "team"
DOMAIN = "wms"
_NAMESPACE = UUID("5f0d6c1e-64a1-4f5b-8a52-3b6c3f7a9d10")
_MANY: dict[Strength, int] = {"axis": 5, "lock": 15, "normal": 80}
_SUBJECTS = ("재고", "출고", "입고", "주문", "배송", "반품", "stock", "picking", "packing", "billing")


@dataclass(frozen=True)
class Crowd:
    """What stands around the domain that is measured."""

    active: int
    versions: int
    edges: int


@dataclass(frozen=True)
class Size:
    """How much is measured, how often, and beside what."""

    rounds: int
    times: int
    saves: int
    """Versions in a turn of a contestant: enough for a rate, since the first after a pause is slow."""
    reached: int
    """Decisions that the blast radius reaches, and how many relations join them."""
    edges_among_reached: int
    few: Crowd
    many: Crowd


SHORT = Size(2, 2, 16, 60, 300, Crowd(200, 1, 0), Crowd(400, 3, 1_000))
LONG = Size(15, 5, 208, 890, 9_000, Crowd(1_000, 1, 0), Crowd(100_000, 10, 1_000_000))


@dataclass(frozen=True)
class Memory:
    """A file that is ready to be measured."""

    settings: Settings
    crowd: Crowd
    origin: UUID
    """The decision whose blast radius is measured."""

    @property
    def file(self) -> Path:
        return Path(self.settings.database_url.removeprefix("sqlite:///"))


def settings_at(file: Path) -> Settings:
    """The root key may not lie in the folder of the data."""
    return settings_for(f"sqlite:///{file}", file.parent.parent / "root.key")


async def make(file: Path, size: Size, crowd: Crowd) -> Memory:
    """A memory whose domain was saved through Gieok, sealed and indexed, and the rest beside it by bare SQL.

    Versions are appended turn by turn, so that the domain lies scattered among the rest as it would in life.
    """
    memory = Memory(settings_at(file), crowd, origin=_root("origin"))
    domain, others = list(_domain()), list(_others())
    async with await Gieok.open(memory.settings) as gieok:
        exchange = gieok.user(OWNER).exchange
        await exchange.import_entries([*domain, *others])
        filler = Filler(file, OWNER, crowd.active - len(domain) - len(others))
        for version in range(1, crowd.versions + 1):
            if version > 1:
                await exchange.import_entries([_changed(entry, version) for entry in domain])
            filler.append(version)
        filler.join(memory.origin, size.reached, size.edges_among_reached, crowd.edges)
        filler.close()
    return memory


def _domain() -> Iterator[DecisionEntry]:
    """A hundred decisions of the domain, with a few relations among them."""
    for strength in STRENGTHS:
        for number in range(_MANY[strength]):
            relations = ()
            if number % 5 == 1:
                relations = (ProposedRelation(type="DEPENDS_ON", target=_root(f"{strength} 0")),)
            yield _entry(f"{strength} {number}", strength, DOMAIN, relations)


def _others() -> Iterator[DecisionEntry]:
    """Global decisions, which apply in the domain too, and the one whose blast radius is measured."""
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
