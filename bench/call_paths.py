"""Call paths: how many functions and files of Gieok one request runs, compared with version 0.1.0.

Counts distinct functions and files of `src/gieok`, transactions, and reads of the session row. Lambdas and
comprehensions count as functions, so the figures depend on the Python version.
Runs on SQLite with the offline model. Each call is made twice to warm up before it is counted.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, NamedTuple

import apsw
import httpx

import gieok
from bench.table import Row, Table
from gieok import Gieok, MemoryDraft
from gieok.app.background.worker import Worker
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.decisions.records import DecisionProposal
from gieok.memory.observations import Category
from gieok.testing.settings import settings_for

_SOURCE = str(Path(gieok.__file__).parent)
_OWNER, _PERSONA = "minsu", "hana"
_MESSAGE = "나는 부산에 살아. 내일 면접에서 뭘 입을까?"
_MEMORIES = ("개발자 면접을 준비함.", "부산 바다에 다녀옴.", "고양이 나비를 좋아함.")
_DECISION = {"strength": "axis", "scope": "domain", "domain": "wms"}


class CallPath(NamedTuple):
    """The counts of one call."""

    functions: int
    files: int
    reads: int
    """Read transactions. A statement outside a transaction counts as one."""
    writes: int
    session_reads: int
    """Reads of the session row before the write transaction."""

    def __str__(self) -> str:
        return (
            f"{self.functions} functions, {self.files} files, "
            f"{self.reads} + {self.writes} transactions, {self.session_reads} session reads"
        )


BEFORE = {
    "POST /chat/send": CallPath(827, 143, 10, 1, 4),
    "GET /memory/search": CallPath(260, 60, 2, 0, 0),
    "POST /decisions": CallPath(192, 54, 1, 1, 0),
    "user.chat.send": CallPath(755, 119, 8, 1, 3),
    "user.companion.search": CallPath(210, 40, 1, 0, 0),
    "user.decisions.save": CallPath(132, 34, 0, 1, 0),
    "a summary job": CallPath(326, 66, 1, 2, 0),
}
"""The same calls in version 0.1.0, traced by this file on Python 3.11."""

Call = Callable[[], Awaitable[object]]


async def run(*, short: bool) -> list[Table]:
    """The calls over HTTP (through the ASGI application), the same through the library, and a summary job."""
    paths = await asyncio.get_running_loop().run_in_executor(None, _trace)
    rows = [
        Row(name, str(path), "version 0.1.0", str(BEFORE[name]), path.functions / BEFORE[name].functions)
        for name, path in paths.items()
    ]
    return [Table("Call paths (read + write transactions; the ratio is of functions)", rows)]


class Tracer:
    """Records function calls and SQL statements while it is on, in every thread where it is installed."""

    def __init__(self) -> None:
        self._is_on = False
        self._codes: set[CodeType] = set()
        self._statements: list[tuple[bool, str]] = []

    async def trace(self, call: Call) -> CallPath:
        self._codes.clear()
        self._statements.clear()
        self._is_on = True
        try:
            await call()
        finally:
            self._is_on = False
        return self._path()

    def profile(self, frame: FrameType, event: str, _arg: Any) -> None:
        if self._is_on and event == "call":
            self._codes.add(frame.f_code)

    def watch(self, connection: apsw.Connection) -> None:
        """Record the statements of a new connection."""

        def record(_cursor: apsw.Cursor, sql: str, _bindings: Any) -> bool:
            if self._is_on:
                self._statements.append((connection.in_transaction, sql.lstrip()))
            return True

        connection.exec_trace = record

    def _path(self) -> CallPath:
        own = [code for code in self._codes if code.co_filename.startswith(_SOURCE)]
        begun = [sql for inside, sql in self._statements if not inside]
        writes = sum(sql.startswith("BEGIN IMMEDIATE") for sql in begun)
        texts = [sql for _, sql in self._statements]
        commit = next((at for at, sql in enumerate(texts) if sql.startswith("BEGIN IMMEDIATE")), len(texts))
        session_reads = sum(sql.startswith("SELECT") and "FROM sessions" in sql for sql in texts[:commit])
        files = {code.co_filename for code in own}
        return CallPath(len(own), len(files), len(begun) - writes, writes, session_reads)


def _trace() -> dict[str, CallPath]:
    """Trace all calls in a new thread: the profiler applies only to threads that start after it is set."""
    tracer = Tracer()
    with _installed(tracer), ThreadPoolExecutor(1) as thread, TemporaryDirectory(prefix="gieok-") as folder:
        return thread.submit(asyncio.run, _trace_all(tracer, Path(folder))).result()


@contextmanager
def _installed(tracer: Tracer) -> Generator[None]:
    threading.setprofile(tracer.profile)
    apsw.connection_hooks.append(tracer.watch)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(tracer.watch)
        threading.setprofile(None)


async def _trace_all(tracer: Tracer, folder: Path) -> dict[str, CallPath]:
    settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key")
    async with await Gieok.open(settings) as opened:
        await _fill(opened)
        app = create_app(opened, ServiceOptions())
        token = (await opened.tokens.create(_OWNER, account_plan="premium")).token
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://localhost/api/v1",
            headers={"Authorization": f"Bearer {token}"},
        ) as client:
            calls = {**_over_http(client), **_through_the_library(opened)}
            paths = {name: await _warm(tracer, call) for name, call in calls.items()}
        paths["a summary job"] = await _trace_job(tracer, opened)
    return paths


async def _fill(opened: Gieok) -> None:
    """Add a persona with memories, a fact and two sessions."""
    user = opened.user(_OWNER)
    draft = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")
    await user.personas.create(draft, persona_id=_PERSONA)
    for summary in _MEMORIES:
        memory = MemoryDraft(persona_id=_PERSONA, summary=summary, topics=(summary,))
        await user.companion.create(memory, account_plan="premium")
    await user.canon.set_fact(_PERSONA, Category.GOAL, "취업", "개발자가 되고 싶어 함")
    for session in ("http", "library"):
        await user.chat.send(_PERSONA, "안녕!", session_ref=session, account_plan="premium")


def _over_http(client: httpx.AsyncClient) -> dict[str, Call]:
    async def ask(method: str, path: str, **request: Any) -> None:
        (await client.request(method, path, **request)).raise_for_status()

    turn = {"personaId": _PERSONA, "sessionId": "http", "message": _MESSAGE}
    query = {"personaId": _PERSONA, "q": "면접에서는"}
    decision = {"statement": "창고는 하나로 한다", **_DECISION}
    return {
        "POST /chat/send": lambda: ask("POST", "/chat/send", json=turn),
        "GET /memory/search": lambda: ask("GET", "/memory/search", params=query),
        "POST /decisions": lambda: ask("POST", "/decisions", json=decision),
    }


def _through_the_library(opened: Gieok) -> dict[str, Call]:
    user = opened.user(_OWNER)
    decision = DecisionProposal.model_validate({"statement": "창고는 하나로 한다", **_DECISION})
    return {
        "user.chat.send": lambda: user.chat.send(_PERSONA, _MESSAGE, session_ref="library"),
        "user.companion.search": lambda: user.companion.search(_PERSONA, "면접에서는"),
        "user.decisions.save": lambda: user.decisions.save(decision),
    }


async def _warm(tracer: Tracer, call: Call) -> CallPath:
    for _ in range(2):
        await call()
    return await tracer.trace(call)


async def _trace_job(tracer: Tracer, opened: Gieok) -> CallPath:
    """Trace a worker that claims and runs one job, the summary of a closed session."""
    user, worker = opened.user(_OWNER), Worker(opened)

    async def queue(session: str) -> None:
        await user.chat.send(_PERSONA, _MESSAGE, session_ref=session, account_plan="premium")
        while await worker.run_once(opened.engine.clock()):
            pass  # run all jobs except the summary
        await user.sessions.close(session)

    for session in ("first", "second"):
        await queue(session)
        await worker.run_once(opened.engine.clock())
    await queue("third")
    return await tracer.trace(lambda: worker.run_once(opened.engine.clock()))
