"""The page `chat`: a turn with and without a stream, what it shows beside it, undo and another reply."""

from __future__ import annotations

import json
import re
from uuid import uuid4

import pytest

from tests.console.conftest import Browser, text_of
from tests.rest.routes.conftest import Api


@pytest.fixture
def persona(api: Api) -> str:
    made = api.persona("하루")
    api.memory(made, "사용자가 내일 중요한 면접을 앞두고 있음", importance=8)
    return made


def say(browser: Browser, persona: str, message: str, status: int = 200, **fields: str) -> str:
    return browser.post(f"/chat/{persona}", {"message": message, **fields}, status).text


def messages_of(api: Api, persona: str) -> list[str]:
    (session,) = api.get("/sessions", personaId=persona)["sessions"]
    log = api.get(f"/sessions/{session['sessionId']}/messages")["messages"]
    return [each["content"] for each in log if "withdrawnAt" not in each]


def test_the_first_persona_is_chosen(browser: Browser, persona: str) -> None:
    answer = browser.http.get("/console/chat")
    assert answer.headers["location"] == f"/console/chat/{persona}"
    assert "Say something" in browser.get(f"/chat/{persona}")


def test_a_turn_shows_the_reply_and_what_it_recalled_and_learned(
    browser: Browser, api: Api, persona: str
) -> None:
    memory = api.get("/memory/list", personaId=persona)["memories"][0]["id"]
    assert f'data-hit="{memory}"' in say(browser, persona, "면접이 걱정돼")
    shown = text_of(say(browser, persona, "나 부산으로 이사했어"))
    for message in messages_of(api, persona):
        assert message in shown
    facts = api.get(f"/personas/{persona}/state")
    for fact in (*facts["facts"], *facts["ordinary"]):
        assert fact["value"] in shown
    assert facts["block"].splitlines()[0] in shown
    assert "Steps of this turn" in shown
    assert "RecallMemories" in shown


def test_the_bar_has_the_tokens_of_the_context(browser: Browser, api: Api, persona: str) -> None:
    made = api.post("/context", {"personaId": persona})
    page = browser.get(f"/chat/{persona}")
    drawn = dict(re.findall(r'data-part="(\w+)" data-tokens="(\d+)"', page))
    expected = {part["kind"]: str(part["tokens"]) for part in made["parts"] if part["tokens"]}
    assert {kind: tokens for kind, tokens in drawn.items() if tokens != "0"} == expected
    assert f"{made['tokens']:,} of {made['budget']:,}" in page


def test_sending_the_same_form_again_does_not_repeat_the_turn(
    browser: Browser, api: Api, persona: str
) -> None:
    message_id = str(uuid4())
    for _ in range(2):
        say(browser, persona, "안녕", message_id=message_id)
    assert len(messages_of(api, persona)) == 2


@pytest.mark.parametrize("message", ["", "   "])
def test_an_empty_message_is_refused_beside_its_field(browser: Browser, persona: str, message: str) -> None:
    assert 'id="error-message"' in say(browser, persona, message, 422)


def test_a_stream_has_the_reply_and_then_the_parts_of_the_page(
    browser: Browser, api: Api, persona: str
) -> None:
    answer = browser.post(f"/chat/{persona}/stream", {"message": "면접이 걱정돼"}, 200)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [
        (name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", answer.text)
    ]
    reply = "".join(data["text"] for name, data in events if name == "token")
    assert messages_of(api, persona) == ["면접이 걱정돼", reply]
    name, parts = events[-1]
    assert name == "done"
    assert reply in text_of(parts["log"])
    assert "data-hit" in parts["side"]
    assert 'name="message_id"' in parts["form"]


def test_undo_withdraws_the_last_turn(browser: Browser, api: Api, persona: str) -> None:
    page = say(browser, persona, "나 부산으로 이사했어")
    session = re.findall(r'name="session" value="([^"]+)"', page)[0]
    browser.post(f"/chat/{persona}/undo", {"session": session})
    assert messages_of(api, persona) == []
    assert api.get(f"/personas/{persona}/state")["ordinary"] == []


def test_another_reply_replaces_the_turn_once(browser: Browser, api: Api, persona: str) -> None:
    page = say(browser, persona, "면접이 걱정돼")
    session = re.findall(r'name="session" value="([^"]+)"', page)[0]
    fields = {"session": session, "once": str(uuid4())}
    for _ in range(2):  # reloading the page sends the form again
        browser.post(f"/chat/{persona}/regenerate", fields, 200)
    log = api.get(f"/sessions/{session}/messages")["messages"]
    assert [each["role"] for each in log] == ["user", "assistant"] * 2
    assert len(messages_of(api, persona)) == 2


def test_ending_the_conversation_makes_a_memory(browser: Browser, api: Api, persona: str) -> None:
    page = say(browser, persona, "내일 회사에서 큰 발표를 해")
    session = re.findall(r'name="session" value="([^"]+)"', page)[0]
    answer = browser.post(f"/chat/{persona}/close", {"session": session})
    assert answer.headers["location"].endswith("?done=closed")
    assert len(api.get("/memory/list", personaId=persona)["memories"]) == 2
