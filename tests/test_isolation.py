"""No interface shows or changes data of another owner. One table: an interface that is added needs a row.

The library and the client are called with another owner's ids, every public method of them; arguments are
found by the names of parameters, so that a new method is covered at once or fails here.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import click
import pytest
from anthropic.lib.tools import ToolError
from click.testing import CliRunner
from langchain_core.messages import HumanMessage

import gieok.interfaces
from gieok import DecisionProposal, MemoryDraft, Message, PersonaDraft, User
from gieok.client import GieokClient
from gieok.errors import GieokError
from gieok.interfaces.agents.openai import GieokSession
from gieok.interfaces.agents.pydantic_ai import GieokMemory
from gieok.interfaces.claude import GieokMemoryTool
from gieok.interfaces.cli import main
from gieok.interfaces.langgraph import DecisionMemory, DecisionState
from gieok.interfaces.markdown.folder import FolderWriter, entries, read_records
from gieok.interfaces.markdown.records import Defaults
from gieok.memory.companion.records import MemoryChanges, MemoryConfig, MemoryOutline
from gieok.memory.decisions.records import Target
from gieok.memory.sessions.records import ChatMessage
from tests.cli.reference import commands
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api, shared
from tests.rest.test_isolation import SECRET, create_one_of_each

__all__ = ["shared"]

Ids = dict[str, str]
COMMANDS = """
memory list | memory show {memory} | memory history {memory} | memory search 이야기 --persona {persona}
memory edit {memory} --importance 1 | memory archive {memory} | memory delete {memory} --yes | memory export
session list | session show {session} | session show {session} --steps | session delete {session} --yes
persona list | persona show {persona} | persona delete {persona} --yes
fact list --persona {persona} | fact history {fact} --persona {persona}
fact retire {fact} --persona {persona}
decision list | decision show {decision} | decision history {decision} | decision impact {decision}
decision context wms | decision compact {session} | decision walk {decision} | decision policy
document list | document search {secret} | document show {document} {document}
document put {document} {document} {{}}
document show {document} {document} --history | document delete {document} {document} --yes
decision relate {decision} DEPENDS_ON {other} | jobs list | jobs retry {job} | audit | usage
context 이야기 --persona {persona} | context --persona {persona} --session {session}
memory tag {memory} x | memory restore {memory} | fact set goal x x --persona {persona}
persona export {persona} | decision save x --change {decision}
webhook list | webhook failed {webhook} | webhook retry {webhook} | webhook remove {webhook}
"""
WITHOUT_IDS = {
    "archive, backup, restore, check, db, doctor, keys, token": "an operator's: all data, no content",
    "demo, console, mcp, serve, worker": "programs; their interfaces have rows of their own",
    "chat": "a conversation: what the library shows (tests/cli/test_chat.py)",
    "plan": "plans of the package and of files",
    "memory import, memory erase, session import, persona import": "take a file or the user's own name",
    "webhook add": "takes a URL",
    "decision export, decision import": "take a folder of the user's own decisions",
}
"""Commands that take no id of an owner's things, with the reason."""


