"""What only SQLite has: a file, other processes, a disk that fills up, reads on the thread that asks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import apsw
import pytest

from gieok.adapters.sql.driver.database import Limits, Tx
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.errors import NotFound, SchemaMismatch, StoreDamaged, StoreUnavailable
from tests.sql.raw import raw


def add(tx: Tx) -> int:
    return tx.run("add_owner", key_generation=1, created_at="2026-01-01")


def exists(tx: Tx) -> bool:
    return tx.one("get_owner") is not None


def in_another_process(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    return output.strip()


_WRITE_MANY = """
import asyncio, pathlib, sys
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
async def main():
    database = SqliteDatabase(pathlib.Path(sys.argv[1]))
    def add(tx):
        assert tx.one("get_owner") is None  # reads before it writes, as a store does
        tx.run("add_owner", key_generation=1, created_at="now")
    await asyncio.gather(*(database.write(f"{sys.argv[2]}-{number}", add) for number in range(150)))
    for number in range(150, 200):
        await database.write(f"{sys.argv[2]}-{number}", add)
    await database.close()
asyncio.run(main())
"""


def test_several_processes_create_and_write_one_file(tmp_path: Path) -> None:
    """Three processes that start together on a new file lose nothing of each other's work."""
    path = tmp_path / "gieok.db"
    for process in [in_another_process(_WRITE_MANY, path, name) for name in ("a", "b", "c")]:
        answer(process)
    connection = raw(path)
    assert connection.execute("SELECT count(*) FROM owners").fetchall() == [(600,)]
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


