"""Running the peers, one process each, and measuring them: in turns of short rounds, on the same texts."""

from __future__ import annotations

import asyncio
import json
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Self

from bench.peers.environments import ROOT, Entrant
from bench.peers.peer import Item
from bench.peers.questions import QuestionSet, Ranked
from bench.peers.texts import memories, queries
from bench.peers.vectors import HASHED
from bench.timing import TimedRun, Timings, interleaved

LIMIT = 5
LARGE, SMALL, SINGLE = "large", "small", "single"
"""Owners: of the memories added in batches, of a hundred memories, of those added one by one."""
_LONGEST_LINE = 2**26
_STARTED = monotonic()


def progress(text: str) -> None:
    """Say what begins, and how long the run has taken."""
    print(f"{monotonic() - _STARTED:5.0f} s  {text}", flush=True)


class PeerFailed(Exception):
    """A peer raised an error, or its process ended. The message is the error, or the end of its stderr."""


@dataclass(frozen=True)
class Size:
    """How much a run measures. The first round is a warm-up and counts as one of the batches."""

    batch: int
    batches: int
    small: int
    rounds: int
    adds: int
    queries: int


SHORT = Size(batch=10, batches=2, small=5, rounds=1, adds=2, queries=2)
LONG = Size(batch=1_000, batches=10, small=100, rounds=9, adds=20, queries=10)


@dataclass(frozen=True)
class Ready:
    """An entrant with the interpreter of its environment."""

    entrant: Entrant
    python: Path


class Running:
    """A peer in its process, with at most one open store."""

    def __init__(self, name: str, process: Process, folder: Path) -> None:
        self.name = name
        self._process = process
        self._folder = folder
        self._stores = 0

    @classmethod
    async def start(cls, ready: Ready, folder: Path) -> Self:
        """Start the process. Its stores and its log are in `folder`."""
        with _log_of(folder).open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *(ready.python, "-m", ready.entrant.module, *ready.entrant.arguments),
                stdin=PIPE,
                stdout=PIPE,
                stderr=stderr,
                cwd=ROOT,
                limit=_LONGEST_LINE,
            )
        return cls(ready.entrant.name, process, folder)

    async def open(self, vectors: str) -> str:
        """Open an empty store, and return the versions of what it is made of. PeerFailed."""
        self._stores += 1
        self._store.mkdir()
        return (await self.ask(do="open", folder=str(self._store), vectors=vectors))["versions"]

    @property
    def _store(self) -> Path:
        return self._folder / f"store{self._stores}"

    async def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer. PeerFailed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            await stdin.drain()
        except ConnectionError:
            pass
        line = await stdout.readline()
        if not line:
            await self._process.wait()
            said = _log_of(self._folder).read_text(errors="replace").strip().splitlines()
            raise PeerFailed(f"{self.name}: {said[-1] if said else 'its process ended'}")
        reply = json.loads(line)
        if "error" in reply:
            raise PeerFailed(f"{self.name}: {reply['error']}")
        return reply

    async def add(self, owner: str, items: Sequence[Item], batch: int) -> float:
        """Seconds per item."""
        return (await self.ask(do="add", owner=owner, items=items, batch=batch))["seconds"] / len(items)

    async def search(self, owner: str, texts: Sequence[str], limit: int) -> tuple[float, list[list[str]]]:
        """Seconds per search, and the keys that each found."""
        reply = await self.ask(do="search", owner=owner, queries=texts, limit=limit)
        return reply["seconds"] / len(texts), reply["found"]

    async def load(self, owner: str, times: int, limit: int) -> float:
        """Seconds per load."""
        return (await self.ask(do="load", owner=owner, times=times, limit=limit))["seconds"] / times

    def resident_bytes(self) -> int:
        """The memory of the process (RSS)."""
        command = ["ps", "-o", "rss=", "-p", str(self._process.pid)]
        return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1024

    def disk_bytes(self) -> int:
        """The size of all files of the store. The root key of Gieok is outside and not counted."""
        return sum(file.stat().st_size for file in self._store.rglob("*") if file.is_file())

    async def close(self) -> None:
        """Close the store, so that all of it is on disk."""
        await self.ask(do="close")

    async def stop(self) -> None:
        """End the process, however far it is."""
        if self._process.returncode is None:
            assert self._process.stdin
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), 10)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


def _log_of(folder: Path) -> Path:
    return folder / "stderr.log"


