"""A page takes at most three times as long as the API calls behind it, with 10,000 memories.

The times are those of one run on one machine, and only their ratio counts: page and calls take turns, so that
other work on the machine slows both alike, and the median of the rounds is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import httpx
import pytest

from gieok.testing.settings import settings_for
from tests.console.conftest import Browser
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api

MEMORIES = 10_000
ROUNDS = 21
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
    """How many times as long the page takes as the calls: the median of rounds that take turns."""
    ratios: list[float] = []
    for number in range(ROUNDS + 1):
        taken: dict[Callable[[], object], float] = {}
        for work in (page, calls) if number % 2 else (calls, page):
            started = perf_counter()
            work()
            taken[work] = perf_counter() - started
        ratios.append(taken[page] / taken[calls])
    return median(ratios[1:])  # the first round fills the caches


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


def test_a_filter_is_as_fast_as_the_list(world: World) -> None:
    """A topic is looked up in the index, so a topic that few memories have decrypts few."""
    few = world.api.memory(world.persona, "한 번뿐인 이야기", topics=["북극여우"])

    def filtered() -> None:
        found = world.api.get("/memory/list", personaId=world.persona, topic="북극여우", limit=25)
        assert [memory["id"] for memory in found["memories"]] == [few["id"]]

    def listed() -> None:
        world.api.get("/memory/list", personaId=world.persona, limit=25)

    assert ratio(filtered, listed) < SLOWEST


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
