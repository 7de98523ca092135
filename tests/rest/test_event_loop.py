"""A large request does not stall the event loop, which answers everybody: other threads do the work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from gieok import Gieok
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.testing.models import CountingModel
from gieok.testing.settings import settings_for
from gieok.text import terms

SENTENCE = "어제는 회사에서 늦게까지 회의를 하고 지하철로 집에 돌아와서 고양이 나비에게 밥을 주었다. "
MESSAGES = [
    {"role": "assistant" if number % 2 else "user", "content": f"{number} {SENTENCE * 36}"}
    for number in range(189)
]


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The service on the event loop of the test."""
    terms(SENTENCE)  # loads the dictionary
    settings = settings_for(f"sqlite:///{tmp_path / 'data' / 'gieok.db'}", tmp_path / "config" / "root.key")
    settings = replace(settings, background=False)
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        token = (await gieok.tokens.create("ana")).token
        transport = httpx.ASGITransport(create_app(gieok, ServiceOptions()))
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://gieok", headers=headers) as client:
            yield client


async def longest_share(call: Any) -> float:
    """The longest stretch that the loop computed without a pause, as a share of all that was computed."""
    longest, is_done = 0.0, False

    async def watch() -> None:
        nonlocal longest
        while not is_done:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    loop_before, before = time.thread_time(), time.process_time()
    answer = await call
    all_threads, loop = time.process_time() - before, time.thread_time() - loop_before
    is_done = True
    await watching
    assert answer.status_code == 200, answer.text
    elsewhere = all_threads - loop
    return longest / (longest + elsewhere)  # the watcher itself keeps the loop busy


@pytest.mark.parametrize("what", ["messages", "completions", "a long message"])
async def test_a_large_request_does_not_stall_the_loop(http: httpx.AsyncClient, what: str) -> None:
    """Before, completions and long messages were analysed on the loop: a share of more than a half."""
    persona = (await http.post("/api/v1/personas", json={"name": "하나"})).json()["persona"]["id"]
    started = await http.post("/api/v1/sessions", json={"personaId": persona})
    session = started.json()["sessionId"]
    saved = [{**message, "id": f"m{number}"} for number, message in enumerate(MESSAGES)]
    calls: dict[str, tuple[str, Any]] = {
        "messages": (f"/api/v1/sessions/{session}/messages", {"messages": saved}),
        "completions": ("/v1/chat/completions", {"model": f"gieok/{persona}", "messages": MESSAGES}),
        "a long message": ("/api/v1/chat/send", {"personaId": persona, "message": SENTENCE * 390}),
    }
    path, body = calls[what]
    assert await longest_share(http.post(path, json=body)) < 0.4