def _values(server: Server, ids: Ids) -> dict[str, Any]:
    """An argument for each name of a parameter: another owner's ids, and content of one's own."""
    now = server.gieok.engine.clock()
    message = ChatMessage(id="m9", role="user", content="안녕", timestamp=now)
    draft = MemoryDraft(persona_id=ids["persona"], summary="x")
    root = UUID(ids["decision"])

    async def stream() -> AsyncIterator[bytes]:
        yield b"nothing\n"

    return {
        "persona_id": ids["persona"],
        "session_ref": ids["session"],
        "turn_id": ids["turn"],
        "memory_id": UUID(ids["memory"]),
        "job_id": UUID(ids["job"]),
        "root_id": root,
        "root_ids": [root],
        "source": root,
        "target": UUID(ids["other"]),
        "webhook_id": UUID(ids["webhook"]),
        "relation_id": UUID(ids["relation"]),
        "evidence_id": UUID(ids["evidence"]),
        "targets": [Target(kind="evidence", id=UUID(ids["evidence"]))],
        "lane": ids["persona"],
        "message": "뭐라고 했어?",
        "messages": [message],
        "query": SECRET,
        "plan": "chat_turn",
        "draft": draft,
        "drafts": [draft],
        "outline": MemoryOutline(persona_id=ids["persona"]),
        "changes": MemoryChanges(importance=1),
        "config": MemoryConfig(recall=True, active_limit=None),
        **dict.fromkeys(("content", "title", "hint", "key", "value"), "x"),
        "domain": "wms",
        "category": "GOAL",
        "principles": ["x"],
        "proposal": DecisionProposal(statement="x", strength="normal", scope="global"),
        "relation_type": "DEPENDS_ON",
        "namespace": ("x",),
        "operations": [],
        "refreshed": [],
        "entries": [],
        "write": list[Any]().append,
        "request": {"personaId": ids["persona"]},
        "stream": stream(),
    }


_OWN = {
    "run": {"plan": "load_memories"},
    "personas": {"draft": PersonaDraft(name="x"), "content": b"{}"},
    "imports": {"content": b"{}"},
    "documents": {"value": {"x": 1}},
    "webhooks": {"url": "https://hooks.invalid/"},
    "compact": {"messages": [Message(role="user", content="x")]},
    "create_of_messages": {"messages": [Message(role="user", content="x")]},
}
"""Arguments of other types, by part or method."""


async def _call_everything(root: Any, server: Server, ids: Ids) -> str:
    """Call every public method of every part of an API. Returns all answers and errors as text."""
    methods: list[tuple[bool, str, Any]] = []
    for part_name in (name for name in dir(root) if not name.startswith("_")):
        part = getattr(root, part_name)
        found = [part] if inspect.ismethod(part) else []
        if not found and type(part).__module__.startswith("gieok"):
            found = [each for name, each in inspect.getmembers(part, inspect.ismethod) if name[0] != "_"]
        methods += [(each.__name__.startswith("delete"), part_name, each) for each in found]
    seen: list[str] = []
    for _, part_name, method in sorted(methods, key=lambda each: each[:2]):  # deletes last
        if method.__name__ not in ("erase", "check_caller_plan"):  # of the caller's own data; no data
            seen.append(f"{part_name}.{method.__name__}: {await _call(method, part_name, server, ids)}")
    return "\n".join(seen)


