"""Growing: service processes on PostgreSQL beside one on SQLite, and a million memories of 10,000 owners.

Requests of many owners come from this process, on the machine where the service and the database run, so
four processes on two cores show what sharing costs, and not what four machines give.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from os import urandom
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg

from bench.companion import PERSONA, save
from bench.service.http_load import content_length, load, request
from bench.table import Row, Table, at_most, millis, rate
from bench.terms import random_terms
from bench.timing import TimedRun, Timings, interleaved, p99
from bench.vocabulary import Vocabulary
from gieok import Gieok
from tests.mongo import Mongo, find_mongod
from tests.postgres import Postgres, database_name
from tests.redis_server import RedisServer
from tests.redis_server import find_program as find_redis
from tests.service.process import Place, Service

API = "/api/v1"
CONNECTIONS = 16
CROWD_GOAL = 1.5
CALLS = ("chat turn", "search", "create")
SQLITE = "SQLite, 1 process"
PLAIN, WEBHOOK = "alone", "webhook"
_MAX_CONNECTIONS = 400
_WORDS_PER_MEMORY = 18
_DISK = """
SELECT sum(pg_total_relation_size(c.oid))
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'gieok' AND c.relkind = 'r'
"""
_MEMORY_TYPES = "text bytea text int8 text int2 int2 int8 int8 int4 int8 int8 bytea bytea"
_MOMENT = 1_767_600_000_000_000
Latencies = dict[str, list[float]]


@dataclass(frozen=True)
class Size:
    """How much is stored and sent."""

    owners: int
    """Those who send requests."""
    memories: int
    """Of each owner."""
    requests: int
    """Per round."""
    rounds: int
    crowd: int
    """Owners who have data and send no requests."""
    processes: Sequence[int]


SHORT = Size(owners=2, memories=10, requests=16, rounds=1, crowd=20, processes=(1, 2))
LONG = Size(owners=32, memories=100, requests=192, rounds=5, crowd=9_968, processes=(1, 2, 4))


@dataclass
class Deployment:
    """A database with the data of the requesting owners, and the processes that serve it."""

    name: str
    place: Place
    processes: int = 1
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    sessions: Sequence[tuple[str, str]] = ()
    """Owners with their sessions: as many as a round has turns, because a session takes one at a time."""


async def run(*, short: bool) -> list[Table]:
    """The files are created in the folder for temporary files. Set TMPDIR to measure another disk."""
    size = SHORT if short else LONG
    with TemporaryDirectory(prefix="gieok-bench-") as temporary, _postgres() as server:
        folder = Path(temporary)
        return [
            await _measure_processes(folder, server, size),
            await _measure_parts(folder, server, size),
            await _measure_crowd(folder, server, size),
        ]


@contextmanager
def _postgres() -> Generator[Postgres]:
    """A server with its default durability, which the tests turn off."""
    server = Postgres()
    try:
        with psycopg.connect(server.admin_url(), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET fsync = on")
            admin.execute(f"ALTER SYSTEM SET max_connections = {_MAX_CONNECTIONS}".encode())
        server.stop()
        server.start()
        yield server
    finally:
        server.close()


async def _measure_processes(folder: Path, server: Postgres, size: Size) -> Table:
    deployments = [Deployment(SQLITE, Place(folder / "sqlite", f"sqlite:///{folder}/sqlite/data/gieok.db"))]
    for count in size.processes:
        name = f"PostgreSQL, {count} process{'es' if count > 1 else ''}"
        deployments.append(Deployment(name, Place(folder / f"pg{count}", server.new_database()), count))
    for deployment in deployments:
        await _fill(deployment, size)
    timings, latencies = await _measure(deployments, size)
    rows = [
        _row(f"{call}, {deployment.name}", f"{call}, {SQLITE}", timings, latencies)
        for call in CALLS
        for deployment in deployments[1:]
    ]
    return Table(f"Requests of {size.owners} owners, {CONNECTIONS} at a time", rows)


async def _measure_parts(folder: Path, server: Postgres, size: Size) -> Table:
    """One process on PostgreSQL with each of the other parts, beside one without."""
    async with AsyncExitStack() as running:
        parts: dict[str, dict[str, str]] = {PLAIN: {}, WEBHOOK: {"GIEOK_WEBHOOK_ALLOW_PRIVATE": "true"}}
        if redis := find_redis():
            parts["Redis"] = {"GIEOK_CACHE_URL": running.enter_context(closing(RedisServer(redis))).url}
        if find_mongod():
            parts["MongoDB"] = {"GIEOK_ARCHIVE_URL": running.enter_context(closing(Mongo())).new_url()}
        deployments = [
            Deployment(name, Place(folder / f"part{number}", server.new_database(), **variables))
            for number, (name, variables) in enumerate(parts.items())
        ]
        for deployment in deployments:
            await _fill(deployment, size)
        receiver = await asyncio.start_server(_accept, "127.0.0.1")
        await running.enter_async_context(receiver)
        await _add_webhooks(deployments[1], receiver.sockets[0].getsockname()[1])
        timings, latencies = await _measure(deployments, size)
    rows = [
        _row(f"{call}, {deployment.name}", f"{call}, {PLAIN}", timings, latencies)
        for call in CALLS
        for deployment in deployments[1:]
    ]
    return Table("One process on PostgreSQL with another part", rows)


async def _accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A receiver of webhooks that accepts everything."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(content_length(head))
    writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    writer.close()


async def _add_webhooks(deployment: Deployment, port: int) -> None:
    settings = deployment.place.settings
    settings = replace(settings, service=replace(settings.service, webhook_allow_private=True))
    async with await Gieok.open(settings, background=False) as gieok:
        for owner in deployment.tokens:
            await gieok.user(owner).webhooks.add(f"http://127.0.0.1:{port}/")


async def _measure_crowd(folder: Path, server: Postgres, size: Size) -> Table:
    """The same requests, where the database has the memories of thousands of other owners as well."""
    alone = Deployment("alone", Place(folder / "alone", server.new_database()))
    crowd = Deployment("crowd", Place(folder / "crowd", server.new_database()))
    for deployment in (alone, crowd):
        await _fill(deployment, size)
    url = server.admin_url(database_name(crowd.place.settings.database_url))
    _fill_crowd(url, size)
    timings, latencies = await _measure([alone, crowd], size)
    rows: list[Row] = []
    for call in CALLS:
        row = _row(f"{call}, crowd", f"{call}, alone", timings, latencies)
        slower, against = 1 / row.ratio, f"{size.owners} owners"
        goal = at_most(slower, CROWD_GOAL)
        rows.append(Row(call, row.figure, against, row.its_figure, slower, goal))
    owners = size.owners + size.crowd
    rows.append(_disk_row(url, owners * size.memories))
    return Table(f"{owners * size.memories:,} memories of {owners:,} owners, PostgreSQL, 1 process", rows)


def _disk_row(url: str, memories: int) -> Row:
    with psycopg.connect(url) as connection:
        found = connection.execute(_DISK).fetchone()
    assert found is not None
    size, text = int(found[0]), _WORDS_PER_MEMORY * 10 * memories
    return Row("disk", f"{size / 1e6:,.0f} MB", "text alone", f"{text / 1e6:,.0f} MB", size / text)


async def _fill(deployment: Deployment, size: Size) -> None:
    """Create the requesting owners with their memories, a session and a token each."""
    words, sessions = Vocabulary(), list[tuple[str, str]]()
    owners = [f"owner-{number}" for number in range(size.owners)]
    async with await Gieok.open(deployment.place.settings) as gieok:
        for owner in owners:
            await save(gieok, words, size.memories, owner=owner)
        for owner in islice(cycle(owners), size.requests):
            started = await gieok.user(owner).sessions.start(PERSONA, plan="chat_turn")
            sessions.append((owner, started.session_ref))
    deployment.sessions = sessions
    deployment.tokens = await deployment.place.tokens(*owners, plan="premium")


def _fill_crowd(url: str, size: Size) -> None:
    """Add owners who send no requests: rows of realistic size with random contents, never decrypted."""
    owners = [f"crowd-{number}" for number in range(size.crowd)]
    numbers = range(1, size.memories + 1)
    counts = [1] * _WORDS_PER_MEMORY
    terms = random_terms(len(owners) * size.memories, counts, version=1, words=_WORDS_PER_MEMORY)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET search_path = gieok")
        with cursor.copy("COPY owners (owner, key_generation, created_at) FROM STDIN") as copy:
            for owner in owners:
                copy.write_row((owner, 1, "2026-01-05"))
        with cursor.copy(
            "COPY persona_memory_configs (owner, persona_id, recall, last_number, active, archived, revision)"
            " FROM STDIN"
        ) as copy:
            for owner in owners:
                copy.write_row((owner, PERSONA, 1, size.memories, size.memories, 0, size.memories))
        with cursor.copy(
            "COPY memories (owner, id, persona_id, number, session_ref, origin, importance, created_at,"
            " occurred_at, version, changed, topic_token, terms, content) FROM STDIN (FORMAT binary)"
        ) as copy:
            copy.set_types(_MEMORY_TYPES.split())
            for owner in owners:
                for number in numbers:
                    at = _MOMENT + number
                    place = (owner, urandom(16), PERSONA, number, f"s{number // 5}", 1, 1 + number % 10)
                    copy.write_row((*place, at, at, 1, number, number, next(terms), urandom(300)))
        cursor.execute("ANALYZE")


async def _measure(deployments: Sequence[Deployment], size: Size) -> tuple[Timings, Latencies]:
    """Each call on each deployment, interleaved. The processes run together, idle but for one."""
    latencies: Latencies = {}
    cases: dict[str, TimedRun] = {}
    with ExitStack() as running:
        for deployment in deployments:
            service = running.enter_context(Service(deployment.place, workers=deployment.processes))
            for call, requests in _requests(deployment).items():
                name = f"{call}, {deployment.name}"
                latencies[name] = []
                cases[name] = _round(service.url, requests, size.requests, latencies[name])
        return await interleaved(size.rounds, cases), latencies


def _round(url: str, requests: Iterator[bytes], count: int, latencies: list[float]) -> TimedRun:
    async def run_once() -> float:
        seconds, measured = await load(url, list(islice(requests, count)), connections=CONNECTIONS)
        latencies.extend(measured)
        return seconds / count

    return run_once


def _requests(deployment: Deployment) -> dict[str, Iterator[bytes]]:
    """An endless supply of requests for each call, of one owner after another."""
    words = Vocabulary()

    def send(place: tuple[str, str]) -> bytes:
        owner, session = place
        body = {"personaId": PERSONA, "sessionId": session, "message": words.messages(1)[0]}
        return request("POST", f"{API}/chat/send", deployment.tokens[owner], body)

    def search(owner: str) -> bytes:
        text = quote(" ".join(words.draw(3)))
        return request("GET", f"{API}/memory/search?personaId={PERSONA}&q={text}", deployment.tokens[owner])

    def create(owner: str) -> bytes:
        body = {"personaId": PERSONA, "manualSummary": " ".join(words.draw(16)), "topics": words.draw(2)}
        return request("POST", f"{API}/memory/create", deployment.tokens[owner], body)

    owners = deployment.tokens
    return {
        "chat turn": map(send, cycle(deployment.sessions)),
        "search": map(search, cycle(owners)),
        "create": map(create, cycle(owners)),
    }


def _row(name: str, other: str, timings: Timings, latencies: Latencies) -> Row:
    def figure(of: str) -> str:
        return f"{rate(timings.of(of))}, p99 {millis(p99(latencies[of]))}"

    return Row(name, figure(name), other.partition(", ")[2], figure(other), 1 / timings.ratio(name, other))
