"""Every request that waits for a language model or an embedder needs one of their slots.

All routes are called, by the tables of the isolation tests, in which a new route must be. A route that
reaches a model without being listed in `gateway/limits.py` fails here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from gieok.interfaces.rest.gateway.limits import RequestLimits, ServiceOptions
from gieok.memory.companion.records import SessionSummary, Spoken
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.testing.embedders import LetterEmbedder
from gieok.testing.models import CountingModel
from gieok.testing.settings import settings_for
from tests.console.conftest import Browser
from tests.console.test_isolation import VISITS
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import CALLS, create_one_of_each

EMBEDDER = LetterEmbedder()


class Recording(CountingModel):
    """Counts what it is asked during requests."""

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.calls += 1
        return await super().reply(prompt, emit)

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary:
        self.calls += 1
        return await super().summarize_session(messages)

    async def hint_conversation(
        self, messages: Sequence[ConversationMessage], *, hint_tokens: int, today: date
    ) -> str:
        self.calls += 1
        return await super().hint_conversation(messages, hint_tokens=hint_tokens, today=today)


@pytest.fixture(scope="module")
def model() -> Recording:
    return Recording()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: Recording) -> Iterator[Server]:
    """Without background work: every call of a model is made by a request."""
    folder: Path = tmp_path_factory.mktemp("service")
    settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key")
    with serving(replace(settings, background=False), GENEROUS, model=model, embedder=EMBEDDER) as running:
        yield running


def test_every_request_that_calls_a_model_needs_a_slot_of_model_calls(
    server: Server, model: Recording
) -> None:
    limits = RequestLimits(ServiceOptions())
    model_slots, found = limits.of("POST", "/api/v1/chat/send"), set[str]()

    def record(route: str, method: str, path: str, send: Callable[[], object]) -> None:
        before = model.calls + len(EMBEDDER.embedded)
        send()
        if model.calls + len(EMBEDDER.embedded) > before:
            found.add(route)
            assert limits.of(method, path) is model_slots, f"{route} calls a model without its slots"

    owners = _Owners(server)
    for call in CALLS:
        method, path = call.route.split(" ")
        client, _, ids = owners.before(call.route)
        whole = path if path.startswith("/v1/") else f"/api/v1{path}"
        record(call.route, method, whole.format(**ids), partial(call.send, client, ids))
    for visit in VISITS:
        method, path = visit.route.split(" ")
        _, browser, ids = owners.before(visit.route)
        record(visit.route, method, f"/console{path}".format(**ids), partial(visit.send, browser, ids))
    owners.close()
    assert {"POST /chat/send", "POST /sessions/{session}/close", "POST /v1/chat/completions"} <= found
    assert limits.of("POST", "/mcp") is model_slots  # tests/mcp has the tools


class _Owners:
    """An owner with one of each and an open session; another owner after a call that ended something."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._clients = ExitStack()
        self._is_used_up = True

    def before(self, route: str) -> tuple[httpx.Client, Browser, dict[str, str]]:
        if self._is_used_up:
            self._new()
        self._is_used_up = any(word in route for word in ("DELETE", "delete", "close", "undo", "erase"))
        return self._client, self._browser, self._ids

    def _new(self) -> None:
        name = f"owner-{uuid4()}"
        self._client = self._clients.enter_context(self._server.client(name))
        http = httpx.Client(base_url=self._server.url, timeout=30, verify=False)
        self._browser = Browser(self._clients.enter_context(http))
        self._browser.sign_in(self._server.token(name))
        api = Api(self._client)
        ids = create_one_of_each(api)
        session = api.post("/sessions", {"personaId": ids["persona"]}, 201)["sessionId"]
        said = {"id": "m1", "role": "user", "content": "부산에서 지훈이를 만났어"}
        replied = {"id": "m2", "role": "assistant", "content": "재미있었겠다"}
        api.post(f"/sessions/{session}/messages", {"messages": [said, replied]})
        self._ids = {**ids, "session": session}

    def close(self) -> None:
        self._clients.close()
