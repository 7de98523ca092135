"""Tools of the client: they reach the model untouched, and a turn is stored once its reply is complete."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls

from gieok import Settings
from gieok.adapters.models.remote.model import RemoteModel
from gieok.memory.conversation.records import Prompt, Reply, ToolCall
from gieok.testing.clock import Clock
from tests.models.scripted import FinishingModel
from tests.openai.conftest import Chat, Numbered
from tests.rest.conftest import GENEROUS, Server, serving

pytestmark = pytest.mark.req("INT-1")

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather", "parameters": PARAMETERS},
}
CALL = {"id": "call-1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Busan"}'}}
RESULT = {"role": "tool", "tool_call_id": "call-1", "content": "rain"}


class Calling(Numbered):
    """Asks for a tool once, then replies with its result."""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        if prompt.tool_use is None:
            return await super().reply(prompt, emit)
        self.prompts.append(prompt)
        if not prompt.tool_use.steps:
            call = ToolCall(id="call-1", name="weather", arguments='{"city": "Busan"}')
            return Reply(text="", tool_calls=(call,), input_tokens=1, output_tokens=1)
        result = prompt.tool_use.steps[-1].calls[0].result
        return Reply(text=f"{len(self.prompts)}: {result}", input_tokens=1, output_tokens=1)


@pytest.fixture
def model() -> Calling:
    return Calling()


@pytest.fixture
def server(settings: Settings, model: Calling, clock: Clock) -> Iterator[Server]:
    with serving(settings, GENEROUS, model=model, clock=clock) as running:
        yield running


def stored(chat: Chat) -> list[list[str]]:
    """What each session holds."""
    sessions = chat.http.get("/api/v1/sessions").json()["sessions"]
    logs = [chat.http.get(f"/api/v1/sessions/{each['sessionId']}/messages").json() for each in sessions]
    return [[each["content"] for each in log["messages"] if "withdrawnAt" not in each] for log in logs]


def test_a_turn_with_a_tool_is_stored_with_its_reply(chat: Chat, model: Calling) -> None:
    chat.messages = [{"role": "user", "content": "날씨 어때?"}]
    asked = chat.post(tools=[TOOL])
    assert asked.status_code == 200, asked.text
    (choice,) = asked.json()["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", None)
    assert choice["message"]["tool_calls"] == [CALL]
    assert (asked.headers["x-gieok-memory"], stored(chat)) == ("off", [])
    tool_use = model.prompts[-1].tool_use
    assert tool_use is not None
    assert (tool_use.tools[0].name, tool_use.tools[0].parameters) == ("weather", PARAMETERS)

    chat.messages += [choice["message"], RESULT]
    for number in (2, 3):  # the second is a swipe
        answer = chat.post(tools=[TOOL])
        assert answer.json()["choices"][0]["message"]["content"] == f"{number}: rain"
        assert answer.headers["x-gieok-memory"] == "queued"
        assert stored(chat) == [["날씨 어때?", f"{number}: rain"]]
    chat.messages.append(answer.json()["choices"][0]["message"])
    chat.say("고마워")
    (log,) = stored(chat)
    assert log[:3] == ["날씨 어때?", "3: rain", "고마워"]


def test_a_stream_with_tool_calls(chat: Chat) -> None:
    chat.messages = [{"role": "user", "content": "날씨 어때?"}]
    lines = chat.post(tools=[TOOL], stream=True).text.split("\n\n")
    choice = json.loads(lines[0].removeprefix("data: "))["choices"][0]
    assert (choice["finish_reason"], lines[1]) == ("tool_calls", "data: [DONE]")
    assert choice["delta"] == {"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}
    chat.messages += [{"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT]
    first, last, *_ = chat.post(tools=[TOOL], stream=True).text.split("\n\n")
    assert json.loads(first.removeprefix("data: "))["choices"][0]["delta"]["content"] == "2: rain"
    assert json.loads(last.removeprefix("data: "))["choices"][0]["finish_reason"] == "stop"
    assert stored(chat) == [["날씨 어때?", "2: rain"]]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [{"type": "custom"}]}, "tools[0].type"),
        ({"tools": [TOOL], "tool_choice": {"function": {"name": "x"}}}, "tool_choice"),
        ({"messages": [{"role": "user", "content": "x"}, RESULT]}, "messages.1.tool_call_id"),
    ],
    ids=["another kind of tool", "an unknown choice", "a result without a call"],
)
def test_bad_tools_are_refused(chat: Chat, fields: dict[str, Any], param: str) -> None:
    chat.messages = [{"role": "user", "content": "x"}]
    answer = chat.post(**fields)
    assert (answer.status_code, answer.json()["error"]["param"]) == (422, param)


def test_no_tool_is_offered_with_the_choice_none(chat: Chat, model: Calling) -> None:
    chat.messages = [{"role": "user", "content": "안녕"}]
    assert chat.post(tools=[TOOL], tool_choice="none").json()["choices"][0]["finish_reason"] == "stop"
    assert model.prompts[-1].tool_use is None


def test_a_provider_gets_the_tools_and_their_results(settings: Settings) -> None:
    seen: list[tuple[list[ModelMessage], AgentInfo]] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        seen.append((messages, info))
        if len(seen) == 1:
            yield {0: DeltaToolCall("weather", '{"city": "Busan"}', tool_call_id="call-1")}
        else:
            yield "It rains."

    remote = RemoteModel(FinishingModel(stream_function=stream), "test:tools", native_output=False)
    with serving(settings, GENEROUS, model=remote, background=False) as server, server.client() as http:
        made = http.post("/api/v1/personas", json={"name": "Hana"}).json()
        chat = Chat(server, http, made["persona"]["id"])
        chat.messages = [{"role": "user", "content": "How is the weather?"}]
        message = chat.post(tools=[TOOL], tool_choice="required").json()["choices"][0]["message"]
        assert message["tool_calls"] == [CALL]
        chat.messages += [message, RESULT]
        assert chat.post(tools=[TOOL]).json()["choices"][0]["message"]["content"] == "It rains."
    (_, info), (messages, _) = seen
    assert [(each.name, each.parameters_json_schema) for each in info.function_tools] == [
        ("weather", PARAMETERS)
    ]
    assert (info.model_settings or {}).get("tool_choice") == "required"
    response, request = messages[-2:]
    assert isinstance(response, ModelResponse)
    assert [each.tool_name for each in response.parts if isinstance(each, ToolCallPart)] == ["weather"]
    assert [each.content for each in request.parts if isinstance(each, ToolReturnPart)] == ["rain"]