async def _call(method: Callable[..., Any], part: str, server: Server, ids: Ids) -> str:
    values = {**_values(server, ids), **_OWN.get(part, {}), **_OWN.get(method.__name__, {})}
    parameters = inspect.signature(method).parameters.values()
    required = [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    arguments = {name: values[name] for name in required}
    try:
        called = method(**arguments)
        if inspect.isasyncgen(called):
            return " ".join([_text(each) async for each in called])
        return _text(await called)
    except GieokError as error:
        return f"{type(error).__name__} {error}"


def _text(answer: object) -> str:
    if isinstance(answer, bytes):
        text = answer.decode(errors="replace")
    elif isinstance(answer, str):
        text = answer
    else:
        text = repr([*cast("Sequence[Any]", answer)] if isinstance(answer, Sequence) else answer)
    return text.replace("\n", " ")


def _library(server: Server, ids: Ids, _: Path) -> str:
    return server.run(_call_everything(server.gieok.user(f"stranger-{uuid4()}"), server, ids))


def _client(server: Server, ids: Ids, _: Path) -> str:
    token = server.token(f"stranger-{uuid4()}")

    async def call() -> str:
        async with GieokClient(server.url, token) as client:
            return await _call_everything(client, server, ids)

    return asyncio.run(call())


def _command_line(server: Server, ids: Ids, home: Path) -> str:
    settings = server.settings
    environ = {
        "GIEOK_DATABASE_URL": settings.database_url,
        "GIEOK_ROOT_KEY_FILE": str(settings.own_key_file),
        "HOME": str(home),
    }
    seen: list[str] = []
    for line in COMMANDS.strip().replace("\n", " | ").split(" | "):
        words = [word.format(secret=SECRET, **ids) for word in line.split()]
        done = CliRunner(env=environ).invoke(main, [*words, "--user", f"stranger-{ids['job'][:8]}"])
        assert done.exit_code in (0, 1), f"{line}: {done.output}"
        seen.append(f"{line}: {done.output}")
    return "\n".join(seen)


def _langgraph(server: Server, ids: Ids, _: Path) -> str:
    """The loading node, and the tools with ids of the other owner. GieokStore uses `user.documents`."""
    user = server.gieok.user(f"stranger-{uuid4()}")
    memory = DecisionMemory(user)
    relation = {"type": "DEPENDS_ON", "target": ids["other"]}

    async def call() -> str:
        state = DecisionState(messages=[HumanMessage("이야기")], domain="wms")
        seen = [repr(await memory.load(by_words=True)(state))]
        arguments: dict[str, dict[str, Any]] = {
            "read_evidence": {"evidence_id": ids["evidence"]},
            "propose_decision": {
                "statement": "x",
                "strength": "normal",
                "root_id": ids["decision"],
                "relations": [relation],
            },
        }
        for tool in memory.tools():
            seen.append(f"{tool.name}: {await tool.ainvoke(arguments[tool.name])}")
        return "\n".join(seen)

    return server.run(call())


async def _use_agents(user: User, ids: Ids, _: Path) -> str:
    """A session of the Agents SDK and the capability for pydantic-ai, with the names that the owner uses.
    Google ADK's service, which is not installed with the tests, is tested in tests/agents."""
    session, memory = GieokSession(user, ids["document"]), GieokMemory(user, ids["persona"])
    calls = [
        *(session.get_items(), session.pop_item(), session.clear_session()),
        *(memory.recall(SECRET), memory.remember("x"), user.context(ids["persona"], SECRET)),
    ]
    return "\n".join([await _answer(call) for call in calls])


async def _use_claude(user: User, ids: Ids, _: Path) -> str:
    """Every command of the memory tool, on the owner's file."""
    tool, path = GieokMemoryTool(user), f"/memories/{ids['document']}.md"
    commands: list[Any] = [
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": path},
        {"command": "str_replace", "path": path, "old_str": SECRET, "new_str": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "rename", "old_path": path, "new_path": "/memories/moved.md"},
        {"command": "delete", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
    ]
    calls = [getattr(tool, each["command"])(SimpleNamespace(view_range=None, **each)) for each in commands]
    return "\n".join([await _answer(call) for call in (*calls, tool.clear_all_memory())])


async def _use_markdown(user: User, ids: Ids, home: Path) -> str:
    """An export of decisions as files, and an import of files that have the ids of the owner's decisions."""
    folder = home / "records"
    folder.mkdir()
    await user.exchange.export_entries(FolderWriter(folder, "team").write)
    seen = [file.read_text(encoding="utf-8").replace("\n", " ") for file in folder.iterdir()]
    record = f"---\nid: {ids['decision']}\nrelations:\n  - DEPENDS_ON {ids['other']}\n---\n# x\n\ny\n"
    found = read_records([("x.md", record.encode())], Defaults("normal", "wms"))

    async def import_() -> object:
        return await user.exchange.import_entries(entries("team", found.files))

    return "\n".join([*seen, await _answer(import_())])


async def _answer(call: Awaitable[object]) -> str:
    try:
        return _text(await call)
    except (GieokError, ToolError) as error:
        return f"{type(error).__name__} {error}".replace("\n", " ")


OF_A_USER: dict[str, Callable[[User, Ids, Path], Coroutine[Any, Any, str]]] = {
    "agents": _use_agents,
    "claude": _use_claude,
    "markdown": _use_markdown,
}
"""Interfaces that get a `User`."""


def _as_stranger(use: Callable[[User, Ids, Path], Coroutine[Any, Any, str]]) -> Interface:
    return lambda server, ids, home: server.run(use(server.gieok.user(f"stranger-{uuid4()}"), ids, home))


Interface = Callable[[Server, Ids, Path], str]
INTERFACES: dict[str, Interface] = {
    "library": _library,
    "client": _client,
    "cli": _command_line,
    "langgraph": _langgraph,
    **{name: _as_stranger(use) for name, use in OF_A_USER.items()},
}
ELSEWHERE = {
    "rest": "tests/rest/test_isolation.py",
    "mcp": "tests/mcp/test_isolation.py",
    "console": "tests/console/test_isolation.py",
    "openai": "its route is in the table of tests/rest/test_isolation.py",
}
"""Interfaces with a table of their own."""


@pytest.fixture
def owner() -> str:
    return f"owner-{uuid4()}"


@pytest.fixture
def world(shared: Server, owner: str) -> Iterator[tuple[Api, Ids]]:
    """One thing of each kind, and what the owner's agents have stored."""
    with shared.client(owner) as client:
        api = Api(client)
        ids = create_one_of_each(api)
        user, path = shared.gieok.user(owner), f"/memories/{ids['document']}.md"
        shared.run(GieokSession(user, ids["document"]).add_items([{"role": "user", "content": SECRET}]))
        file: Any = SimpleNamespace(path=path, file_text=SECRET)
        shared.run(GieokMemoryTool(user).create(file))
        yield api, ids


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize("interface", INTERFACES)
def test_no_interface_shows_or_changes_data_of_another_owner(
    shared: Server, world: tuple[Api, Ids], interface: str, tmp_path: Path
) -> None:
    owner, ids = world
    before = _stored(owner)
    seen = INTERFACES[interface](shared, ids, tmp_path)
    assert [line for line in seen.splitlines() if SECRET in line] == []
    assert _stored(owner) == before


def test_the_same_calls_show_the_owner_their_data(shared: Server) -> None:
    """So the calls above reach the data, and are refused for the owner's name only."""
    name = f"owner-{uuid4()}"
    with shared.client(name) as client:
        ids = create_one_of_each(Api(client))
    seen = shared.run(_call_everything(shared.gieok.user(name), shared, ids)).splitlines()
    showing = {line.partition(":")[0] for line in seen if SECRET in line}
    assert {"canon.state", "companion.search", "data.export", "decisions.evidence"} <= showing


def test_every_command_is_in_the_table() -> None:
    """A new command needs a row in COMMANDS, or a reason why it has none."""
    excused = [name for names in WITHOUT_IDS for name in names.split(", ")]
    lines = [f"{line} " for line in COMMANDS.strip().replace("\n", " | ").split(" | ")]
    for path, command in commands():
        name = path.removeprefix("gieok ")
        if isinstance(command, click.Group) or any(f"{name} ".startswith(f"{each} ") for each in excused):
            continue
        assert any(line.startswith(f"{name} ") for line in lines), f"{name} has no row"


@pytest.mark.parametrize("interface", OF_A_USER)
def test_such_an_interface_shows_the_owner_their_data(
    shared: Server, owner: str, world: tuple[Api, Ids], interface: str, tmp_path: Path
) -> None:
    seen = shared.run(OF_A_USER[interface](shared.gieok.user(owner), world[1], tmp_path))
    assert SECRET in seen


def test_every_interface_is_in_the_table() -> None:
    folder = Path(gieok.interfaces.__file__).parent
    found = {path.stem for path in folder.iterdir() if not path.name.startswith("_")}
    assert found - set(INTERFACES) == set(ELSEWHERE)


def _stored(owner: Api) -> list[str]:
    records = owner.http.get("/api/v1/me/export").text.splitlines()[1:-1]
    return [record for record in records if not record.startswith('{"kind":"audit')]
