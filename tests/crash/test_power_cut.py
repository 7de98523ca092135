"""A power cut or a full disk while SQLite writes: everything acknowledged survives."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gieok.adapters.sql.driver import sqlite_file
from gieok.adapters.sql.keystores.sqlite import SqliteKeyStore
from gieok.app import Gieok
from gieok.errors import StepFailed, StoreUnavailable
from gieok.testing.models import CountingModel
from tests.crash.checker import violations
from tests.crash.place import Place, Saved, Story
from tests.crash.power import Disk, watched_disk
from tests.crash.test_kill import REPEATS, SEED
from tests.crash.writer import new_word, take_turn
from tests.soak import count

CUTS = 12
"""Power cuts while turns are taken."""
CUTS_WHILE_OPENING = 4
"""Power cuts while the database is created: most of the operations, but nothing is acknowledged yet."""

CARELESS_SESSIONS = 5


@dataclass
class Session:
    """Turns on a disk with power cuts at some of its operations."""

    folder: Path
    chance: random.Random
    cut_at: set[int]
    saved: list[Saved] = field(default_factory=list[Saved])
    operations: int = 0
    opened_after: int = 0
    """Operations until the database was open."""
    found: list[tuple[dict[Path, bytes], list[Saved]]] = field(
        default_factory=list[tuple[dict[Path, bytes], list[Saved]]]
    )
    """After each cut: the files, and what had been acknowledged."""
    disk: Disk | None = None

    def watch(self) -> None:
        self.operations += 1
        if self.operations in self.cut_at and self.disk:
            self.found.append((self.disk.after_power_cut(self.chance), list(self.saved)))

    async def run(self) -> None:
        with watched_disk(self.watch) as self.disk:
            async with await Gieok.open(place_in(self.folder).settings, model=CountingModel()) as gieok:
                self.opened_after = self.operations
                await asyncio.gather(*(self.turns(gieok, f"owner-{task % 3}", task) for task in range(6)))

    async def turns(self, gieok: Gieok, owner: str, task: int) -> None:
        for _ in range(8):
            word = new_word(self.chance)
            self.saved.append(await take_turn(gieok.user(owner), owner, f"session-{task}", word))


def place_in(folder: Path) -> Place:
    return Place(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key", None)


async def cut_power(tmp_path: Path, seed: int) -> Sequence[list[str]]:
    """Violations after each of the cuts."""
    measured = Session(tmp_path / "measured", random.Random(seed), set())
    await measured.run()
    chance = random.Random(seed)
    while_opening = chance.sample(range(1, measured.opened_after), CUTS_WHILE_OPENING)
    in_turns = chance.sample(range(measured.opened_after, measured.operations), CUTS)
    session = Session(tmp_path / "cut", chance, {*while_opening, *in_turns})
    await session.run()
    problems: list[list[str]] = []
    for number, (files, saved) in enumerate(session.found):
        folder = tmp_path / str(number)
        for path, content in files.items():
            write_file(folder / path.relative_to(session.folder), content)
        key_file = place_in(session.folder).key_file
        write_file(folder / key_file.relative_to(session.folder), key_file.read_bytes())
        problems.append(await violations(place_in(folder), Story(saved)))
    return problems


def write_file(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(0o600)


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("repeat", range(REPEATS))
async def test_acknowledged_turns_survive_a_power_cut(tmp_path: Path, repeat: int) -> None:
    problems = await cut_power(tmp_path, SEED + repeat)
    assert len(problems) > CUTS / 2
    assert [each for each in problems if each] == [], f"GIEOK_CRASH_SEED={SEED + repeat}"
    count("power losses", len(problems), "sqlite")


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("repeat", range(REPEATS))
async def test_turns_on_a_full_disk_fail_whole_and_work_again_later(tmp_path: Path, repeat: int) -> None:
    """The disk is full at random times. Only turns that were answered are stored, and all of them are."""
    chance, place, story, failed = random.Random(SEED + repeat), place_in(tmp_path), Story(), 0
    with watched_disk(lambda: None) as disk:
        async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
            for turn in range(40):
                owner = f"owner-{turn % 3}"
                disk.is_full = turn % 8 in (5, 6) and turn > 3
                try:
                    story.saved.append(
                        await take_turn(gieok.user(owner), owner, f"session-{turn % 3}", new_word(chance))
                    )
                except (StoreUnavailable, StepFailed):
                    failed += 1
            disk.is_full = False
    assert (failed, len(story.saved)) == (10, 30)
    assert await violations(place, story) == [], f"GIEOK_CRASH_SEED={SEED + repeat}"
    count("turns on a full disk", failed, "sqlite")


@pytest.mark.req("ENG-6")
def test_a_keystore_opens_after_a_power_cut_while_it_was_created(tmp_path: Path) -> None:
    """At each operation of its creation, with ten different parts of the unsynced data."""
    chance, cuts = random.Random(SEED), list[dict[Path, bytes]]()
    disks: list[Disk] = []

    def cut() -> None:
        cuts.extend(disks[0].after_power_cut(chance) for _ in range(10))

    with watched_disk(cut) as disk:
        disks.append(disk)
        SqliteKeyStore(tmp_path / "created" / "gieok.db.keys").close()
    assert len(cuts) >= 100
    for number, files in enumerate(cuts):
        for path, content in files.items():
            write_file(tmp_path / str(number) / path.name, content)
        SqliteKeyStore(tmp_path / str(number) / "gieok.db.keys").close()


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize("synchronous", ["normal", "off"])
async def test_a_commit_without_a_sync_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    """Checks the test itself: with less than `synchronous=FULL` it finds lost turns, now and then not in the
    first session."""
    connect = sqlite_file.connect

    def connect_carelessly(
        path: Path, lock_seconds: float, *, read_only: bool = False
    ) -> sqlite_file.Connection:
        connection = connect(path, lock_seconds, read_only=read_only)
        connection.pragma("synchronous", synchronous)
        return connection

    monkeypatch.setattr(sqlite_file, "connect", connect_carelessly)
    for number in range(CARELESS_SESSIONS):
        if any(await cut_power(tmp_path / f"session-{number}", SEED + number)):
            return
    pytest.fail(f"nothing was lost in {CARELESS_SESSIONS} sessions, GIEOK_CRASH_SEED={SEED}")
