"""Chat completions: a client that resends its conversation, and what is stored of it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from gieok.engine import Stage
from gieok.plans import load_plan
from gieok.testing.clock import Clock
from tests.openai.conftest import Chat, Numbered
from tests.rest.conftest import Server
from tests.sessions.test_withdrawal import BUSAN, SEOUL

pytestmark = pytest.mark.req("INT-1")


def log(chat: Chat, session: str) -> list[tuple[str, str]]:
    """What the session holds, without withdrawn messages."""
    found = chat.http.get(f"/api/v1/sessions/{session}/messages").json()["messages"]
    return [(each["role"], each["content"]) for each in found if "withdrawnAt" not in each]


def sessions(chat: Chat) -> list[str]:
    """The sessions with the persona, newest first."""
    found = chat.http.get("/api/v1/sessions", params={"personaId": chat.persona}).json()["sessions"]
    return [each["sessionId"] for each in found]


def facts(chat: Chat) -> list[str]:
    """The facts that are known, once everything is remembered."""
    chat.server.run(chat.server.gieok.user("ana").jobs.catch_up(chat.persona))
    found = chat.http.get(f"/api/v1/personas/{chat.persona}/state").json()
    return [each["value"] for each in (*found["facts"], *found["ordinary"])]


def test_a_conversation_is_one_session(chat: Chat) -> None:
    first = chat.say("안녕")
    body = first.json()
    assert (body["object"], body["model"]) == ("chat.completion", f"gieok/{chat.persona}")
    (choice,) = body["choices"]
    assert (choice["message"]["role"], choice["finish_reason"]) == ("assistant", "stop")
    assert (
        body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]
    )
    assert first.headers["x-gieok-memory"] == "queued"
    session = first.headers["x-gieok-session"]
    second = chat.say("오늘 힘들었어")
    assert second.headers["x-gieok-session"] == session
    assert second.headers["x-gieok-turn"] != first.headers["x-gieok-turn"]
    assert log(chat, session) == [(each["role"], each["content"]) for each in chat.messages]


def test_another_reply_leaves_one_turn_and_one_set_of_facts(chat: Chat) -> None:
    chat.say("안녕")
    former = chat.say(BUSAN)
    assert facts(chat) == ["부산"]
    for _ in range(3):
        again = chat.again()
        assert again.headers["x-gieok-session"] == former.headers["x-gieok-session"]
        assert again.json()["choices"] != former.json()["choices"]
    assert log(chat, sessions(chat)[0]) == [(each["role"], each["content"]) for each in chat.messages]
    assert len(sessions(chat)) == 1
    assert facts(chat) == ["부산"]


def test_an_edited_message_withdraws_the_turns_after_it(chat: Chat) -> None:
    chat.say("안녕")
    chat.say(BUSAN)
    chat.say("거기 바다가 좋아")
    assert facts(chat) == ["부산"]
    chat.messages = chat.messages[:2]
    edited = chat.say(SEOUL)
    assert log(chat, edited.headers["x-gieok-session"]) == [(m["role"], m["content"]) for m in chat.messages]
    assert facts(chat) == ["서울"]
    assert len(sessions(chat)) == 1


def test_a_trimmed_window_with_a_greeting_continues(chat: Chat, model: Numbered) -> None:
    chat.messages.append({"role": "assistant", "content": "어서 와!"})
    session = chat.say("안녕").headers["x-gieok-session"]
    assert [each.content for each in model.prompts[-1].messages] == ["어서 와!", "안녕"]
    chat.say("나 왔어")
    chat.messages = chat.messages[3:]
    assert chat.say("잘 지냈어?").headers["x-gieok-session"] == session
    assert [role for role, _ in log(chat, session)] == ["user", "assistant"] * 3


def test_two_chats_with_the_same_beginning_do_not_disturb_each_other(chat: Chat) -> None:
    other = Chat(chat.server, chat.http, chat.persona)
    chat.say("안녕")
    chat.say("첫째 이야기")
    other.say("안녕")
    other.say("둘째 이야기")
    for each, message in ((chat, "계속할게"), (other, "나도")):
        session = each.say(message).headers["x-gieok-session"]
        assert log(each, session) == [(m["role"], m["content"]) for m in each.messages]


def test_a_new_chat_on_another_day_recalls_the_first(chat: Chat, clock: Clock, model: Numbered) -> None:
    day1 = chat.say(BUSAN).headers["x-gieok-session"]
    assert facts(chat) == ["부산"]
    clock.advance(days=1)
    chat.messages = []
    day2 = chat.say("내가 어디 사는지 기억해?")
    assert day2.headers["x-gieok-session"] != day1
    assert "부산" in model.prompts[-1].system


def test_a_chat_that_goes_on_after_its_session_has_ended(chat: Chat, clock: Clock) -> None:
    """The conversation continues in a new session; another reply leaves one turn, in whichever session."""
    chat.say("안녕")
    day1 = chat.say(BUSAN).headers["x-gieok-session"]
    clock.advance(days=1)
    swiped = chat.again().headers["x-gieok-session"]
    assert swiped != day1
    assert len(log(chat, day1)) == 2
    assert log(chat, swiped) == [(m["role"], m["content"]) for m in chat.messages[2:]]
    assert facts(chat) == ["부산"]
    assert chat.say("다음 이야기").headers["x-gieok-session"] == swiped


def test_memory_off_stores_nothing_and_still_recalls(chat: Chat, model: Numbered) -> None:
    chat.say(BUSAN)
    assert facts(chat) == ["부산"]
    before = log(chat, sessions(chat)[0])
    secret = chat.say("이건 비밀이야", **{"X-Gieok-Memory": "off"})
    assert secret.headers["x-gieok-memory"] == "off"
    assert "x-gieok-turn" not in secret.headers
    assert "부산" in model.prompts[-1].system
    assert (len(sessions(chat)), log(chat, sessions(chat)[0])) == (1, before)


def test_an_instruction_after_the_last_reply_is_answered_and_not_stored(chat: Chat, model: Numbered) -> None:
    """Buttons such as `continue` and `summarise` of a client are not what the user said."""
    chat.say("안녕")
    chat.messages.append({"role": "system", "content": "[Continue your last message.]"})
    answer = chat.post()
    assert answer.headers["x-gieok-memory"] == "off"
    assert model.prompts[-1].messages[-1].content == "[Continue your last message.]"
    assert len(log(chat, sessions(chat)[0])) == 2


def test_the_clients_system_messages_are_added_to_the_persona(chat: Chat, model: Numbered) -> None:
    chat.messages = [
        {"role": "system", "content": "Answer in one line."},
        {"role": "user", "content": [{"type": "text", "text": "안녕"}]},
        {"role": "developer", "content": "Be kind."},
    ]
    assert chat.post().status_code == 200
    system = model.prompts[-1].system
    assert system.index("너는 하나야.") < system.index("Answer in one line.") < system.index("Be kind.")
    assert log(chat, sessions(chat)[0])[0] == ("user", "안녕")


def test_the_persona_may_be_in_a_header(chat: Chat) -> None:
    chat.messages = [{"role": "user", "content": "안녕"}]
    answer = chat.post(model="gpt-4o", headers={"X-Gieok-Persona": chat.persona})
    assert (answer.status_code, answer.json()["model"]) == (200, "gpt-4o")
    assert len(sessions(chat)) == 1


def test_a_reply_that_is_not_stored_reads_as_a_turn_does() -> None:
    """The plan has the same steps before the model as `load_context`, with the same metadata."""
    stages = (Stage.CONTEXT_SELECT, Stage.PROMPT_ASSEMBLE)
    own, other = (
        [(each.id, each.type, each.metadata) for each in load_plan(name).steps if each.stage in stages]
        for name in ("reply_only", "load_context")
    )
    assert own[1:] == other


def test_a_repeated_idempotency_key_gets_the_same_answer(chat: Chat) -> None:
    chat.messages = [{"role": "user", "content": "안녕"}]
    first, second = (chat.post(headers={"Idempotency-Key": "k1"}) for _ in range(2))
    assert first.json()["choices"] == second.json()["choices"]
    assert first.headers["x-gieok-turn"] == second.headers["x-gieok-turn"]
    assert len(log(chat, sessions(chat)[0])) == 2


def streamed(chat: Chat, **fields: Any) -> tuple[httpx.Headers, list[str]]:
    """The headers of a stream, and its data."""
    answer = chat.post(stream=True, **fields)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (
        200,
        "text/event-stream",
    )
    return answer.headers, [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line]


def test_a_stream_ends_with_done(chat: Chat) -> None:
    chat.messages = [{"role": "user", "content": "안녕"}]
    headers, lines = streamed(chat)
    chunks = [json.loads(line) for line in lines[:-1]]
    assert lines[-1] == "[DONE]"
    assert {each["object"] for each in chunks} == {"chat.completion.chunk"}
    assert len({each["id"] for each in chunks}) == 1
    text = "".join(each["choices"][0]["delta"].get("content", "") for each in chunks)
    assert (chunks[0]["choices"][0]["delta"]["role"], chunks[-1]["choices"][0]["finish_reason"]) == (
        "assistant",
        "stop",
    )
    assert log(chat, headers["x-gieok-session"]) == [("user", "안녕"), ("assistant", text)]
    assert headers["x-gieok-memory"] == "queued"
    again, _ = streamed(chat)
    assert again["x-gieok-session"] == headers["x-gieok-session"]
    assert len(log(chat, headers["x-gieok-session"])) == 2


def test_a_stream_with_usage(chat: Chat) -> None:
    chat.messages = [{"role": "user", "content": "안녕"}]
    _, lines = streamed(chat, stream_options={"include_usage": True})
    last = json.loads(lines[-2])
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 2)


def test_models_are_the_personas(server: Server, chat: Chat) -> None:
    listed = chat.http.get("/v1/models").json()
    assert [each["id"] for each in listed["data"]] == [f"gieok/{chat.persona}"]
    assert chat.http.get(f"/v1/models/gieok%2F{chat.persona}").json() == listed["data"][0]
    with server.client("someone-else") as other:
        assert other.get("/v1/models").json()["data"] == []


USER = {"role": "user", "content": "x"}
REFUSED: list[tuple[str, dict[str, Any], int, str | None]] = [
    ("no messages", {"messages": []}, 422, "messages"),
    ("ends with a reply", {"messages": [USER, {"role": "assistant", "content": "y"}]}, 422, "messages"),
    ("only a system message", {"messages": [{"role": "system", "content": "y"}]}, 422, "messages"),
    ("an unknown role", {"messages": [{"role": "robot", "content": "y"}]}, 422, "messages[0].role"),
    (
        "a picture",
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
        422,
        "messages.0.content.0",
    ),
    ("several replies", {"messages": [USER], "n": 2}, 422, "n"),
    ("JSON", {"messages": [USER], "response_format": {"type": "json_object"}}, 422, "response_format"),
    ("too long", {"messages": [{"role": "user", "content": "x" * 200_000}]}, 422, "message"),
    ("too large", {"messages": [{"role": "user", "content": "x" * 2_000_000}]}, 413, None),
    ("another model", {"model": "gpt-4o", "messages": [USER]}, 404, None),
    ("an unknown persona", {"model": "gieok/unknown", "messages": [USER]}, 404, None),
    ("no persona", {"model": "gieok/", "messages": [USER]}, 404, None),
]


@pytest.mark.parametrize(
    ("fields", "status", "param"), [each[1:] for each in REFUSED], ids=[e[0] for e in REFUSED]
)
def test_errors_have_openais_form(chat: Chat, fields: dict[str, Any], status: int, param: str | None) -> None:
    answer = chat.post(**fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], set(error)) == (
        status,
        param,
        {"message", "type", "param", "code"},
    )
    assert sessions(chat) == []


def test_errors_before_and_after_a_route_have_openais_form(chat: Chat, server: Server) -> None:
    with server.client(None) as nobody:
        answer = nobody.post("/v1/chat/completions", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert chat.http.get("/v1/unknown").json()["error"]["code"] == "not_found"
    broken = chat.http.post("/v1/chat/completions", content="{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["type"]) == (422, "invalid_request_error")


def test_a_client_may_name_its_session_and_edit_its_first_message(chat: Chat) -> None:
    """Without a name, a changed first message starts a session, because nothing of the window matches."""
    session = chat.say(BUSAN).headers["x-gieok-session"]
    chat.say("거기 바다가 좋아")
    assert facts(chat) == ["부산"]
    chat.messages = []
    edited = chat.say(SEOUL, **{"X-Gieok-Session": session})
    assert edited.headers["x-gieok-session"] == session
    assert log(chat, session) == [(m["role"], m["content"]) for m in chat.messages]
    assert facts(chat) == ["서울"]
    chat.say("오늘 힘들었어", **{"X-Gieok-Session": session})
    assert log(chat, session) == [(m["role"], m["content"]) for m in chat.messages]
    assert sessions(chat) == [session]


def test_a_named_session_continues_where_nothing_matches(chat: Chat) -> None:
    session = chat.say("안녕").headers["x-gieok-session"]
    chat.messages = [{"role": "user", "content": "첫째"}, {"role": "assistant", "content": "그래"}]
    assert chat.say("둘째", **{"X-Gieok-Session": session}).headers["x-gieok-session"] == session
    assert [text for role, text in log(chat, session) if role == "user"] == ["안녕", "둘째"]


def test_a_session_of_another_persona_or_of_nobody_is_not_found(chat: Chat) -> None:
    session = chat.say("안녕").headers["x-gieok-session"]
    other = chat.http.post("/api/v1/personas", json={"name": "Nora"}).json()["persona"]["id"]
    chat.messages.append({"role": "user", "content": "또 안녕"})
    for persona, named in ((other, session), (chat.persona, "nothing")):
        answer = chat.post(model=f"gieok/{persona}", headers={"X-Gieok-Session": named})
        assert answer.status_code == 404, answer.text
        assert answer.json()["error"]["code"] == "not_found"
    assert len(log(chat, session)) == 2
