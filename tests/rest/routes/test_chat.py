"""Chat over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest.routes.conftest import Api
from tests.rest.routes.test_sessions import other_plan

INTERVIEW = "내일 중요한 면접이 있어"


def test_a_turn_answers_with_what_it_was_based_on(api: Api) -> None:
    """The reply, recalled memories with reasons, the state and its changes, the plan and the token usage."""
    persona = api.persona()
    memory = api.memory(persona, "사용자가 IT 스타트업 면접을 앞두고 있음", topics=["면접"])
    api.call(
        "PUT",
        f"/personas/{persona}/state",
        json={"category": "GOAL", "key": "취업", "value": "스타트업 입사"},
    )
    turn = api.post("/chat/send", {"personaId": persona, "message": "면접 준비가 힘들어"})
    assert turn["reply"]
    (recalled,) = turn["recalled"]
    assert (recalled["id"], recalled["summary"]) == (memory["id"], memory["summary"])
    assert recalled["timestamp"] == memory["occurredAt"]
    assert "면접" in "".join(recalled["why"]["matchedWords"])
    assert turn["state"] == [
        {"category": "GOAL", "key": "취업", "value": "스타트업 입사", "when": None, "until": None}
    ]
    assert set(turn["usage"]) == {"inputTokens", "outputTokens"}
    assert (turn["notices"], turn["summaryJobs"], "memory" in turn) == ([], [], False)
    session = api.get(f"/sessions/{turn['sessionId']}")
    assert session["session"]["lastExecutionPlanHash"] == turn["planHash"]
    assert [(each["role"], each["content"]) for each in session["messages"]] == [
        ("user", "면접 준비가 힘들어"),
        ("assistant", turn["reply"]),
    ]


def test_a_message_without_a_session_continues_the_open_one(api: Api) -> None:
    persona = api.persona()
    body = {"personaId": persona, "message": INTERVIEW}
    first = api.post("/chat/send", body)
    assert api.post("/chat/send", body)["sessionId"] == first["sessionId"]
    streamed = api.http.post("/api/v1/chat/send", json={**body, "stream": True})
    assert f'"sessionId":"{first["sessionId"]}"' in streamed.text
    second = api.post("/chat/send", {**body, "newSession": True})
    assert second["sessionId"] != first["sessionId"]
    both = {**body, "newSession": True, "sessionId": first["sessionId"]}
    assert api.post("/chat/send", both, 422)["at"] == "newSession"


@pytest.mark.parametrize("by", ["key", "messageId"])
def test_a_repeated_message_gets_the_same_answer(api: Api, by: str) -> None:
    """Another body under the same key, or another text under the same id, is a conflict."""
    persona = api.persona()
    headers: dict[str, Any] = {"Idempotency-Key": "k1"} if by == "key" else {}
    body = {"personaId": persona, "message": INTERVIEW} | ({} if by == "key" else {"messageId": "m1"})
    first = api.post("/chat/send", body, **headers)
    assert api.post("/chat/send", body, **headers) == first
    assert api.post("/chat/send", {**body, "message": "안녕"}, 409, **headers)["error"] == "CONFLICT"
    messages = api.get(f"/sessions/{first['sessionId']}/messages")["messages"]
    assert [each["content"] for each in messages] == [INTERVIEW, first["reply"]]


@pytest.mark.req("CANON-7")
def test_a_turn_lists_its_changes(api: Api) -> None:
    persona = api.persona()
    turn = api.post(
        "/chat/send", {"personaId": persona, "message": "나 부산으로 이사했어", "waitMemory": True}
    )
    assert turn["remembering"]["status"] == "done"
    changed = [change["fact"]["value"] for change in turn["changes"]]
    assert any("부산" in value for value in changed)


@pytest.mark.req("SESS-3")
def test_a_client_may_send_its_own_window(api: Api) -> None:
    """Its messages are used and not stored. Complete messages are accepted too."""
    recent = [
        {"role": "user", "content": "요즘 스트레스 받아"},
        {"id": "m2", "role": "assistant", "content": "무슨 일 있어?", "timestamp": "2025-10-27T12:00:00Z"},
    ]
    body = {"personaId": api.persona(), "message": "회사 일이 많아", "context": {"recentMessages": recent}}
    session = api.post("/chat/send", body)["sessionId"]
    assert api.get(f"/sessions/{session}")["session"]["messageCount"] == 2


def test_a_session_is_continued(api: Api) -> None:
    persona = api.persona()
    first = api.post("/chat/send", {"personaId": persona, "message": INTERVIEW})
    body = {"personaId": persona, "message": "떨려", "sessionId": first["sessionId"]}
    assert api.post("/chat/send", body)["sessionId"] == first["sessionId"]
    assert api.get(f"/sessions/{first['sessionId']}")["session"]["messageCount"] == 4


def test_a_session_is_continued_with_its_own_plan(api: Api) -> None:
    """A shipped plan is found by its hash. A custom plan must be sent again, else it is a mismatch."""
    persona = api.persona()
    shipped = api.post("/sessions", {"personaId": persona, "plan": "chat_turn_without_state"}, 201)
    body = {"personaId": persona, "message": INTERVIEW, "sessionId": shipped["sessionId"]}
    assert api.post("/chat/send", body)["planHash"] == shipped["planHash"]
    assert api.post("/chat/send", body | {"plan": "chat_turn"}, 409)["error"] == "PLAN_HASH_MISMATCH"
    own = api.post("/sessions", {"personaId": persona, "plan": other_plan()}, 201)
    body |= {"sessionId": own["sessionId"]}
    refused = api.post("/chat/send", body, 409)
    assert (refused["error"], refused["expected"]) == ("PLAN_HASH_MISMATCH", own["planHash"])
    assert api.post("/chat/send", body | {"plan": other_plan()})["planHash"] == own["planHash"]


def test_chat_needs_an_existing_persona_and_an_open_session(api: Api) -> None:
    """An unknown persona is 404. A session of another persona, or one that has ended, is 409."""
    persona = api.persona()
    body = {"personaId": persona, "message": INTERVIEW}
    assert api.post("/chat/send", body | {"sessionId": "nobody"}, 404)["error"] == "NOT_FOUND"
    assert api.post("/chat/send", body | {"personaId": "nobody"}, 404)["error"] == "NOT_FOUND"
    session = api.post("/chat/send", body)["sessionId"]
    other = body | {"sessionId": session, "personaId": api.persona("미나")}
    assert api.post("/chat/send", other, 409)["error"] == "CONFLICT"
    api.post(f"/sessions/{session}/close", {"wait": True})
    assert api.post("/chat/send", body | {"sessionId": session}, 409)["error"] == "SESSION_ENDED"


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"message": ""}, "message"),
        ({"message": "   "}, "message"),
        ({"message": "x" * 20_001}, "message"),
        ({"message": 5}, "message"),
        ({"stream": "yes"}, "stream"),
        ({"sessionId": ""}, "sessionId"),
        ({"context": {"recentMessages": [{"role": "user"}]}}, "context.recentMessages[0].content"),
        ({"context": {"messages": []}}, "context.messages"),
        ({"accountPlan": "premium"}, "accountPlan"),
        ({"plan": "delete_memory"}, "request.memoryId"),
    ],
)
def test_an_invalid_message_is_refused(api: Api, change: dict[str, Any], at: str) -> None:
    """A plan that is not a chat plan too. No field can set the account plan."""
    refused = api.post("/chat/send", {"personaId": api.persona(), "message": "안녕"} | change, 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)
