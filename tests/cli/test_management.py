"""`gieok session`, `gieok persona` and `gieok fact`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import Result

from gieok import Gieok
from gieok.interfaces.cli.persona import CATEGORIES
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.observations import Category
from tests.behind import Behind
from tests.cli.conftest import Run
from tests.cli.test_memory import remember
from tests.imports.chat_files import MEM0, jsonl, sillytavern
from tests.imports.files import CARD, json_file, world_info


def document(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.req("COMP-10")
def test_sessions_are_listed_shown_and_deleted(run: Run, url: str) -> None:
    remember("kim")

    def session(*args: str, **options: Any) -> Result:
        return run("session", *args, "--user", "kim", **options)

    listed = document(session("list", "--persona", "hana", "--json"))["sessions"]
    assert {each["sessionId"] for each in listed} == {"talk", "open"}
    assert "Next page" in session("list", "--limit", "1").stdout
    messages = document(session("show", "talk", "--json"))["messages"]
    assert len(messages) == 23
    shown = session("show", "talk", "--lang", "ko").stdout
    assert f"사용자: {messages[0]['content']}" in shown
    assert session("delete", "talk", stdin="n\n").exit_code == 130
    assert "메시지 23개" in session("delete", "talk", "--yes", "--lang", "ko").stdout
    assert document(session("delete", "open", "--cascade", "--yes", "--json"))["deleted"]["messages"] == 3
    assert "[NOT_FOUND]" in session("show", "talk").stderr
    assert "no sessions" in session("list", "--persona", "nobody").stdout


def test_the_steps_of_a_session_are_shown(run: Run, url: str) -> None:
    async def talk() -> str:
        async with await Gieok.open() as gieok:
            user = gieok.user("kim")
            await user.personas.create(PersonaDraft(name="하나", language="ko"), persona_id="hana")
            return (
                await user.chat.send("hana", "나 부산에 살아", session_ref="talk", wait_memory=True)
            ).turn_id

    turn_id = asyncio.run(talk())
    shown = run("session", "show", "talk", "--steps", "--user", "kim").stdout
    assert shown.index("remember_turn") < shown.index("chat_turn") < shown.index(f"turn {turn_id}")
    assert "RecallMemories" in shown
    assert "부산" not in shown
    cycles = document(run("session", "show", "talk", "--steps", "--json", "--user", "kim"))["cycles"]
    assert [each["turnId"] for each in cycles] == [None, turn_id]


@pytest.mark.req("COMP-9", "CANON-6")
def test_personas_and_facts_are_managed(run: Run, url: str) -> None:
    remember("kim")

    def fact(*args: str) -> Result:
        return run("fact", *args, "--persona", "hana", "--user", "kim")

    def persona(*args: str) -> Result:
        return run("persona", *args, "--user", "kim")

    assert [each["id"] for each in document(persona("list", "--json"))["personas"]] == ["hana"]
    assert "고양이를 좋아해." in persona("show", "hana").stdout
    changed = document(fact("set", "goal", "취업", "합격함", "--importance", "9", "--json"))
    assert (changed["outcome"], changed["fact"]["value"]) == ("superseded", "합격함")
    root = changed["fact"]["rootId"]
    assert "합격함" in fact("list", "--lang", "ko").stdout
    versions = document(fact("history", root, "--json"))["versions"]
    assert [each["isActive"] for each in versions] == [False, False, True]
    assert "3 *" in fact("history", root).stdout
    assert "이력은 남아" in fact("retire", root, "--lang", "ko").stdout
    assert "[NOT_FOUND]" in fact("retire", root).stderr
    deleted = document(persona("delete", "hana", "--yes", "--json"))["deleted"]
    assert min(deleted["memories"], deleted["facts"], deleted["sessions"], deleted["messages"]) > 0
    assert "페르소나가 없습니다" in persona("list", "--lang", "ko").stdout
    assert "[NOT_FOUND]" in persona("show", "hana").stderr


def test_the_names_of_categories_are_those_of_the_records() -> None:
    assert set(CATEGORIES) == {each.value for each in Category}


@pytest.mark.req("INT-4")
def test_a_card_is_imported_and_exported(run: Run, url: str, home: Path) -> None:
    (home / "hana.json").write_bytes(json_file(CARD))
    (home / "world.json").write_bytes(json_file(world_info()))

    def persona(*args: str, **options: Any) -> Result:
        return run("persona", *args, "--user", "kim", **options)

    assert "would import 하나 (v1), 1 lorebook" in persona("import", "hana.json", "--dry-run").stdout
    assert document(persona("list", "--json"))["personas"] == []
    assert "가져왔습니다" in persona("import", "hana.json", "--lang", "ko").stdout
    made = document(persona("import", "-", "--json", stdin=json_file(CARD)))
    name = made["persona"]["id"]
    assert (made["lorebook"], made["leftOut"]) == ({"entries": 1}, ["assets"])
    shown = persona("import", "world.json", "--persona", name).stdout
    assert "v2" in shown
    assert "kept for export" in shown
    assert "personaId" in persona("import", "world.json").stderr
    assert json.loads(persona("export", name).stdout)["data"]["tags"] == ["친구"]
    assert "hana.png" in persona("export", name, "hana.png").stdout
    assert "already exists" in persona("export", name, "hana.png").stderr
    again = persona("export", name, "again.png", "--image", "hana.png", "--json")
    assert document(again)["bytes"] == (home / "again.png").stat().st_size
    assert document(persona("import", "again.png", "--json"))["persona"]["card"] == made["persona"]["card"]
    assert persona("export", name, "x.json", "--image", "hana.png").exit_code == 2
    assert "[NOT_FOUND]" in persona("import", "nothing.png").stderr
    assert "[NOT_FOUND]" in persona("export", "nobody").stderr


@pytest.mark.req("INT-4")
def test_chats_are_imported(run: Run, url: str, home: Path) -> None:
    (home / "chat.jsonl").write_bytes(jsonl(*sillytavern()))
    (home / "old.json").write_text(json.dumps(MEM0), encoding="utf-8")
    made = document(run("persona", "import", "-", "--user", "kim", "--json", stdin=json_file(CARD)))
    name = made["persona"]["id"]

    def session(*args: str, **options: Any) -> Result:
        return run("session", *args, "--user", "kim", **options)

    would = session("import", "chat.jsonl", "--persona", name, "--dry-run").stdout
    assert "would import 1 conversations, 3 messages" in would
    assert "메시지 3개" in session("import", "chat.jsonl", "--persona", name, "--lang", "ko").stdout
    again = document(session("import", "chat.jsonl", "--persona", name, "--format", "sillytavern", "--json"))
    assert (again["format"], again["conversations"][0]["added"]) == ("sillytavern", 0)
    shown = document(session("show", again["conversations"][0]["sessionRef"], "--json"))["messages"]
    assert [each["content"] for each in shown] == ["왔어?", "내일 면접이야", "잘할 거야!"]
    assert "2 memories" in session("import", "old.json", "--persona", name).stdout
    edited = [*sillytavern()[:1], {"mes": "다른 말", "is_user": True}]
    assert session("import", "-", "--persona", name, stdin=jsonl(*edited)).exit_code == 1
    assert "[VALIDATION_FAILED]" in session("import", "-", "--persona", name, stdin=b"{}").stderr
    assert "[NOT_FOUND]" in session("import", "chat.jsonl", "--persona", "nobody").stderr


@pytest.mark.req("MIND-2")
def test_failed_jobs_are_listed_and_retried(run: Run, url: str, behind: Behind) -> None:
    """A job that has not failed is refused."""
    remember("kim")

    def jobs(*args: str) -> Result:
        return run("jobs", *args, "--user", "kim")

    assert "no jobs" in jobs("list", "--status", "failed").stdout
    listed = document(jobs("list", "--limit", "1000", "--json"))["jobs"]
    job = next(each for each in listed if each["kind"] == "summary")
    assert "[CONFLICT]" in jobs("retry", job["id"]).stderr
    behind.run("UPDATE jobs SET status = 'failed', error = 'LLM_SUMMARY_FAILED' WHERE kind = 'summary'")
    shown = jobs("list", "--status", "failed", "--lang", "ko").stdout
    assert "상태" in shown
    assert all(text in shown for text in (job["id"], "summary", "LLM_SUMMARY_FAILED"))
    assert document(jobs("retry", job["id"], "--json"))["job"]["status"] == "queued"
    assert "[NOT_FOUND]" in jobs("retry", str(UUID(int=1))).stderr
    assert jobs("retry", "x").exit_code == 2
