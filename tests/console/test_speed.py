"""A page takes at most three times as long as the API calls behind it, with 10,000 memories.

The times are those of one run on one machine, and only their ratio counts: the fastest of several attempts,
which takes turns, so that other work on the machine slows both alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import httpx
import pytest

from gieok.testing.settings import settings_for
from tests.console.conftest import Browser
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api

MEMORIES = 10_000
ATTEMPTS = 12
MOST_ATTEMPTS = 100
"""On a busy machine the fastest attempt of a few milliseconds takes many to find."""
SLOWEST = 3.0
WORDS = ("면접", "등산", "카레", "여행", "고양이", "회사", "자전거", "영화", "발표", "이사")


@dataclass(frozen=True)
class World:
    """A persona with many memories, over the API and in a browser."""

    api: Api
    browser: Browser
    persona: str
    memory: str
    csrf: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("speed")
    settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "key" / "root.key")
    with serving(settings, GENEROUS) as server:
        yield from _world(server)


def _world(server: Server) -> Iterator[World]:
    with (
        server.client("ana", "premium") as client,
        httpx.Client(base_url=server.url, timeout=60, verify=False) as http,
    ):
        api, browser = Api(client), Browser(http)
        persona = api.persona("하루")
        for start in range(0, MEMORIES, 1_000):
            texts = [f"{WORDS[n % 10]}에 대해 {n}번째로 이야기함" for n in range(start, start + 1_000)]
            bodies = [{"personaId": persona, "summary": text, "topics": [text[:2]]} for text in texts]
            api.post("/memory/batch", {"memories": bodies}, 201)
        browser.sign_in(server.token("ana"))
        memory = api.get("/memory/list", limit=1)["memories"][0]["id"]
        yield World(api, browser, persona, memory, browser.csrf)


def ratio(page: Callable[[], object], calls: Callable[[], object]) -> float:
    """How many times as long the page takes as the calls."""
    times: dict[Callable[[], object], list[float]] = {page: [], calls: []}
    for attempt in range(MOST_ATTEMPTS):
        for work, taken in times.items():
            started = perf_counter()
            work()
            taken.append(perf_counter() - started)
        if attempt >= ATTEMPTS and min(times[page]) / min(times[calls]) < SLOWEST:
            break
    return min(times[page]) / min(times[calls])


def test_the_list(world: World) -> None:
    def calls() -> None:
        world.api.get("/memory/list", limit=25)
        world.api.get("/personas")

    assert ratio(lambda: world.browser.get("/memories"), calls) < SLOWEST


def test_a_search(world: World) -> None:
    form = {"q": "면접이", "persona": world.persona, "csrf": world.csrf}

    def page() -> None:
        answer = world.browser.http.post("/console/memories", data=form, headers={"HX-Request": "true"})
        assert answer.text.count("data-part") > 0

    def calls() -> None:
        world.api.get("/memory/search", personaId=world.persona, q="면접이", limit=100)

    assert ratio(page, calls) < SLOWEST


def test_a_filter(world: World) -> None:
    form = {"topic": "면접", "persona": world.persona, "csrf": world.csrf}

    def page() -> None:
        assert "1,000" in world.browser.http.post("/console/memories", data=form).text

    def calls() -> None:
        world.api.get("/memory/list", personaId=world.persona, topic="면접", limit=25)

    assert ratio(page, calls) < SLOWEST


def test_a_memory(world: World) -> None:
    def calls() -> None:
        world.api.get(f"/memory/{world.memory}")
        world.api.get(f"/memory/{world.memory}/history")

    assert ratio(lambda: world.browser.get(f"/memories/{world.memory}"), calls) < SLOWEST


def test_the_personas(world: World) -> None:
    def calls() -> None:
        world.api.get("/personas")
        world.api.get(f"/personas/{world.persona}/memory-config")

    assert ratio(lambda: world.browser.get("/personas"), calls) < SLOWEST


def test_a_chat(world: World) -> None:
    def calls() -> None:
        world.api.get("/personas")
        world.api.post("/context", {"personaId": world.persona})
        world.api.get(f"/personas/{world.persona}/state")

    assert ratio(lambda: world.browser.get(f"/chat/{world.persona}"), calls) < SLOWEST


def test_the_facts(world: World) -> None:
    def calls() -> None:
        world.api.get("/personas")
        world.api.get(f"/personas/{world.persona}/state")

    assert ratio(lambda: world.browser.get(f"/facts/{world.persona}"), calls) < SLOWEST


def test_the_sessions(world: World) -> None:
    def calls() -> None:
        for path in ("/sessions", "/jobs", "/personas"):
            world.api.get(path)

    assert ratio(lambda: world.browser.get("/sessions"), calls) < SLOWEST
