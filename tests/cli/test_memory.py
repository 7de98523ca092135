"""`gieok memory`, `gieok backup` and `gieok restore`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import Result

from gieok import Gieok, MemoryDraft
from gieok.interfaces.cli.memory.read import ORIGINS
from gieok.memory.companion.records import Origin
from gieok.settings import load_settings, sqlite_path
from tests.cli.conftest import Run
from tests.owner_data.world import fill


def remember(*owners: str) -> None:
    """Store every kind of record for each owner, with the settings of the environment."""

    async def write() -> None:
        async with await Gieok.open() as gieok:
            for owner in owners:
                await fill(gieok.user(owner))

    asyncio.run(write())


def keep(owner: str, *summaries: str) -> None:
    """Store memories of one owner with the persona `hana`."""

    async def write() -> None:
        async with await Gieok.open() as gieok:
            for summary in summaries:
                draft = MemoryDraft(persona_id="hana", summary=summary, topics=(summary,))
                await gieok.user(owner).companion.create(draft, account_plan="premium")

    asyncio.run(write())


def test_memories_are_listed_searched_and_shown(run: Run, url: str) -> None:
    keep("kim", "면접을 준비함.", "바다에 다녀옴.")
    keep("lee", "비밀을 말함.")
    listed = json.loads(run("memory", "list", "--user", "kim", "--json").stdout)
    assert [each["summary"] for each in listed["memories"]] == ["바다에 다녀옴.", "면접을 준비함."]
    assert (listed["total"], listed["hasMore"]) == (2, False)
    assert "1 of 2" in run("memory", "list", "--user", "kim", "--limit", "1").stdout
    found = run("memory", "search", "면접에서는", "--persona", "hana", "--user", "kim")
    assert "면접" in found.stdout.splitlines()[1]
    memory_id = listed["memories"][0]["id"]
    assert "바다에 다녀옴." in run("memory", "show", memory_id, "--user", "kim").stdout
    assert run("memory", "show", memory_id, "--user", "lee").exit_code == 1
    assert "no memories" in run("memory", "list", "--user", "choi").stdout


@pytest.mark.req("MIND-10")
def test_a_search_finds_messages_with_kinds(run: Run, url: str) -> None:
    remember("kim")
    search = ("memory", "search", "면접 message", "--persona", "hana", "--user", "kim")
    found = json.loads(run(*search, "--kinds", "message,fact", "--json").stdout)["memories"]
    assert {hit["kind"] for hit in found} == {"message", "fact"}
    table = run(*search, "--kinds", "all").stdout
    assert "message" in table
    assert "user: " in table
    refused = run(*search, "--kinds", "thing")
    assert refused.exit_code != 0
    assert "kinds" in refused.stderr


@pytest.mark.req("ENG-7")
def test_a_search_without_its_embedder_says_so(run: Run, url: str) -> None:
    down = {
        "GIEOK_EMBEDDER": "openai:bge-m3@4",
        "GIEOK_EMBEDDER_BASE_URL": "http://127.0.0.1:9/v1",
        "GIEOK_BACKGROUND": "false",
    }
    search = ("memory", "search", "면접", "--persona", "hana", "--user", "kim")
    assert json.loads(run(*search, "--json", **down).stdout) == {"memories": [], "degraded": ["vectors"]}
    assert "vectors" in run(*search, **down).stderr
    assert json.loads(run(*search, "--json").stdout)["degraded"] == []


@pytest.mark.req("COMP-9")
def test_memories_are_changed_filtered_and_deleted(run: Run, url: str) -> None:
    keep("kim", "면접을 준비함.", "바다에 다녀옴.")

    def memory(*args: str, **options: Any) -> Result:
        return run("memory", *args, "--user", "kim", **options)

    def document(*args: str) -> Any:
        return json.loads(memory(*args, "--json").stdout)

    sea, interview = [each["id"] for each in document("list")["memories"]]
    edited = document("edit", sea, "--topic", "여행", "--emotion", "기쁨", "--importance", "9")["memory"]
    assert (edited["topics"], edited["emotion"], edited["importance"]) == (["여행"], "joy", 9)
    assert document("tag", sea, "여름", "바다")["memory"]["tags"] == ["여름", "바다"]
    assert document("tag", sea, "바다", "--remove")["memory"]["tags"] == ["여름"]
    versions = document("history", sea)["versions"]
    assert [each["tags"] for each in versions] == [[], [], ["여름", "바다"], ["여름"]]
    assert "4 *" in memory("history", sea, "--lang", "ko").stdout
    for options in (["--tag", "여름"], ["--topic", "여행"], ["--emotion", "joy"], ["--from", "2020-01-01"]):
        assert sea in [each["id"] for each in document("list", *options)["memories"]], options
    assert document("list", "--tag", "여름")["total"] == 1
    assert "기억이 없습니다" in memory("list", "--to", "2020-01-01", "--lang", "ko").stdout
    assert "바다에 다녀옴." in memory("archive", sea).stdout
    assert document("list")["total"] == 1
    assert document("restore", sea)["memory"]["archivedAt"] is None
    assert memory("edit", sea).exit_code == 2
    assert "emotion" in memory("edit", sea, "--emotion", "rage").stderr
    assert memory("delete", interview, stdin="n\n").exit_code == 130
    assert "기억 1개를 삭제했습니다" in memory("delete", interview, "--yes", "--lang", "ko").stdout
    assert document("delete", "--all", "--yes") == {"deleted": 1}
    assert memory("delete").exit_code == 2


def test_the_names_of_origins_are_those_of_the_records() -> None:
    assert get_args(Origin) == ORIGINS


MEMORY = [
    "id",
    "personaId",
    "sessionId",
    "summary",
    "topics",
    "emotion",
    "importance",
    "tags",
    "speaker",
    "origin",
    "createdAt",
    "occurredAt",
    "archivedAt",
    "version",
]


def test_json_output_is_that_of_the_http_api(run: Run, url: str) -> None:
    """The same field names, and the emotion in the chosen language."""
    keep("kim", "면접을 준비함.")
    (listed,) = json.loads(run("memory", "list", "--user", "kim", "--json", "--lang", "ko").stdout)[
        "memories"
    ]
    assert (list(listed), listed["emotion"]) == (MEMORY, "평온")
    shown = json.loads(run("memory", "show", listed["id"], "--user", "kim", "--json", "--lang", "en").stdout)
    assert shown["memory"] == listed | {"emotion": "calm"}
    searched = ("memory", "search", "면접", "--persona", "hana", "--user", "kim", "--json", "--lang", "ko")
    (found,) = json.loads(run(*searched).stdout)["memories"]
    assert {name: found[name] for name in MEMORY} == listed
    assert found["why"]["matchedWords"] == ["면접"]


@pytest.mark.req("OPS-3")
def test_an_exported_file_can_be_imported(run: Run, home: Path, url: str) -> None:
    remember("kim")
    done = json.loads(run("memory", "export", "kim.ndjson", "--user", "kim", "--json").stdout)
    file = home / "kim.ndjson"
    assert done == {"path": "kim.ndjson", "records": len(file.read_text().splitlines()) - 2}
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("memory", "export", "kim.ndjson", "--user", "kim").exit_code == 1
    previewed = run("memory", "import", "kim.ndjson", "--user", "lee", "--dry-run").stdout
    assert f"would add {done['records']}, unchanged 0" in previewed
    imported = json.loads(run("memory", "import", "kim.ndjson", "--user", "lee", "--json").stdout)
    assert sum(imported["imported"].values()) == done["records"]
    again = run("memory", "import", "kim.ndjson", "--user", "lee")
    assert f"added 0, unchanged {done['records']}" in again.stdout


def test_an_export_can_be_piped_into_an_import(run: Run, url: str) -> None:
    """Standard output contains only the export."""
    remember("kim")
    exported = run("memory", "export", "--user", "kim")
    assert exported.exit_code == 0
    imported = run("memory", "import", "-", "--user", "lee", stdin=exported.stdout_bytes)
    assert (imported.exit_code, imported.stderr) == (0, "")


def test_an_invalid_file_is_an_error_with_the_line_number(run: Run, home: Path, url: str) -> None:
    (home / "cut.ndjson").write_text('{"kind": "gieok", "format": 1, "exportedAt": "2026-01-05T09:00:00Z"}\n')
    done = run("memory", "import", "cut.ndjson", "--user", "lee")
    assert done.exit_code == 1
    assert "line 2" in done.stderr
    assert "there is no file" in run("memory", "import", "nowhere", "--user", "lee").stderr


@pytest.mark.req("OPS-3")
def test_erase_asks_for_the_name_of_the_user(run: Run, url: str) -> None:
    keep("kim", "면접을 준비함.")
    refused = run("memory", "erase", "--user", "kim", stdin="lee\n")
    assert (refused.exit_code, "nothing was erased" in refused.stderr) == (2, True)
    assert "면접" in run("memory", "list", "--user", "kim").stdout
    done = run("memory", "erase", "--user", "kim", stdin="kim\n")
    assert (done.exit_code, "destroyed the keys of kim" in done.stdout) == (0, True)
    assert "no memories" in run("memory", "list", "--user", "kim").stdout
    assert "no user 'kim'" in run("memory", "erase", "--user", "kim", "--yes").stderr


def test_erase_prints_a_receipt(run: Run, url: str) -> None:
    keep("kim", "면접을 준비함.")
    receipt = json.loads(run("memory", "erase", "--user", "kim", "--yes", "--json").stdout)
    assert (receipt["keyDestroyed"], receipt["erased"]["memories"]) == (True, 1)
    assert not [name for name in receipt["erased"] if "_" in name]
    assert receipt["at"].endswith("Z")


def test_erase_refuses_an_unknown_user(run: Run, url: str) -> None:
    """A typing error must not make that name unusable."""
    assert "no user 'kmi'" in run("memory", "erase", "--user", "kmi", "--yes").stderr
    keep("kmi", "바다에 다녀옴.")


@pytest.mark.req("OPS-3")
def test_a_backup_can_be_restored(run: Run, home: Path) -> None:
    keep("kim", "면접을 준비함.")
    created = run("backup", "yesterday")
    assert (created.exit_code, "root key" in created.stdout) == (0, True)
    keep("kim", "바다에 다녀옴.")
    assert run("memory", "erase", "--user", "kim", "--yes").exit_code == 0
    assert run("restore", "yesterday").exit_code == 1
    restored = json.loads(run("restore", "yesterday", "--replace", "--json").stdout)
    assert (restored["erasedAgain"], restored["keystoreKept"]) == (1, True)
    assert Path(restored["before"]).exists()
    place = sqlite_path(load_settings().database_url)
    assert restored["database"] == str(place)
    assert "no memories" in run("memory", "list", "--user", "kim").stdout


def test_backup_of_a_postgresql_database_is_refused(run: Run, home: Path) -> None:
    done = run("backup", "there", GIEOK_DATABASE_URL="postgresql://host/name")
    assert (done.exit_code, "pg_dump" in done.stderr) == (1, True)
