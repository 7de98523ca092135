"""`GieokSession` in the real OpenAI Agents SDK, with a scripted model instead of OpenAI's service."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gieok import Gieok
from gieok.interfaces.agents.openai import GieokSession
from tests.agents.page import printed

SAID = {"role": "user", "content": "내일 회사 면접이 있어"}
CALL = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "kimchi"}


@pytest.fixture
async def session(gieok: Gieok) -> GieokSession:
    return GieokSession(gieok.user("mina"), "s1")


async def test_items_are_returned_as_they_were_added(session: GieokSession) -> None:
    await session.add_items([SAID, CALL])
    await session.add_items([OUTPUT])
    assert await session.get_items() == [SAID, CALL, OUTPUT]
    assert await session.get_items(2) == [CALL, OUTPUT]
    assert await session.get_items(0) == []


async def test_long_histories_are_read_in_pages(session: GieokSession) -> None:
    items = [{"role": "user", "content": str(number)} for number in range(450)]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(301) == items[-301:]


async def test_the_latest_item_is_popped(session: GieokSession) -> None:
    await session.add_items([SAID, CALL])
    assert await session.pop_item() == CALL
    assert await session.pop_item() == SAID
    assert await session.pop_item() is None


async def test_clearing_a_session_leaves_the_others(gieok: Gieok, session: GieokSession) -> None:
    other = GieokSession(gieok.user("mina"), "s2")
    stranger = GieokSession(gieok.user("junho"), "s1")
    for each in (session, other, stranger):
        await each.add_items([SAID])
    await session.clear_session()
    assert await session.get_items() == []
    assert await other.get_items() == [SAID]
    assert await stranger.get_items() == [SAID]


async def test_items_are_found_by_their_words(gieok: Gieok, session: GieokSession) -> None:
    await session.add_items([SAID, CALL, OUTPUT])
    documents = gieok.user("mina").documents
    (said,) = await documents.search(("openai-agents",), "면접은 언제?")
    assert said.value["item"] == SAID
    (output,) = await documents.search(("openai-agents", "s1"), "김치")
    assert output.value["item"] == OUTPUT
    assert await documents.search(("openai-agents",), "add") == ()


def scripted(asked: list[Any]) -> Any:
    """A model of the SDK that notes what it is asked, and replies with its number."""
    agents: Any = pytest.importorskip("agents", reason="openai-agents is not installed: make adapters")
    responses: Any = pytest.importorskip("openai.types.responses", reason="openai is not installed")

    class Scripted(agents.models.interface.Model):
        async def get_response(self, *given: Any, **options: Any) -> Any:
            asked.append(options.get("input", given[1] if len(given) > 1 else None))
            said = f"reply {len(asked)}"
            text = responses.ResponseOutputText(text=said, type="output_text", annotations=[])
            message = responses.ResponseOutputMessage(
                id=f"m{len(asked)}", type="message", role="assistant", status="completed", content=[text]
            )
            return agents.ModelResponse(output=[message], usage=agents.Usage(), response_id=None)

        def stream_response(self, *_given: Any, **_options: Any) -> Any:
            raise NotImplementedError

    agents.set_tracing_disabled(True)
    return Scripted()


async def test_an_agent_continues_the_conversation(session: GieokSession) -> None:
    """Two runs of a real `Runner`: the second one gets what was said in the first one."""
    asked: list[Any] = []
    model = scripted(asked)
    agents: Any = import_module("agents")
    assert isinstance(session, agents.memory.Session)
    agent = agents.Agent(name="Hana", model=model)
    first = await agents.Runner.run(agent, "My name is Mina", session=session)
    assert first.final_output == "reply 1"
    await agents.Runner.run(agent, "What is my name?", session=session)
    contents = [item["content"] for item in asked[1]]
    assert contents[0] == "My name is Mina"
    assert contents[1][0]["text"] == "reply 1"
    assert contents[2] == "What is my name?"
    assert len(await session.get_items()) == 4


async def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    asked: list[Any] = []
    said = await printed("openai_agents.md", 'model="gpt-5"', scripted(asked), tmp_path)
    assert said == "reply 2\n"
    assert asked[1][0]["content"] == "My name is Mina."
