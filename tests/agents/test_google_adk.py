"""`GieokMemoryService` with the real Google ADK: its events, its sessions and its Runner."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gieok import Gieok
from tests.agents.page import printed

pytest.importorskip("google.adk.memory", reason="google-adk is not installed: make adapters")

adk: Any = import_module("google.adk")
events: Any = import_module("google.adk.events.event")
llms: Any = import_module("google.adk.models.base_llm")
answers: Any = import_module("google.adk.models.llm_response")
sessions: Any = import_module("google.adk.sessions")
entries: Any = import_module("google.adk.memory.memory_entry")
load_memory: Any = import_module("google.adk.tools").load_memory
types: Any = import_module("google.genai.types")
service_of: Any = import_module("gieok.interfaces.agents.google_adk").GieokMemoryService

MINA: dict[str, str] = {"app_name": "diary", "user_id": "mina"}


def said(text: str, author: str = "user", **event: Any) -> Any:
    content = types.Content(role=author, parts=[types.Part(text=text)])
    return events.Event(author=author, content=content, **event)


def session_of(*said_events: Any, **who: str) -> Any:
    return sessions.Session(id="s1", **(MINA | who), events=list(said_events))


async def texts(service: Any, query: str, **who: str) -> list[str]:
    found = await service.search_memory(**(MINA | who), query=query)
    return [memory.content.parts[0].text for memory in found.memories]


async def test_a_session_is_found_by_its_words(gieok: Gieok) -> None:
    service = service_of(gieok.user("team"))
    empty = events.Event(author="model", content=None)
    first, second = said("내일 회사 면접이 있어"), said("I went running in the park", "model")
    await service.add_session_to_memory(session_of(first, second, empty))
    found = await service.search_memory(**MINA, query="면접은 언제야?")
    (memory,) = found.memories
    assert (memory.id, memory.author, memory.content.role) == (first.id, "user", "user")
    assert memory.timestamp.endswith("+00:00")
    assert memory.custom_metadata["why"]["matchedWords"] == ["면접"]
    assert await texts(service, "runs") == ["I went running in the park"]
    assert await texts(service, "bicycle") == []
    assert await texts(service, "") == []


async def test_users_and_apps_are_apart(gieok: Gieok) -> None:
    service = service_of(gieok.user("team"))
    await service.add_session_to_memory(session_of(said("kimchi")))
    assert await texts(service, "kimchi", user_id="junho") == []
    assert await texts(service, "kimchi", app_name="other") == []
    assert await texts(service_of(gieok.user("another")), "kimchi") == []
    assert await texts(service, "김치") == ["kimchi"]


async def test_adding_a_session_again_stores_new_events_only(gieok: Gieok) -> None:
    user = gieok.user("team")
    service, first = service_of(user), said("kimchi")
    for _ in range(2):
        await service.add_session_to_memory(session_of(first))
    await service.add_session_to_memory(session_of(first, said("kimchi again")))
    await service.add_events_to_memory(**MINA, events=[first, said("more kimchi")])
    assert len(await texts(service, "kimchi")) == 3
    namespace = ("google-adk", "diary", "mina", "memories")
    assert len(await user.documents.history(namespace, first.id)) == 1


async def test_a_deleted_memory_stays_deleted(gieok: Gieok) -> None:
    service, event = service_of(gieok.user("team")), said("kimchi")
    await service.add_session_to_memory(session_of(event))
    await service.delete_memory(**MINA, memory_id=event.id)
    await service.delete_memory(**MINA)
    assert await texts(service, "kimchi") == []
    await service.add_session_to_memory(session_of(event))
    assert await texts(service, "kimchi") == []


async def test_memories_are_added_as_written(gieok: Gieok) -> None:
    service = service_of(gieok.user("team"))
    content = types.Content(parts=[types.Part(text="Mina lives in Busan")])
    await service.add_memory(**MINA, memories=[entries.MemoryEntry(id="m1", content=content, author="me")])
    (memory,) = (await service.search_memory(**MINA, query="Busan")).memories
    assert (memory.id, memory.author) == ("m1", "me")


def scripted(seen: list[str]) -> Any:
    """A model of ADK that calls `load_memory`, notes what it returns, and answers."""

    class Scripted(llms.BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            last = request.contents[-1].parts[-1]
            if last.function_response is None:
                part = types.Part.from_function_call(name="load_memory", args={"query": "interview"})
            else:
                seen.append(str(last.function_response.response))
                part = types.Part(text="On Monday.")
            yield answers.LlmResponse(content=types.Content(role="model", parts=[part]))

    return Scripted(model="scripted")


async def test_an_agent_loads_its_memory_in_a_run(gieok: Gieok) -> None:
    """A real Runner: the model calls ADK's tool `load_memory`, and gets what another session said."""
    service = service_of(gieok.user("team"))
    await service.add_session_to_memory(session_of(said("My job interview is on Monday")))
    seen: list[str] = []
    agent = adk.Agent(name="nora", model=scripted(seen), tools=[load_memory])
    store = sessions.InMemorySessionService()
    runner = adk.Runner(app_name="diary", agent=agent, session_service=store, memory_service=service)
    session = await store.create_session(**MINA)
    asked = types.Content(role="user", parts=[types.Part(text="When is my interview?")])
    replies = [
        event async for event in runner.run_async(user_id="mina", session_id=session.id, new_message=asked)
    ]
    assert replies[-1].content.parts[0].text == "On Monday."
    assert "My job interview is on Monday" in seen[0]


async def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    seen: list[str] = []
    shown = await printed("google_adk.md", 'model="gemini-3-flash"', scripted(seen), tmp_path)
    assert shown.count("On Monday.") >= 2
    assert "My job interview is on Monday" in seen[-1]