async def test_waiting_for_a_write_lock_times_out(tmp_path: Path) -> None:
    path = tmp_path / "gieok.db"
    database = SqliteDatabase(path, Limits(lock_seconds=0.1))
    other = raw(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another process holds the write lock"):
        await database.write("kim", add)
    with pytest.raises(StoreUnavailable, match="another process holds the write lock"):
        await database.check()
    other.execute("ROLLBACK")
    await database.check()
    assert await database.write("kim", add) == 1
    other.close()
    await database.close()


async def test_only_this_user_can_read_the_files(tmp_path: Path) -> None:
    path = tmp_path / "data" / "gieok.db"
    database = SqliteDatabase(path)
    await database.write("kim", add)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {"gieok.db": 0o600, "gieok.db-wal": 0o600, "gieok.db-shm": 0o600}
    await database.close()
    assert [file.name for file in path.parent.iterdir()] == ["gieok.db"]


@pytest.mark.parametrize(
    "content", [b"\x00", b"hello", os.urandom(8192), b"SQLite format 3", b"SQLite format 2\x00" + bytes(500)]
)
def test_a_file_that_is_no_database_is_refused_unchanged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"notes\.txt is not a SQLite database"):
        SqliteDatabase(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_refused_unchanged(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "other.db"
    other = raw(path)
    other.pragma("journal_mode", journal)
    other.execute("CREATE TABLE theirs (a TEXT); INSERT INTO theirs VALUES ('kept')")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    with pytest.raises(SchemaMismatch, match="of another program"):
        SqliteDatabase(path)
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
    assert after == before
    other.close()


async def _open_and_read(path: Path) -> None:
    """The damage may show already on opening, where the schema itself was hit."""
    database = SqliteDatabase(path)
    try:
        await database.read("owner-7", exists)
    finally:
        await database.close()


async def test_a_page_that_was_overwritten_is_reported_as_damage(tmp_path: Path) -> None:
    """Damage is told as damage, and no partial result comes back."""
    path = tmp_path / "gieok.db"
    database = SqliteDatabase(path)
    for number in range(300):
        await database.write(f"owner-{number}", add)
    await database.close()
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xa5" * (len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="restore the newest backup"):
        await _open_and_read(path)


async def test_the_check_detects_a_removed_file(tmp_path: Path) -> None:
    path = tmp_path / "gieok.db"
    database = SqliteDatabase(path)
    await database.check()
    path.unlink()
    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        await database.check()
    await database.close()


_FILL_THE_DISK = """
import asyncio, json, pathlib, resource, sys
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
async def main():
    database = SqliteDatabase(pathlib.Path(sys.argv[1]))
    def add(size):
        return lambda tx: tx.run("add_owner", key_generation=1, created_at="x" * size)
    await database.write("before", add(10))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    full = await asyncio.gather(
        *(database.write(f"full-{number}", add(50_000)) for number in range(8)), return_exceptions=True
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await database.write("after", add(50_000))
    names = [f"full-{number}" for number in range(8)]
    stored = [await database.read(name, lambda tx: tx.one("get_owner")) is not None for name in names]
    others = ("before", "after")
    ends = [await database.read(name, lambda tx: tx.one("get_owner")) is not None for name in others]
    await database.close()
    answers = [answer if answer == 1 else f"{type(answer).__name__}: {answer}" for answer in full]
    print(json.dumps([answers, stored, ends]))
asyncio.run(main())
"""


@pytest.mark.req("ENG-6")
def test_a_full_disk_fails_each_write_and_stores_nothing(tmp_path: Path) -> None:
    """Whoever was told "stored" is stored, whoever was told "failed" is not, and space brings it back."""
    answers, stored, ends = json.loads(answer(in_another_process(_FILL_THE_DISK, tmp_path / "gieok.db")))
    assert [each == 1 for each in answers] == stored
    assert not all(stored)
    failures = [each for each in answers if each != 1]
    assert all(each.startswith("StoreUnavailable: the disk of ") for each in failures), failures
    assert ends == [True, True]


_OPEN_AS_NOBODY = """
import os, pathlib, sys
from gieok.adapters.sql.driver.migrations import load_migrations
from gieok.adapters.sql.driver.queries import load_queries
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.errors import StoreUnavailable
load_migrations("sqlite"), load_queries("sqlite")
if os.geteuid() == 0:
    os.setuid(65534)
for name in sys.argv[1:]:
    try:
        SqliteDatabase(pathlib.Path(name))
    except StoreUnavailable as error:
        print(error)
"""


def test_the_error_for_a_read_only_folder_says_the_remedy() -> None:
    """A closed file, an open file in a closed folder, a new file, a new folder: each meets the same wall."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, mode in ((folder / "gieok.db", 0o444), (folder / "open.db", 0o666)):
            asyncio.run(SqliteDatabase(file).close())
            file.chmod(mode)
        folder.chmod(0o555)
        names = ("gieok.db", "open.db", "new.db", "deeper/gieok.db")
        paths = [folder / name for name in names]
        told = answer(in_another_process(_OPEN_AS_NOBODY, *paths)).splitlines()
        folder.chmod(0o700)
    assert len(told) == 4
    for path, line in zip(paths, told, strict=True):
        assert line.startswith(str(path))
        assert "give this user" in line


_OPEN_AND_CLOSE = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("SELECT * FROM meta").fetchall()
connection.close()
"""


async def test_opening_a_file_again_keeps_its_locks(tmp_path: Path) -> None:
    """Else another process would take the database for abandoned and remove its log when it closes."""
    path = tmp_path / "gieok.db"
    first = SqliteDatabase(path)
    await first.set_meta("key", "in the log")
    second = SqliteDatabase(path)
    try:
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", _OPEN_AND_CLOSE, str(path))
        assert await other.wait() == 0
        assert path.with_name("gieok.db-wal").exists()
    finally:
        await second.close()
        await first.close()


def thread_of(_tx: Tx) -> str:
    return threading.current_thread().name


async def test_a_read_runs_on_the_calling_thread_unless_it_is_heavy(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "gieok.db")
    here = threading.current_thread().name
    assert await database.read("ana", thread_of) == here
    assert (await database.read("ana", thread_of, heavy=True)).startswith("gieok-reader")
    await database.write("ana", add)
    assert await database.read("ana", exists)
    await database.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await database.read("ana", exists)


async def test_a_read_goes_to_a_reader_thread_while_another_thread_reads(tmp_path: Path) -> None:
    """Two threads do not share the connection: the second reads on a database thread."""
    database = SqliteDatabase(tmp_path / "gieok.db")

    def inside(_tx: Tx) -> str:
        return asyncio.run(database.read("ana", thread_of))

    def elsewhere(tx: Tx) -> str:
        found: list[str] = []
        other = threading.Thread(target=lambda: found.append(inside(tx)))
        other.start()
        other.join(30)
        return found[0]

    assert (await database.read("ana", elsewhere)).startswith("gieok-reader")
    assert await database.read("ana", thread_of) == threading.current_thread().name
    await database.close()


async def test_a_read_that_fails_ends_its_transaction(tmp_path: Path) -> None:
    """Its transaction and its place are given back, so that the next one reads what is there by then."""
    database = SqliteDatabase(tmp_path / "gieok.db")

    def fail(_tx: Tx) -> None:
        raise NotFound("no such thing")

    with pytest.raises(NotFound):
        await database.read("ana", fail)
    await database.write("ana", add)
    assert await database.read("ana", exists)
    assert await database.read("ana", thread_of) == threading.current_thread().name
    await database.close()


async def test_a_read_of_a_locked_file_waits_on_a_reader_thread(tmp_path: Path) -> None:
    """Nobody else is kept waiting meanwhile."""
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.write("ana", add)
    asked: list[str] = []

    def look(tx: Tx) -> bool:
        asked.append(threading.current_thread().name)
        if len(asked) == 1:
            raise apsw.BusyError("held")
        return exists(tx)

    assert await database.read("ana", look)
    assert [name.startswith("gieok-reader") for name in asked] == [False, True]
    await database.close()


async def test_closing_waits_for_a_read_on_another_thread(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "gieok.db")
    await database.write("ana", add)
    reading, closing = threading.Event(), threading.Event()

    def slow(tx: Tx) -> bool:
        reading.set()
        closing.wait(0.2)  # closing must not end the connection that this still needs
        return exists(tx)

    found: list[bool] = []
    other = threading.Thread(target=lambda: found.append(asyncio.run(database.read("ana", slow))))
    other.start()
    reading.wait(30)
    await database.close()
    closing.set()
    other.join(30)
    assert found == [True]
    await database.close()
