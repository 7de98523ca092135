"""The service: requests per second of one process, relative to an empty FastAPI route.

The database has 100,000 memories, 1,000 of them of the owner who sends the requests, and 1,000 documents of
that owner. The load comes from another process. Chat turns come last and alone: their jobs run on in the
background.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from bench.companion import PERSONA, fill, save
from bench.service.http_load import CONNECTIONS, load, mcp_call, request
from bench.table import Row, Table, at_least, millis, rate
from bench.timing import TimedRun, Timings, interleaved, p99
from bench.turns.filler import checkpoint
from bench.turns.saving import OWNER
from bench.vocabulary import Vocabulary
from gieok import Gieok
from gieok.app.documents import put_operation
from gieok.memory.documents.records import MAX_OPERATIONS, DocumentVectors, PutDocument
from tests.service.process import Place, Service

EMPTY = "an empty route"
GOALS = {"memory/load": 0.25, "memory/search": 0.2}
API = "/api/v1"
NAMESPACE = ["notes", "work"]
SPACE, DIMENSION = "any", 256
"""Of the vectors of documents."""


@dataclass(frozen=True)
class Size:
    """Memories of the requesting owner and of others, requests per round, rounds."""

    own: int
    others: int
    requests: int
    rounds: int


SHORT = Size(own=50, others=500, requests=24, rounds=2)
LONG = Size(own=1_000, others=99_000, requests=160, rounds=9)


async def run(*, short: bool) -> list[Table]:
    """The files are created in the folder for temporary files. Set TMPDIR to measure another disk."""
    size = SHORT if short else LONG
    with TemporaryDirectory(prefix="gieok-bench-") as folder:
        place = Place(Path(folder), f"sqlite:///{folder}/data/gieok.db")
        words = Vocabulary()
        sessions = await _fill(place, words, size)
        (token,) = (await place.tokens(OWNER, plan="premium")).values()
        with Service(place) as service, _empty_service() as empty:
            return [await _measure(service.url, empty, _requests(words, token, sessions), size)]


async def _fill(place: Place, words: Vocabulary, size: Size) -> list[str]:
    """Create the memories of all owners. Returns the ids of sessions for chat requests."""
    file = place.folder / "data" / "gieok.db"
    async with await Gieok.open(place.settings) as gieok:
        await save(gieok, words, size.own)
        fill(file, size.others)
        user = gieok.user(OWNER)
        for start in range(0, size.own, MAX_OPERATIONS):
            numbers = range(start, min(start + MAX_OPERATIONS, size.own))
            await user.documents.batch([_put(words, str(number)) for number in numbers])
        started = [await user.sessions.start(PERSONA, plan="chat_turn") for _ in range(CONNECTIONS)]
    checkpoint(file)
    return [each.session_ref for each in started]


def _put(words: Vocabulary, key: str) -> PutDocument:
    vectors = DocumentVectors(space=SPACE, values=(tuple(_vector(words)),))
    return put_operation(NAMESPACE, key, {"text": " ".join(words.draw(16))}, vectors=vectors)


def _requests(words: Vocabulary, token: str, sessions: Sequence[str]) -> dict[str, Iterator[bytes]]:
    """An endless supply of requests for each measured route."""

    def search() -> bytes:
        text = quote(" ".join(words.draw(3)))
        return request("GET", f"{API}/memory/search?personaId={PERSONA}&q={text}", token)

    def create() -> bytes:
        body = {"personaId": PERSONA, "manualSummary": " ".join(words.draw(16)), "topics": words.draw(2)}
        return request("POST", f"{API}/memory/create", token, body)

    def recall() -> bytes:
        arguments = {"query": " ".join(words.draw(3)), "personaId": PERSONA, "kinds": ["memory"], "limit": 10}
        return mcp_call(token, "recall", arguments)

    session_ids = cycle(sessions)

    def send() -> bytes:
        body = {"personaId": PERSONA, "sessionId": next(session_ids), "message": words.messages(1)[0]}
        return request("POST", f"{API}/chat/send", token, body)

    def complete() -> bytes:
        said = words.messages(5)  # a window that no session has: all of the newest ones are compared with it
        roles = cycle(("user", "assistant"))
        messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
        return request(
            "POST", "/v1/chat/completions", token, {"model": f"gieok/{PERSONA}", "messages": messages}
        )

    def import_card() -> bytes:
        data = {"name": words.draw(1)[0], "description": " ".join(words.draw(64)), "first_mes": "안녕"}
        card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}
        return request("POST", f"{API}/personas/import", token, card)

    return {
        "memory/load": cycle([request("GET", f"{API}/memory/load?personaId={PERSONA}", token)]),
        "memory/search": _endless(search),
        "memory/create": _endless(create),
        "mcp recall": _endless(recall),
        **_document_requests(words, token),
        "personas/import": _endless(import_card),
        "chat/send": _endless(send),
        "v1/chat/completions": _endless(complete),
    }


def _document_requests(words: Vocabulary, token: str) -> dict[str, Iterator[bytes]]:
    def search() -> bytes:
        body = {"namespace": NAMESPACE, "query": " ".join(words.draw(3))}
        return request("POST", f"{API}/documents/search", token, body)

    def put() -> bytes:
        document = _put(words, words.draw(1)[0])
        body = {"namespace": NAMESPACE, "key": document.key, "value": document.value}
        return request("PUT", f"{API}/documents", token, body)

    def similar() -> bytes:
        body = {"namespace": NAMESPACE, "vector": {"space": SPACE, "values": _vector(words)}}
        return request("POST", f"{API}/documents/search", token, body)

    return {
        "documents/search": _endless(search),
        "documents vectors": _endless(similar),
        "documents put": _endless(put),
    }


def _vector(words: Vocabulary) -> list[float]:
    """Any vector. The time of a search depends on their number and length only."""
    return [float(len(word)) + index % 7 for index, word in enumerate(words.draw(DIMENSION))]


def _endless(make: Callable[[], bytes]) -> Iterator[bytes]:
    return iter(make, None)


async def _measure(url: str, empty: str, requests: dict[str, Iterator[bytes]], size: Size) -> Table:
    latencies: dict[str, list[float]] = {}

    def timed(name: str, base_url: str, source: Iterator[bytes]) -> TimedRun:
        latencies[name] = []

        async def run_once() -> float:
            batch = list(islice(source, size.requests))
            seconds, batch_latencies = await load(base_url, batch)
            latencies[name] += batch_latencies
            return seconds / len(batch)

        return run_once

    rows: list[Row] = []
    for names in (
        ("memory/load", "memory/search", "mcp recall", "memory/create"),
        ("documents/search", "documents vectors", "documents put"),
        ("personas/import",),
        ("chat/send",),
        ("v1/chat/completions",),
    ):
        cases = {name: timed(name, url, requests[name]) for name in names}
        cases[EMPTY] = timed(EMPTY, empty, cycle([request("GET", "/")]))
        timings = await interleaved(size.rounds, cases)
        rows += [_row(name, timings, latencies) for name in names]
    return Table(f"One `gieok serve`, {size.own:,} memories among {size.own + size.others:,}", rows)


def _row(name: str, timings: Timings, latencies: dict[str, list[float]]) -> Row:
    def figure(of: str) -> str:
        return f"{rate(timings.of(of))}, p99 {millis(p99(latencies[of]))}"

    ratio = 1 / timings.ratio(name, EMPTY)
    goal = at_least(ratio, GOALS[name]) if name in GOALS else None
    return Row(name, figure(name), EMPTY, figure(EMPTY), ratio, goal)


@contextmanager
def _empty_service() -> Generator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.service.empty"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
