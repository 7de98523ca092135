"""`GieokMemory` in a real pydantic-ai agent, with its test models."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from gieok import Gieok, MemoryDraft, PersonaDraft
from gieok.errors import NotFound
from gieok.interfaces.agents.pydantic_ai import GieokMemory

NORA = PersonaDraft(name="Nora", language="en", system_prompt="You are Nora, a friend who listens.")


@pytest.fixture
async def memory(gieok: Gieok) -> GieokMemory:
    user = gieok.user("mina")
    await user.personas.create(NORA, persona_id="nora")
    return GieokMemory(user, "nora")


def replying(text: str, seen: list[str]) -> FunctionModel:
    """A model that notes its instructions and replies with this text."""

    def reply(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info.instructions or "")
        return ModelResponse([TextPart(text)])

    return FunctionModel(reply)


async def test_a_run_recalls_and_is_remembered(memory: GieokMemory) -> None:
    """What was said in one run stands in the instructions of the next one."""
    seen: list[str] = []
    agent = Agent(replying("Good luck!", seen), capabilities=[memory])
    await agent.run("I live in Busan and have a job interview tomorrow")
    assert "You are Nora" in seen[0]
    session = await memory.user.chat.open_session("nora")
    assert session is not None
    log = await memory.user.sessions.log_page(session.session_ref)
    assert [(each.role, each.content) for each in log.messages] == [
        ("user", "I live in Busan and have a job interview tomorrow"),
        ("assistant", "Good luck!"),
    ]
    await memory.user.sessions.close(session.session_ref, wait=True)
    await agent.run("When is my interview?")
    assert "job interview tomorrow" in seen[1]


async def test_a_run_without_history_gets_the_last_messages(memory: GieokMemory) -> None:
    """A run with `message_history` has them already. They stay the same for all requests of a run."""
    seen: list[str] = []
    agent = Agent(replying("Good luck!", seen), capabilities=[memory])
    first = await agent.run("My [code] word is quokka")
    assert "quokka" not in seen[0]
    await agent.run("Hello again")
    earlier = r"[Earlier in this conversation]\nuser: My \[code\] word is quokka\nassistant: Good luck!"
    assert seen[1].endswith(earlier.replace(r"\n", "\n"))
    await agent.run("And again", message_history=first.all_messages())
    assert "Earlier in this conversation" not in seen[2]


async def test_the_tools_search_and_add_memories(memory: GieokMemory) -> None:
    draft = MemoryDraft(persona_id="nora", summary="The user makes kimchi with an aunt.")
    await memory.user.companion.create(draft)
    returned: list[Any] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {tool.name for tool in info.function_tools} == {"recall", "remember"}
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            returned.append(last.content)
            if last.tool_name == "remember":
                return ModelResponse([TextPart("done")])
            return ModelResponse([ToolCallPart("remember", {"text": "The user likes long walks."})])
        return ModelResponse([ToolCallPart("recall", {"query": "김치"})])

    await Agent(FunctionModel(model), capabilities=[memory]).run("Hello")
    (hit,) = returned[0]
    assert (hit["kind"], hit["text"], hit["matchedWords"]) == (
        "memory",
        "The user makes kimchi with an aunt.",
        ["김치"],
    )
    found = await memory.user.companion.search("nora", "walk")
    assert [each.text for each in found][:1] == ["The user likes long walks."]


async def test_nothing_is_saved_of_a_run_that_fails_or_if_not_wanted(memory: GieokMemory) -> None:
    def fail(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await Agent(FunctionModel(fail), capabilities=[memory]).run("I live in Busan")
    quiet = GieokMemory(memory.user, "nora", saves=False)
    await Agent(replying("Hi", []), capabilities=[quiet]).run("I live in Busan")
    assert await memory.user.chat.open_session("nora") is None


async def test_an_unknown_persona_fails_the_run(gieok: Gieok) -> None:
    agent = Agent(replying("Hi", []), capabilities=[GieokMemory(gieok.user("mina"), "nobody")])
    with pytest.raises(NotFound):
        await agent.run("Hello")
