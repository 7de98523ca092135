"""`GieokMemoryTool` beside the SDK's own memory tool on files, and in the SDK's tool runner."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, ToolError
from anthropic.tools import BetaAsyncLocalFilesystemMemoryTool

from gieok import Gieok, Settings
from gieok.app.documents import put_operation
from gieok.interfaces.claude import MAX_FILES, GieokMemoryTool

Command = dict[str, Any]


def create(path: str, text: str) -> Command:
    return {"command": "create", "path": path, "file_text": text}


def view(path: str, *view_range: int) -> Command:
    return {"command": "view", "path": path} | ({"view_range": list(view_range)} if view_range else {})


def replace(path: str, old: str, new: str) -> Command:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> Command:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> Command:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> Command:
    return {"command": "rename", "old_path": old, "new_path": new}


NOTES = "/memories/notes.md"
COMMANDS: list[Command] = [
    view("/memories"),
    view(NOTES),
    create(NOTES, "지수는 부산에 산다.\n커피를 좋아한다.\n"),
    create(NOTES, "again"),
    view(NOTES),
    view(NOTES, 2, 2),
    view(NOTES, 1, -1),
    view(NOTES, 9, 12),
    replace(NOTES, "커피", "녹차"),
    replace(NOTES, "없는 말", "x"),
    replace(NOTES, "다.", "요."),
    replace(NOTES, "다.\n녹", "고,\n녹"),
    insert(NOTES, 0, "# 지수"),
    insert(NOTES, 3, "끝\n"),
    insert(NOTES, 99, "x"),
    insert(NOTES, -1, "x"),
    view(NOTES),
    create("/memories/empty.txt", ""),
    insert("/memories/empty.txt", 0, "first"),
    create("/memories/newline.txt", "\n"),
    insert("/memories/newline.txt", 1, "second"),
    view("/memories/newline.txt"),
    create("/memories/overlap.txt", "aaa"),
    replace("/memories/overlap.txt", "aa", "b"),
    create("/memories/crlf.txt", "one\r\ntwo\r\n"),
    insert("/memories/crlf.txt", 1, "between"),
    view("/memories/crlf.txt"),
    create("/memories/work/plan.md", "x" * 2_000),
    create("/memories/work/deep/er/hidden.md", "y"),
    create("/memories/.secret", "z"),
    view("/memories"),
    view("/memories/work"),
    replace("/memories/work", "a", "b"),
    insert("/memories/work", 0, "a"),
    create("/memories/work", "a"),
    rename("/memories/work", "/memories/job/old"),
    view("/memories/work/plan.md"),
    view("/memories/job/old/deep/er/hidden.md"),
    rename(NOTES, "/memories/job/old/plan.md"),
    rename(NOTES, "/memories/people/jisu.md"),
    rename(NOTES, "/memories/again.md"),
    view("/memories/people/jisu.md"),
    rename("/memories", "/memories/x"),
    delete("/memories/nothing"),
    delete("/memories/job"),
    delete("/memories/people/jisu.md"),
    delete("/memories"),
    view("/memories/job/old/plan.md"),
    view("/elsewhere"),
    view("/memories/../etc/passwd"),
    create("/memories/a/../../b", "x"),
]


@pytest.fixture
async def gieok(settings: Settings) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, background=False) as opened:
        yield opened


async def answer(tool: BetaAsyncAbstractMemoryTool, command: Command) -> tuple[str, str]:
    """Whether a command succeeds, and the text that Claude gets. The size of a directory is left out."""
    try:
        text, outcome = str(await tool.call(command)), "done"
    except ToolError as error:
        text, outcome = str(error), "refused"
    return outcome, re.sub(r"(?m)^[\d.]+[BKMG]\t(/memories|/memories/\S*/|/memories/work)$", r"\1", text)


async def test_it_answers_as_the_sdks_own_tool(gieok: Gieok, tmp_path: Path) -> None:
    """The same commands on files and on Gieok: the same success or refusal, the same text."""
    files = BetaAsyncLocalFilesystemMemoryTool(str(tmp_path))
    tool = GieokMemoryTool(gieok.user("jisu"))
    for command in COMMANDS:
        assert await answer(tool, command) == await answer(files, command), command
    assert tool.to_dict() == files.to_dict()


async def test_files_are_documents_with_versions_and_search(gieok: Gieok) -> None:
    user = gieok.user("jisu")
    tool = GieokMemoryTool(user)
    await tool.call(create("/memories/work/plan.md", "면접은 금요일이다."))
    await tool.call(replace("/memories/work/plan.md", "금요일", "월요일"))
    (found,) = await user.documents.search(("claude",), "면접에서")
    assert (found.namespace, found.key) == (("claude", "work"), "plan.md")
    texts = [each.value["text"] for each in await user.documents.history(("claude", "work"), "plan.md")]
    assert texts == ["면접은 금요일이다.", "면접은 월요일이다."]


async def test_owners_and_namespaces_are_apart(gieok: Gieok) -> None:
    mine = GieokMemoryTool(gieok.user("jisu"))
    await mine.call(create(NOTES, "비밀"))
    for other in (
        GieokMemoryTool(gieok.user("eve")),
        GieokMemoryTool(gieok.user("jisu"), namespace=["b", "c"]),
    ):
        assert (await answer(other, view(NOTES)))[0] == "refused"
        assert "notes.md" not in (await answer(other, view("/memories")))[1]
        await other.clear_all_memory()
    assert "비밀" in (await answer(mine, view(NOTES)))[1]
    assert await mine.clear_all_memory() == "All memory cleared"
    assert (await answer(mine, view(NOTES)))[0] == "refused"


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        (
            create("/memories/large.txt", "가" * 100_000),
            "VALIDATION_FAILED: value: may have at most 262144 bytes",
        ),
        (create("/memories/" + "d/" * 16 + "x", "x"), "VALIDATION_FAILED: namespace"),
        (create("/memories/\x00", "x"), "VALIDATION_FAILED: key"),
        (create("/memories/notes.md/x", "x"), "The path /memories/notes.md is not a directory."),
        (create("/memories", "x"), "File /memories already exists"),
        (rename("/memories/work", "/memories/work/inner"), "Cannot move /memories/work into itself"),
        (rename(NOTES, "/memories/notes.md/x"), "Cannot move /memories/notes.md into itself"),
        (view("/memoriesandmore"), "Path must start with /memories"),
        (replace(NOTES, "", "x"), "No replacement was performed"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_changes_nothing(
    gieok: Gieok, command: Command, refusal: str
) -> None:
    user = gieok.user("jisu")
    tool = GieokMemoryTool(user)
    await tool.call(create(NOTES, "a"))
    await tool.call(create("/memories/work/plan.md", "b"))
    before = await user.documents.search()
    outcome, text = await answer(tool, command)
    assert (outcome, text[: len(refusal)]) == ("refused", refusal)
    assert await user.documents.search() == before


async def test_a_directory_with_too_many_files_is_not_moved_in_part(gieok: Gieok) -> None:
    user = gieok.user("jisu")
    tool = GieokMemoryTool(user)
    await user.documents.batch(
        [put_operation(("claude", "many"), str(number), {"text": "x"}) for number in range(MAX_FILES + 1)]
    )
    for command in (delete("/memories/many"), rename("/memories/many", "/memories/more")):
        assert "has more than 500 files" in (await answer(tool, command))[1]
    await tool.call(delete("/memories/many/7"))
    await tool.call(rename("/memories/many", "/memories/more"))
    assert len(await user.documents.search(("claude", "more"), limit=1_000)) == MAX_FILES
    assert await user.documents.search(("claude", "many")) == ()


async def test_claude_uses_it_in_the_tool_runner(gieok: Gieok) -> None:
    """The real client and its tool runner; Claude's side of the conversation is written here."""
    asked: list[dict[str, Any]] = []
    steps: list[Command] = [
        view("/memories"),
        create(NOTES, "지수는 녹차를 좋아한다."),
        create(NOTES, "again"),
    ]

    def respond(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        number = len(asked) - 1
        if number < len(steps):
            content = {"type": "tool_use", "id": f"t{number}", "name": "memory", "input": steps[number]}
        else:
            content = {"type": "text", "text": "기억할게요."}
        reason = "tool_use" if number < len(steps) else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [content]}
        return httpx2.Response(
            200, json=message | {"stop_reason": reason, "stop_sequence": None, "usage": usage}
        )

    transport = httpx2.MockTransport(respond)
    async with AsyncAnthropic(api_key="x", http_client=httpx2.AsyncClient(transport=transport)) as client:
        runner = client.beta.messages.tool_runner(
            model="claude",
            max_tokens=100,
            messages=[{"role": "user", "content": "나 녹차 좋아해. 기억해 줘."}],
            tools=[GieokMemoryTool(gieok.user("jisu"))],
        )
        last = await runner.until_done()
    assert last.content[0].type == "text"
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [each["messages"][-1]["content"][0] for each in asked[1:]]
    assert [result.get("is_error", False) for result in results] == [False, False, True]
    (found,) = await gieok.user("jisu").documents.search(("claude",), "녹차")
    assert found.value == {"text": "지수는 녹차를 좋아한다."}
