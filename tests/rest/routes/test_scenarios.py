"""The three scenarios of the specification, step by step, over HTTP."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from gieok import Settings
from gieok.app.background.worker import Worker
from gieok.testing.clock import Clock
from tests.chat.test_scenarios import DAY_ONE, NoSummaries
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api
from tests.sessions.conversation import job_plans

HANA = {"name": "하나", "systemPrompt": "너는 하나, 사용자의 다정한 친구다. 반말로 말한다."}
FULL = "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다."
MORE = "더 많은 메모리를 원하시면 Knock Plus를 이용하세요"


@contextmanager
def service(settings: Settings, clock: Clock, **options: Any) -> Generator[tuple[Server, Api]]:
    """A service with a fixed clock, and a client of one user."""
    with serving(settings, GENEROUS, clock=clock, **options) as server, server.client("minsu") as client:
        yield server, Api(client)


def talk(api: Api, persona: str, clock: Clock, *messages: str) -> str:
    """Send messages in a new session, a minute apart. Returns the session id."""
    body: dict[str, Any] = {"personaId": persona}
    for message in messages:
        body["sessionId"] = api.post("/chat/send", body | {"message": message})["sessionId"]
        clock.advance(minutes=1)
    return body["sessionId"]


def work(server: Server, clock: Clock) -> None:
    """Run all due jobs, as a worker would."""
    worker = Worker(server.gieok)
    while server.run(worker.run_once(clock.now)):
        pass


@pytest.mark.req("OPS-5", "COMP-1", "COMP-6")
def test_the_basic_flow(settings: Settings) -> None:
    """§6.1: more than twenty messages, then a memory at the end; the next day the persona recalls it."""
    clock = Clock()
    with service(settings, clock) as (server, api):
        persona = api.persona(**HANA)
        session = talk(api, persona, clock, *DAY_ONE)
        assert api.get(f"/sessions/{session}")["session"]["messageCount"] >= 20
        api.call("POST", f"/sessions/{session}/close", 202)
        work(server, clock)
        kept = api.get("/memory/list", personaId=persona)["memories"]
        assert any("면접" in memory["summary"] for memory in kept)
        clock.advance(days=1)
        begun = api.post("/sessions", {"personaId": persona}, 201)
        assert {memory["id"] for memory in begun["memories"]} == {memory["id"] for memory in kept}
        body = {"personaId": persona, "sessionId": begun["sessionId"], "message": "나 왔어!"}
        assert "면접" in api.post("/chat/send", body)["reply"]


@pytest.mark.req("OPS-5", "COMP-4", "COMP-5")
def test_the_limit_of_the_free_plan(settings: Settings) -> None:
    """§6.2: a sixth memory archives the least important one, five stay active, the user gets a notice."""
    with service(settings, Clock()) as (_, api):
        persona = api.persona(**HANA)
        importances = (8, 3, 9, 6, 7)
        made = [
            api.memory(persona, f"{number}번째 이야기", topics=[f"주제{number}"], importance=importance)
            for number, importance in enumerate(importances)
        ]
        body = {"personaId": persona, "manualSummary": "여섯째", "topics": ["주제5"], "importance": 5}
        sixth = api.post("/memory/create", body, 201)
        assert sixth["notices"] == [FULL, MORE]
        assert sixth["archived"] == [made[1]["id"]]
        assert api.get(f"/memory/{made[1]['id']}")["memory"]["archivedAt"] is not None
        assert api.get("/memory/list", personaId=persona)["total"] == 5


@pytest.mark.req("OPS-5", "COMP-3")
def test_a_model_that_cannot_summarise(settings: Settings) -> None:
    """§6.3: the model is unavailable when the session ends: an excerpt is stored, with a notice."""
    clock = Clock()
    options: dict[str, Any] = {"model": NoSummaries(), "job_plans": job_plans("excerpt")}
    with service(settings, clock, **options) as (_, api):
        session = talk(api, api.persona(**HANA), clock, "내일 중요한 면접이 있어", "정말 가고 싶은 회사야")
        closed = api.post(f"/sessions/{session}/close", {"wait": True})
        memory = closed["memory"]
        assert (memory["origin"], memory["importance"]) == ("excerpt", 5)
        assert "user: 내일 중요한 면접이 있어" in memory["summary"]
        assert len(memory["summary"]) <= 500
        assert closed["notices"] == ["대화를 요약하지 못해 대화의 앞부분을 그대로 저장했습니다."]


@pytest.mark.req("OPS-5", "COMP-3")
def test_the_job_is_done_once_the_excerpt_is_stored(settings: Settings) -> None:
    """§6.3 without waiting: the job is done as soon as there is a memory, and improves it later."""
    clock, model = Clock(), NoSummaries()
    with service(settings, clock, model=model, job_plans=job_plans("excerpt")) as (server, api):
        session = talk(api, api.persona(**HANA), clock, "내일 중요한 면접이 있어")
        job = api.call("POST", f"/sessions/{session}/close", 202)["jobId"]
        for origin, away in (("excerpt", True), ("summary", False)):
            model.away = away
            work(server, clock)
            found = api.get(f"/jobs/{job}")["job"]
            assert found["status"] == "done"
            assert api.get(f"/memory/{found['memoryId']}")["memory"]["origin"] == origin
            clock.advance(hours=1)


@pytest.mark.req("COMP-3")
def test_a_plan_without_an_excerpt_fails_and_keeps_the_messages(settings: Settings) -> None:
    """502; once the model is available again, the same request succeeds."""
    clock, model = Clock(), NoSummaries()
    with service(settings, clock, model=model, job_plans=job_plans("fail")) as (_, api):
        session = talk(api, api.persona(**HANA), clock, "내일 중요한 면접이 있어")
        failed = api.post(f"/sessions/{session}/close", {"wait": True}, 502)
        assert failed["error"] == "LLM_SUMMARY_FAILED"
        model.away = False
        clock.advance(hours=1)
        assert "면접" in api.post(f"/sessions/{session}/close", {"wait": True})["memory"]["summary"]


@pytest.mark.req("COMP-5")
def test_the_notice_of_a_background_summary_is_in_the_next_turn(settings: Settings) -> None:
    """An archived memory is announced once, in the language of the client."""
    clock = Clock()
    with service(settings, clock) as (server, api):
        persona = api.persona(**HANA)
        for number in range(5):
            api.memory(persona, f"{number}번째 이야기", topics=[f"주제{number}"], importance=2)
        session = talk(api, persona, clock, "내일 정말 중요한 면접이 있어서 너무 떨려")
        api.call("POST", f"/sessions/{session}/close", 202)
        work(server, clock)
        body = {"personaId": persona, "message": "나 왔어!"}
        assert api.post("/chat/send", body)["notices"] == [FULL, MORE]
        assert api.post("/chat/send", body)["notices"] == []
