"""Sessions and jobs over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gieok.app.background.worker import Worker
from gieok.plans import read_plan
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api


def start(api: Api, **fields: Any) -> str:
    """Start a session with a new persona. Returns its id."""
    return api.post("/sessions", {"personaId": api.persona(), **fields}, 201)["sessionId"]


def other_plan() -> dict[str, Any]:
    """A custom plan: the shipped one with a shorter window."""
    plan = json.loads(read_plan("chat_turn"))
    window = next(step for step in plan["steps"] if step["id"] == "window")
    window["metadata"]["recentMessages"] = 4
    return plan | {"name": "mine"}


def test_a_session_starts_with_the_loaded_memories(api: Api) -> None:
    persona = api.persona()
    memory = api.memory(persona, "면접을 앞둠")
    begun = api.post("/sessions", {"personaId": persona}, 201)
    assert begun["memories"] == [memory]
    session = api.get(f"/sessions/{begun['sessionId']}")
    assert session["messages"] == []
    assert session["session"] | {"startedAt": 0, "lastActivityAt": 0} == {
        "sessionId": begun["sessionId"],
        "personaId": persona,
        "startedAt": 0,
        "lastActivityAt": 0,
        "endedAt": None,
        "messageCount": 0,
        "lastExecutionPlanHash": begun["planHash"],
    }


@pytest.mark.req("SESS-4")
def test_messages_are_saved_once(api: Api) -> None:
    """A repeated id changes nothing, with another content it is 409. Without an id one is generated."""
    path = f"/sessions/{start(api)}/messages"
    said = {
        "id": "m1",
        "role": "user",
        "content": "요즘 스트레스 받아",
        "timestamp": "2025-10-27T12:00:00.5Z",
    }
    assert api.post(path, {"messages": [said]}) == {
        "success": True,
        "saved": 1,
        "messageCount": 1,
        "turnId": "m1",
        "remembering": None,
        "changes": [],
        "dropped": [],
    }
    unnamed = {"role": "assistant", "content": "무슨 일 있어?"}
    saved = api.post(path, {"messages": [said, unnamed]})
    assert (saved["saved"], saved["messageCount"], saved["remembering"]["status"]) == (1, 2, "queued")
    assert api.post(path, {"messages": [said | {"content": "다른 말"}]}, 409)["error"] == "CONFLICT"
    first, second = api.get(path.removesuffix("/messages"))["messages"]
    assert first == said | {"timestamp": "2025-10-27T12:00:00.500000Z"}
    assert second["id"]


@pytest.mark.req("ENG-9")
def test_a_session_keeps_its_plan(api: Api) -> None:
    """Resuming with another plan fails with both hashes. Moving it is a separate route."""
    session = start(api, plan="chat_turn_without_state")
    path = f"/sessions/{session}"
    before = api.get(path)["session"]["lastExecutionPlanHash"]
    assert api.post(f"{path}/resume", {"plan": "chat_turn_without_state"})["session"]["sessionId"] == session
    refused = api.post(f"{path}/resume", {"plan": "chat_turn"}, 409)
    assert (refused["error"], refused["expected"]) == ("PLAN_HASH_MISMATCH", before)
    moved = api.post(f"{path}/plan", {"plan": "chat_turn"})
    assert moved["move"]["fromHash"] == before
    assert moved["move"]["toHash"] == moved["session"]["lastExecutionPlanHash"] == refused["actual"]
    assert api.post(f"{path}/resume", {"plan": "chat_turn"})["session"]["sessionId"] == session


def test_a_custom_plan_may_be_sent(api: Api) -> None:
    """An invalid one is refused with the place, before anything is stored."""
    assert api.post("/sessions", {"personaId": api.persona(), "plan": other_plan()}, 201)["planHash"]
    broken = other_plan()
    broken["steps"][2]["stage"] = "Nowhere"
    refused = api.post("/sessions", {"personaId": api.persona(), "plan": broken}, 422)
    assert (refused["error"], refused["at"]) == ("PLAN_INVALID", "steps[2].stage")


@pytest.mark.parametrize("plan", ["/etc/passwd", "../plans/chat_turn.json", "nothing", ""])
def test_a_plan_cannot_be_a_file_path(api: Api, plan: str) -> None:
    refused = api.post("/sessions", {"personaId": api.persona(), "plan": plan}, 422)
    assert (refused["error"], refused["at"]) == ("PLAN_INVALID", "plan")
    assert "passwd" not in refused["message"]


@pytest.mark.req("MIND-11")
def test_closing_a_session_of_small_talk_creates_no_memory(api: Api) -> None:
    persona = api.persona()
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    path = f"/sessions/{session}"
    said = [{"role": "user", "content": "안녕!"}, {"role": "assistant", "content": "안녕! 잘 지냈어?"}]
    api.post(f"{path}/messages", {"messages": [*said, {"role": "user", "content": "그냥 그래 ㅋㅋ"}]})
    assert api.post(f"{path}/close", {"wait": True})["memory"] is None
    assert api.get(f"/memory/list?personaId={persona}")["total"] == 0
    again = api.post("/memory/summarize", {"sessionId": session, "personaId": persona})
    assert again["memory"] is None


@pytest.mark.req("COMP-1", "SESS-2")
def test_closing_creates_a_memory(api: Api) -> None:
    """With `wait` it is in the answer, null if nothing is left to summarise. The session has ended then."""
    session = start(api)
    path = f"/sessions/{session}"
    api.post(f"{path}/messages", {"messages": [{"role": "user", "content": "내일 중요한 면접이 있어"}]})
    closed = api.post(f"{path}/close", {"wait": True})
    assert "면접" in closed["memory"]["summary"]
    assert api.post(f"{path}/close", {"wait": True})["memory"] is None
    after = api.get(path)
    assert after["session"]["endedAt"] is not None
    assert after["messages"] == []
    again = api.post(f"{path}/messages", {"messages": [{"role": "user", "content": "또"}]}, 409)
    assert again["error"] == "SESSION_ENDED"


def test_closing_without_waiting_returns_a_job(shared: Server, api: Api) -> None:
    """202 with the job, whose status has the created memory. No body means no waiting."""
    session = start(api)
    api.post(f"/sessions/{session}/messages", {"messages": [{"role": "user", "content": "내일 면접이 있어"}]})
    closed = api.call("POST", f"/sessions/{session}/close", 202)
    assert closed["jobIds"] == [closed["jobId"]]
    job = api.get(f"/jobs/{closed['jobId']}")["job"]
    assert job == {"id": closed["jobId"], "kind": "summary", "status": "queued", "attempts": 0}
    worker = Worker(shared.gieok)
    while shared.run(worker.run_once(shared.gieok.engine.clock())):
        pass
    done = api.get(f"/jobs/{closed['jobId']}")["job"]
    assert done["status"] == "done"
    assert "면접" in api.get(f"/memory/{done['memoryId']}")["memory"]["summary"]


@pytest.mark.parametrize("name", ["nobody", "no%20body", "7f9c2ba4-e88f-4278-9f59-1d3a2b1c0d4e"])
def test_an_unknown_session_is_not_found(api: Api, name: str) -> None:
    path = f"/sessions/{name}"
    assert api.get(path, 404)["error"] == "NOT_FOUND"
    assert api.post(f"{path}/messages", {"messages": [{"role": "user", "content": "x"}]}, 404)
    assert api.post(f"{path}/resume", {"plan": "chat_turn"}, 404)
    assert api.post(f"{path}/plan", {"plan": "chat_turn"}, 404)
    assert api.post(f"{path}/close", {"wait": False}, 404)
    assert api.get(f"/jobs/{name}", 404)["error"] == "NOT_FOUND"


def test_a_session_needs_a_persona_that_exists(api: Api) -> None:
    assert api.post("/sessions", {"personaId": "nobody"}, 404)["error"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("path", "body", "at"),
    [
        ("messages", {"messages": []}, "messages"),
        ("messages", {"messages": [{"role": "user", "content": "x"}] * 201}, "messages"),
        ("messages", {"messages": [{"role": "user", "content": "x" * 20_001}]}, "messages[0].content"),
        (
            "messages",
            {"messages": [{"role": "user", "content": "x", "timestamp": "1969-12-31T23:59:59Z"}]},
            "messages[0].timestamp",
        ),
        ("resume", {}, "plan"),
        ("resume", {"plan": 7}, "plan"),
        ("close", {"wait": 1}, "wait"),
        ("close", {"now": True}, "now"),
    ],
)
def test_an_invalid_body_is_refused(api: Api, path: str, body: dict[str, Any], at: str) -> None:
    refused = api.post(f"/sessions/{start(api)}/{path}", body, 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.req("ENG-1", "ENG-9")
def test_closing_uses_the_close_plan_of_the_chat_plan(api: Api) -> None:
    """A session without summaries is not summarised, also if the client waits."""
    session = start(api, plan="chat_turn_without_summaries")
    api.post(
        "/chat/send",
        {
            "personaId": api.get(f"/sessions/{session}")["session"]["personaId"],
            "sessionId": session,
            "message": "오늘 면접 봤어",
        },
    )
    closed = api.post(f"/sessions/{session}/close", {}, 202)
    assert (closed["jobId"], closed["jobIds"]) == (None, [])
    assert api.post(f"/sessions/{session}/close", {"wait": True})["memory"] is None


@pytest.mark.req("COMP-10", "MIND-4", "ENG-10")
@pytest.mark.parametrize("source", ["call.text", "persona.name"])
def test_a_plan_that_stores_other_words_as_the_users_is_invalid(api: Api, source: str) -> None:
    """Else the words of a model could be remembered as what the user has said."""
    plan = json.loads(read_plan("chat_turn"))
    number = next(i for i, step in enumerate(plan["steps"]) if step["type"] == "AppendTurn")
    plan["steps"][number]["inputs"]["message"] = source
    body = {"personaId": api.persona(), "message": "안녕", "plan": plan}
    refused = api.post("/chat/send", body, 422)
    assert (refused["error"], refused["at"]) == ("PLAN_INVALID", f"steps[{number}].inputs.message")


@pytest.mark.req("TURN-1", "TURN-3", "ENG-10")
def test_a_plan_that_stores_the_message_as_its_summary_is_invalid(api: Api) -> None:
    plan = json.loads(read_plan("chat_turn_whole"))
    number = next(i for i, step in enumerate(plan["steps"]) if step["type"] == "PersistMemory")
    plan["steps"][number]["inputs"]["items"] = "request.message"
    body = {"personaId": api.persona(), "message": "안녕", "plan": plan}
    refused = api.post("/chat/send", body, 422)
    assert (refused["error"], refused["at"]) == ("PLAN_INVALID", f"steps[{number}].inputs.items")
