"""The shared cache: what a turn, a window and a rate limit cost with Redis, all on this machine.

Redis and PostgreSQL answer through Unix sockets here, so neither has the distance of a network. The last row
is no use of the cache: it shows what a notification about a persona's revision could save at most.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import psycopg

from bench.companion import PERSONA, save
from bench.table import Row, Table, micros, millis
from bench.timing import TimedRun, Timings, interleaved
from bench.vocabulary import Vocabulary
from gieok import Gieok
from gieok.adapters.redis import cache as adapter
from gieok.adapters.sql.scope import SqlView
from gieok.adapters.sql.stores.cached import CachedReads, CachedWindow
from gieok.app.cache import SharedCache
from gieok.interfaces.rest.gateway.limits import RateLimiter, SharedRateLimiter
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.sessions.records import ChatMessage
from gieok.settings.sections import DEFAULT_SERVICE
from gieok.testing.models import CountingModel
from gieok.testing.settings import settings_for
from tests.postgres import Postgres
from tests.redis_server import RedisServer, find_program

OWNER, SEARCHER = "minsu", "jisu"
_SAID = "오늘 고양이 나비가 병원에 다녀왔는데, 수의사 선생님이 아주 건강하다고 하셨어. " * 3


@dataclass(frozen=True)
class Size:
    """Operations per round, rounds, and memories: of the persona that talks, and of one that is searched."""

    turns: int
    reads: int
    rounds: int
    memories: int
    searched: int


SHORT = Size(turns=2, reads=5, rounds=1, memories=10, searched=20)
LONG = Size(turns=20, reads=200, rounds=21, memories=100, searched=10_000)


async def run(*, short: bool) -> list[Table]:
    """Nothing without a redis-server."""
    program, size = find_program(), SHORT if short else LONG
    if program is None:
        return []
    adapter.SECONDS = 5.0  # on a busy machine the commands are measured, and not their timeouts
    server, redis = Postgres(), RedisServer(program)
    try:
        with psycopg.connect(server.admin_url(), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET fsync = on")  # the test server turns it off
            admin.execute("SELECT pg_reload_conf()")
        with TemporaryDirectory(prefix="gieok-bench-") as temporary:
            return [await _measure(Path(temporary), server.new_database(), redis.url, size)]
    finally:
        redis.close()
        server.close()


@asynccontextmanager
async def _opened(
    folder: Path, url: str, cache_url: str | None
) -> AsyncGenerator[tuple[Gieok, SharedCache | None]]:
    settings = replace(settings_for(url, folder / "config" / "root.key"), cache_url=cache_url)
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        yield gieok, gieok.cache


async def _measure(folder: Path, url: str, cache_url: str, size: Size) -> Table:
    async with (
        _opened(folder, url, None) as (plain, _),
        _opened(folder, url, cache_url) as (cached, cache),
    ):
        assert cache is not None
        await save(plain, Vocabulary(), size.memories, owner=OWNER)
        await save(plain, Vocabulary(), size.searched, owner=SEARCHER)
        for session_ref, gieok in (("plain", plain), ("cached", cached)):
            for _ in range(8):
                await _say(gieok, session_ref)
        await cache.forget("nobody")  # waits for the last window
        cases = {
            "turn, plain": _turns(plain, "plain", size.turns),
            "turn, cached": _turns(cached, "cached", size.turns),
            "busy, plain": _busy_turns(plain, "plain", size.turns),
            "busy, cached": _busy_turns(cached, "cached", size.turns),
            "window, plain": _windows(cached, None, size.reads),
            "window, cached": _windows(cached, cache, size.reads),
            "rate, plain": _rates(None, size.reads),
            "rate, cached": _rates(cache, size.reads),
            "search, plain": _searches(cached, None, size.turns),
            "search, changed": _searches(cached, plain, size.turns),
        }
        timings = await interleaved(size.rounds, cases)
    return Table("Shared cache on PostgreSQL, one machine", _rows(timings, size))


def _rows(timings: Timings, size: Size) -> Sequence[Row]:
    def row(what: str, case: str, against: str, its_case: str, unit: Callable[[float], str]) -> Row:
        figures = unit(timings.of(case)), unit(timings.of(its_case))
        return Row(what, figures[0], against, figures[1], timings.ratio(case, its_case))

    return [
        row("chat turn with Redis", "turn, cached", "without", "turn, plain", millis),
        row("processor time of a turn with Redis", "busy, cached", "without", "busy, plain", millis),
        row("read a window with Redis", "window, cached", "without", "window, plain", micros),
        row("rate limit of a request, shared", "rate, cached", "of one process", "rate, plain", micros),
        row(
            f"search {size.searched:,} memories after a change elsewhere",
            "search, changed",
            "unchanged",
            "search, plain",
            millis,
        ),
    ]


async def _say(gieok: Gieok, session_ref: str) -> None:
    await gieok.user(OWNER).chat.send(PERSONA, _SAID, session_ref=session_ref)


def _turns(gieok: Gieok, session_ref: str, turns: int) -> TimedRun:
    """Turns of a user, who answers after the window of the last turn is written."""

    async def timed() -> float:
        seconds = 0.0
        for _ in range(turns):
            started = perf_counter()
            await _say(gieok, session_ref)
            seconds += perf_counter() - started
            if gieok.cache is not None:
                await gieok.cache.forget("nobody")
        return seconds / turns

    return timed


def _busy_turns(gieok: Gieok, session_ref: str, turns: int) -> TimedRun:
    """Processor time of this process, writing the windows included."""

    async def timed() -> float:
        started = process_time()
        for _ in range(turns):
            await _say(gieok, session_ref)
        if gieok.cache is not None:
            await gieok.cache.forget("nobody")
        return (process_time() - started) / turns

    return timed


def _windows(gieok: Gieok, cache: SharedCache | None, reads: int) -> TimedRun:
    """The read transaction of a window, after a look into the cache."""
    scope = gieok.scope(OWNER)

    def work(view: SqlView) -> Sequence[ChatMessage]:
        view.sessions.get("cached")
        return view.messages.window("cached", 10)

    async def timed() -> float:
        if cache is not None:
            await cache.forget("nobody")
        started = perf_counter()
        for _ in range(reads):
            window = None
            if cache is not None:
                (sealed,) = await cache.values(OWNER, [("session", "cached")])
                window = CachedWindow("cached", sealed)
            assert len(await scope.read(work, cached=CachedReads(window))) == 10
            assert window is None or window.is_hit
        return (perf_counter() - started) / reads

    return timed


def _rates(cache: SharedCache | None, requests: int) -> TimedRun:
    rate, burst = 1e6, DEFAULT_SERVICE.rate_burst
    own = RateLimiter(rate, burst)
    shared = SharedRateLimiter(cache, rate, burst) if cache is not None else None

    async def timed() -> float:
        started = perf_counter()
        for _ in range(requests):
            own.take(OWNER)
            if shared is not None:
                await shared.take(OWNER)
        return (perf_counter() - started) / requests

    return timed


def _searches(gieok: Gieok, other: Gieok | None, searches: int) -> TimedRun:
    """Searches, each after a memory that the other process creates."""
    numbers = count()

    async def timed() -> float:
        seconds = 0.0
        for _ in range(searches):
            if other is not None:
                draft = MemoryDraft(persona_id=PERSONA, summary=f"나비의 {next(numbers)}번째 검진")
                await other.user(SEARCHER).companion.create(draft)
            started = perf_counter()
            await gieok.user(SEARCHER).companion.search(PERSONA, "나비 검진")
            seconds += perf_counter() - started
        return seconds / searches

    return timed
