"""A simulated disk that records what was synced, so that a test can simulate a power cut.

SIGKILL does not affect the cache of the operating system; a power cut does. Synced writes survive it, and of
the others a random part, in sectors.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
_BASE = apsw.vfs_names()[0]


@dataclass
class _File:
    synced: bytearray | None = None
    """None until the first sync: the file itself may be lost."""
    unsynced: list[tuple[int, bytes] | int] = field(default_factory=list[tuple[int, bytes] | int])
    """Writes as offset and bytes, truncations as the new size."""

    def surviving(self, chance: random.Random) -> bytes | None:
        """The content after a power cut; None if the file is lost."""
        if self.synced is None and chance.random() < 0.5:
            return None
        content = bytearray(self.synced or b"")
        for change in self.unsynced:
            for part in _sectors(change):
                if chance.random() < 0.5:
                    _apply(content, part)
        return bytes(content)

    def sync(self) -> None:
        content = self.synced or bytearray()
        for change in self.unsynced:
            _apply(content, change)
        self.synced = content
        self.unsynced.clear()


class Disk:
    """Records every file operation of SQLite, and calls `watch` before each of them."""

    def __init__(self, watch: Callable[[], None]) -> None:
        self._watch = watch
        self._lock = threading.RLock()
        self._files: dict[Path, _File] = {}
        self.is_full = False
        """While it is full, every write fails."""

    @contextmanager
    def operation(self, path: str) -> Generator[_File]:
        """One operation at a time."""
        with self._lock:
            self._watch()
            yield self._files.setdefault(Path(path), _File())

    def forget(self, path: str) -> None:
        with self._lock:
            self._files.pop(Path(path), None)

    def after_power_cut(self, chance: random.Random) -> dict[Path, bytes]:
        """The files after a power cut."""
        with self._lock:
            survivors = {path: file.surviving(chance) for path, file in self._files.items()}
        return {path: content for path, content in survivors.items() if content is not None}


class _WatchedFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], disk: Disk) -> None:
        super().__init__(_BASE, name, flags)
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._disk = disk

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        with self._disk.operation(self._path) as file:
            if self._disk.is_full:
                raise apsw.FullError("no space left on device")
            super().xWrite(data, offset)
            file.unsynced.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        with self._disk.operation(self._path) as file:
            super().xTruncate(newsize)
            file.unsynced.append(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        with self._disk.operation(self._path) as file:
            super().xSync(flags)
            file.sync()


class _WatchedFiles(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        super().__init__("watched", _BASE, makedefault=True)
        self._disk = disk

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _WatchedFile(name, flags, self._disk)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        with self._disk.operation(filename):
            super().xDelete(filename, syncdir)
            self._disk.forget(filename)


@contextmanager
def watched_disk(watch: Callable[[], None]) -> Generator[Disk]:
    """Every SQLite file that is opened inside this context is on this disk."""
    disk = Disk(watch)
    files = _WatchedFiles(disk)
    try:
        yield disk
    finally:
        files.unregister()


def _sectors(change: tuple[int, bytes] | int) -> list[tuple[int, bytes] | int]:
    if isinstance(change, int):
        return [change]
    offset, data = change
    return [(offset + start, data[start : start + SECTOR]) for start in range(0, len(data), SECTOR)]


def _apply(content: bytearray, change: tuple[int, bytes] | int) -> None:
    if isinstance(change, int):
        del content[change:]
        return
    offset, data = change
    content.extend(bytes(max(0, offset + len(data) - len(content))))
    content[offset : offset + len(data)] = data