@asynccontextmanager
async def all_running(entrants: Iterable[Ready]) -> AsyncGenerator[list[Running]]:
    """The processes of all entrants, with their stores in the temporary folder."""
    with TemporaryDirectory(prefix="gieok-race-") as temporary:
        async with AsyncExitStack() as stack:
            started: list[Running] = []
            for number, ready in enumerate(entrants):
                folder = Path(temporary) / str(number)
                folder.mkdir()
                running = await Running.start(ready, folder)
                stack.push_async_callback(running.stop)
                started.append(running)
            yield started


async def check(ready: Ready) -> str:
    """Add two memories, search and load, and return the versions. PeerFailed if one of them does not work."""
    async with all_running([ready]) as (peer,):
        versions = await peer.open(HASHED)
        await peer.add(SMALL, memories(2, SMALL), 2)
        _, found = await peer.search(SMALL, queries(1, SMALL), LIMIT)
        if not found[0]:
            raise PeerFailed(f"{peer.name}: found nothing")
        await peer.load(SMALL, 1, LIMIT)
        await peer.close()
        return versions


@dataclass(frozen=True)
class Speed:
    """Timings by row, and bytes by entrant."""

    timings: Mapping[str, Timings]
    disk: Mapping[str, int]
    memory: Mapping[str, int]


ADD_ONE, ADD_MANY, LOAD = "add one", "add many", "load"
SEARCH_SMALL, SEARCH_LARGE = "search small", "search large"


async def measure_speed(entrants: Sequence[Ready], size: Size) -> Speed:
    """One store each: `batches` large batches of one owner, and `small` memories of another."""
    async with all_running(entrants) as peers:
        for peer in peers:
            await peer.open(HASHED)
        timings: dict[str, Timings] = {}

        async def time(what: str, rounds: int, case: Callable[[Running], TimedRun]) -> None:
            progress(f"speed: {what}")
            timings[what] = await interleaved(rounds, {peer.name: case(peer) for peer in peers})

        await time(ADD_MANY, size.batches - 1, partial(_add, LARGE, size.batch, size.batch))
        for peer in peers:
            await peer.add(SMALL, memories(size.small, SMALL), size.small)
        await time(ADD_ONE, size.rounds, partial(_add, SINGLE, size.adds, 1))
        await time(SEARCH_SMALL, size.rounds, partial(_search, SMALL, size.queries))
        await time(SEARCH_LARGE, size.rounds, partial(_search, LARGE, size.queries))
        await time(LOAD, size.rounds, partial(_load, LARGE, size.adds))
        memory = {peer.name: peer.resident_bytes() for peer in peers}
        for peer in peers:
            await peer.close()
        return Speed(timings, {peer.name: peer.disk_bytes() for peer in peers}, memory)


def _add(owner: str, count: int, batch: int, peer: Running) -> TimedRun:
    """Each round adds `count` other memories, the same for every peer."""
    rounds = iter(range(1_000_000))
    return lambda: peer.add(owner, memories(count, f"{owner}{next(rounds)}"), batch)


def _search(owner: str, count: int, peer: Running) -> TimedRun:
    """Each round has other queries, so that no result can be cached."""
    rounds = iter(range(1_000_000))

    async def run_once() -> float:
        seconds, _ = await peer.search(owner, queries(count, f"{owner}{next(rounds)}"), LIMIT)
        return seconds

    return run_once


def _load(owner: str, times: int, peer: Running) -> TimedRun:
    return lambda: peer.load(owner, times, LIMIT)


async def ask_all(
    entrants: Sequence[Ready], question_set: QuestionSet, vectors: str, limit: int
) -> dict[str, list[Ranked]]:
    """What each entrant finds for every question, by conversation. Nothing is timed, so all run at once."""
    async with all_running(entrants) as peers:
        found = await asyncio.gather(*(_ask(peer, question_set, vectors, limit) for peer in peers))
        return {peer.name: each for peer, each in zip(peers, found, strict=True)}


async def _ask(peer: Running, question_set: QuestionSet, vectors: str, limit: int) -> list[Ranked]:
    """One store per conversation, because some peers become slow with memories of other owners."""
    found: list[Ranked] = []
    for conversation in question_set.conversations:
        await peer.open(vectors)
        await peer.add(LARGE, conversation.items, LONG.batch)
        found.append((await peer.search(LARGE, conversation.questions, limit))[1])
        await peer.close()
    return found
