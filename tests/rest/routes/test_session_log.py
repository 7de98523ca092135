"""Listing sessions, reading their log, and deleting sessions and personas over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest.routes.conftest import Api


def talk(api: Api, persona: str, messages: int = 3) -> str:
    """A session with messages. Returns its id."""
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    said = [{"id": f"m{n}", "role": "user", "content": f"말 {n}"} for n in range(messages)]
    api.post(f"/sessions/{session}/messages", {"messages": said})
    return session


@pytest.mark.req("COMP-10")
def test_sessions_and_their_log_are_read_in_pages(api: Api) -> None:
    persona, other = api.persona(), api.persona("두리")
    sessions = {talk(api, persona) for _ in range(3)}
    elsewhere = talk(api, other)
    first = api.get("/sessions", personaId=persona, limit=2)
    rest = api.get("/sessions", personaId=persona, cursor=first["nextCursor"])
    assert {each["sessionId"] for each in first["sessions"] + rest["sessions"]} == sessions
    assert rest["nextCursor"] is None
    assert first["sessions"][0]["messageCount"] == 3
    assert len(api.get("/sessions")["sessions"]) == 4
    page = api.get(f"/sessions/{elsewhere}/messages", limit=2)
    last = api.get(f"/sessions/{elsewhere}/messages", cursor=page["nextCursor"])
    texts = [each["content"] for each in page["messages"] + last["messages"]]
    assert (texts, last["nextCursor"]) == (["말 0", "말 1", "말 2"], None)
    assert api.get("/sessions/unknown/messages", 404)["error"] == "NOT_FOUND"
    assert api.get("/sessions", 422, cursor="x")["at"] == "cursor"
    assert api.get(f"/sessions/{elsewhere}/messages", 422, limit=0)["at"] == "limit"


@pytest.mark.req("COMP-9", "COMP-10")
def test_a_session_is_deleted_alone_or_with_its_memories(api: Api) -> None:
    persona = api.persona()
    alone, whole = talk(api, persona), talk(api, persona)
    for session in (alone, whole):
        api.memory(persona, f"{session}의 기억", sessionId=session)
    assert api.call("DELETE", f"/sessions/{alone}")["deleted"] == {
        "messages": 3,
        "turnMemories": 0,
        "memories": 0,
        "facts": 0,
    }
    assert api.get(f"/sessions/{alone}", 404)["error"] == "NOT_FOUND"
    assert api.get("/memory/list", personaId=persona)["total"] == 2
    assert api.call("DELETE", f"/sessions/{whole}?cascade=true")["deleted"]["memories"] == 1
    assert api.get("/memory/list", personaId=persona)["total"] == 1
    assert api.call("DELETE", f"/sessions/{whole}", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("COMP-9")
def test_everything_that_belongs_to_a_persona_is_deleted_with_it(api: Api) -> None:
    persona, other = api.persona(), api.persona("두리")
    session = talk(api, persona)
    api.memory(persona, "기억")
    api.memory(other, "다른 기억")
    fact = {"category": "GOAL", "key": "취업", "value": "준비 중"}
    api.call("PUT", f"/personas/{persona}/state", json=fact)
    assert api.call("DELETE", f"/personas/{persona}")["deleted"] == {
        "memories": 1,
        "facts": 1,
        "sessions": 1,
        "messages": 3,
        "turnMemories": 0,
    }
    assert api.get(f"/personas/{persona}", 404)["error"] == "NOT_FOUND"
    assert api.get(f"/sessions/{session}", 404)["error"] == "NOT_FOUND"
    assert api.get("/memory/list")["total"] == 1
    assert api.call("DELETE", f"/personas/{persona}", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("MIND-12")
def test_a_turn_is_withdrawn(api: Api) -> None:
    persona = api.persona()
    first = api.post("/chat/send", {"personaId": persona, "message": "나 부산에 살아", "waitMemory": True})
    session = first["sessionId"]
    body = {"personaId": persona, "message": "나 서울로 이사했어", "sessionId": session, "waitMemory": True}
    second = api.post("/chat/send", body)
    withdrawn = api.call("DELETE", f"/sessions/{session}/turns/last")["withdrawn"]
    assert withdrawn == {"messages": 2, "facts": len(second["changes"]), "memories": 1}
    nothing = {"messages": 0, "facts": 0, "memories": 0}
    assert api.call("DELETE", f"/sessions/{session}/turns/{second['turnId']}")["withdrawn"] == nothing
    log = api.get(f"/sessions/{session}/messages")["messages"]
    assert ["withdrawnAt" in each for each in log] == [False, False, True, True]
    assert api.get(f"/sessions/{session}")["session"]["messageCount"] == 2
    assert api.call("DELETE", f"/sessions/{session}/turns/{first['turnId']}")["withdrawn"]["messages"] == 2
    for path in (f"{session}/turns/last", f"{session}/turns/unknown", "unknown/turns/last"):
        assert api.call("DELETE", f"/sessions/{path}", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("MIND-12")
def test_the_last_message_gets_another_reply(api: Api) -> None:
    persona = api.persona()
    first = api.post("/chat/send", {"personaId": persona, "message": "나 부산에 살아", "waitMemory": True})
    session = first["sessionId"]
    again = api.post("/chat/regenerate", {"sessionId": session, "waitMemory": True})
    assert (again["sessionId"], again["turnId"] != first["turnId"]) == (session, True)
    log = api.get(f"/sessions/{session}/messages")["messages"]
    assert ["withdrawnAt" in each for each in log] == [True, True, False, False]
    once: dict[str, Any] = {"Idempotency-Key": "k1"}
    repeated = [api.post("/chat/regenerate", {"sessionId": session}, **once) for _ in range(2)]
    assert repeated[0] == repeated[1]
    assert api.post("/chat/regenerate", {"sessionId": "other"}, 409, **once)["error"] == "CONFLICT"
    streamed = api.http.post("/api/v1/chat/regenerate", json={"sessionId": session, "stream": True})
    assert "event: token" in streamed.text
    assert "event: done" in streamed.text
    assert api.post("/chat/regenerate", {"sessionId": "unknown"}, 404)["error"] == "NOT_FOUND"
    api.post(f"/sessions/{session}/close", {}, 202)
    assert api.post("/chat/regenerate", {"sessionId": session}, 409)["error"] == "SESSION_ENDED"
