"""An import is all or nothing, and an error names the line."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from gieok import Gieok, Settings
from gieok.app.owner_data import OwnerData
from gieok.errors import Conflict, InputRefused, PayloadTooLarge
from tests.behind import Behind
from tests.owner_data.world import Line, export, fill, lines, pieces, records, stream_of

HEADER = {"kind": "gieok", "format": 1, "exportedAt": "2026-01-05T09:00:00Z"}
HASH = "a" * 64
NOW = "2026-01-05T09:00:00Z"
ID = "6f1c7a52-8f5d-4b4e-9c55-0a4f0c1d2e3f"

MEMORY: Line = {
    "kind": "memory",
    "id": ID,
    "personaId": "hana",
    "sessionRef": None,
    "summary": "면접을 준비함.",
    "topics": [],
    "emotion": "joy",
    "importance": 5,
    "tags": [],
    "speaker": None,
    "origin": "manual",
    "createdAt": NOW,
    "occurredAt": NOW,
    "archivedAt": None,
    "version": 1,
}
SESSION: Line = {
    "kind": "session",
    "sessionRef": "s",
    "personaId": "hana",
    "accountPlan": "free",
    "lastExecutionPlanHash": HASH,
    "startedAt": NOW,
    "lastActivityAt": NOW,
    "endedAt": None,
    "messageCount": 1,
    "claimedCount": 0,
    "waiting": [],
}
MESSAGE: Line = {
    "kind": "message",
    "sessionRef": "s",
    "seq": 1,
    "id": "m1",
    "role": "user",
    "content": "안녕",
    "timestamp": NOW,
}
FACT: Line = {
    "kind": "fact",
    "personaId": "hana",
    "rootId": ID,
    "version": 1,
    "versionId": ID,
    "category": "GOAL",
    "key": "취업",
    "value": "개발자",
    "importance": 5,
    "provenance": "hand",
    "validFrom": NOW,
    "retiredAt": None,
}
DECISION: Line = {
    "kind": "decision",
    "rootId": ID,
    "version": 1,
    "versionId": ID,
    "createdAt": NOW,
    "statement": "창고는 하나",
    "rationale": None,
    "strength": "axis",
    "scope": "global",
    "domain": None,
    "evidenceIds": [],
}
RELATION: Line = {"kind": "relation", "id": ID, "source": ID, "type": "REFINES", "target": str(uuid4())}
PERSONA: Line = {
    "kind": "persona",
    "personaId": "hana",
    "rootId": ID,
    "version": 1,
    "versionId": ID,
    "createdAt": NOW,
    "name": "하나",
    "systemPrompt": "",
    "card": "",
    "language": "ko",
    "lorebook": [],
    "boundaries": [],
    "relationships": [],
}


def raw(*texts: str) -> bytes:
    """A stream of these lines, unchanged."""
    return "\n".join([json.dumps(HEADER), *texts]).encode() + b"\n"


def many(*changes: Line, of: Line = MEMORY) -> bytes:
    return stream_of(of | change for change in changes)


BROKEN: dict[str, tuple[bytes, int, str]] = {
    "an empty stream": (b"", 1, "truncated"),
    "no header": (b'{"kind": "end", "records": 0}\n', 1, "begins with one header"),
    "two headers": (raw(json.dumps(HEADER)), 2, "begins with one header"),
    "another format": (stream_of([], format=2), 1, "reads format 1"),
    "a header with more": (stream_of([], owner="minsu"), 1, "owner"),
    "no end": (stream_of([MEMORY])[:-28], 3, "truncated"),
    "another count": (raw(json.dumps(MEMORY), '{"kind": "end", "records": 2}'), 3, "the stream has 1"),
    "something after the end": (stream_of([]) + b"{}\n", 3, "after the last line"),
    "no JSON": (raw("nonsense"), 2, "not one JSON object"),
    "no object": (raw("[1]"), 2, "one of the kinds"),
    "an empty line": (raw("", ""), 2, "not one JSON object"),
    "no UTF-8": (raw() + b'{"kind": "\xff"}\n', 2, "not one JSON object"),
    "too deep": (raw("[" * 100_000), 2, "not one JSON object"),
    "a key twice": (raw('{"kind": "memory", "kind": "memory"}'), 2, "twice"),
    "an unknown kind": (stream_of([{"kind": "secret"}]), 2, "one of the kinds"),
    "a kind that is no text": (stream_of([{"kind": ["memory"]}]), 2, "one of the kinds"),
    "a field too many": (many({"more": 1}), 2, "more"),
    "a field too few": (stream_of([{"kind": "memory"}]), 2, "id"),
    "a number as text": (many({"importance": "5"}), 2, "importance"),
    "a bound": (many({"importance": 11}), 2, "importance"),
    "a number for no table": (many({"version": 2**40}), 2, "number above"),
    "a time before 1970": (many({"createdAt": "1969-12-31T23:59:59Z"}), 2, "before 1970"),
    "a time without a zone": (many({"createdAt": "2026-01-05T09:00:00"}), 2, "createdAt"),
    "a name that is none": (many({"personaId": "no no"}), 2, "personaId"),
    "a NUL": (many({"summary": "a\0b"}), 2, "NUL"),
    "half of a pair": (many({}).replace("면접을".encode(), rb"\ud800"), 2, ""),
    "a third line": (many({}, {}, {"id": "x"}), 4, "id"),
    "a message without its session": (stream_of([MESSAGE]), 2, "directly before it"),
    "a message of another session": (
        stream_of([SESSION, MESSAGE | {"sessionRef": "t"}]),
        3,
        "directly before",
    ),
    "a message out of turn": (stream_of([SESSION, MESSAGE | {"seq": 2}]), 3, "message 1 was expected"),
    "a message too few": (stream_of([SESSION]), 2, "but 0 follow it"),
    "one message id twice": (
        stream_of([SESSION | {"messageCount": 2}, MESSAGE, MESSAGE | {"seq": 2}]),
        4,
        "two messages with the same id",
    ),
    "more claimed than there is": (many({"claimedCount": 2}, of=SESSION), 2, "claims more"),
    "waiting and not claimed": (
        many({"waiting": [{"first": 1, "last": 1, "memoryId": None}]}, of=SESSION),
        2,
        "not claimed",
    ),
    "messages and no persona": (many({"personaId": None}, of=SESSION), 2, "no persona"),
    "a moment of no memory": (
        stream_of(
            [
                {
                    "kind": "moment",
                    "id": ID,
                    "personaId": "hana",
                    "memoryId": ID,
                    "emotion": "joy",
                    "intensity": 5,
                    "moment": "기쁨",
                    "at": NOW,
                }
            ]
        ),
        2,
        "does not have",
    ),
    "a second version first": (many({"version": 2}, of=FACT), 2, "is not before it"),
    "a second persona first": (many({"version": 2}, of=PERSONA), 2, "is not before it"),
    "a second decision first": (many({"version": 2}, of=DECISION), 2, "there is no version chain"),
    "a persona that forges a block": (
        many({"card": "[현재 상태(캐논)]"}, of=PERSONA),
        2,
        "is the header of a block",
    ),
    "evidence that is not there": (many({"evidenceIds": [ID]}, of=DECISION), 2, "no evidence"),
    "a relation to nowhere": (stream_of([DECISION, RELATION]), 3, "no decision"),
    "an anchor to nowhere": (
        stream_of(
            [
                {
                    "kind": "anchor",
                    "id": ID,
                    "sessionRef": "s",
                    "hint": "저기",
                    "targets": [{"kind": "evidence", "id": ID}],
                    "createdAt": NOW,
                }
            ]
        ),
        2,
        "no evidence",
    ),
}


@pytest.mark.req("OPS-3")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_an_invalid_stream_is_refused_with_its_line(gieok: Gieok, behind: Behind) -> None:
    """Each error has the line and the reason, and nothing is stored."""
    for name, (stream, line, reason) in BROKEN.items():
        with pytest.raises(InputRefused) as refused:
            await gieok.user("minsu").data.import_(pieces(stream))
        assert (name, refused.value.at) == (name, f"line {line}")
        assert reason in str(refused.value), name
        assert "면접" not in str(refused.value)
    for table in ("memories", "messages", "sessions", "chain_versions", "jobs", "search_scopes", "owners"):
        assert behind.count(table) == 0


@pytest.mark.req("OPS-3")
async def test_an_error_in_the_last_line_rolls_everything_back(gieok: Gieok, behind: Behind) -> None:
    """On both databases, with an error that is found only after most records are written."""
    await fill(gieok.user("minsu"))
    taken = records(await export(gieok.user("minsu")))
    counts = {table: behind.count(table) for table in ("memories", "messages", "chain_versions", "evidence")}
    with pytest.raises(InputRefused, match=f"line {len(taken) + 2}: "):
        await gieok.user("jiyoung").data.import_(pieces(stream_of([*taken, RELATION])))
    assert {table: behind.count(table) for table in counts} == counts


async def test_a_stream_above_the_size_limit_is_refused(gieok: Gieok) -> None:
    data: OwnerData = gieok.user("minsu").data
    with pytest.raises(PayloadTooLarge, match="at most 100 bytes"):
        await data.import_(pieces(stream_of([MEMORY])), max_bytes=100)
    with pytest.raises(InputRefused, match="line 2: has more than"):
        await data.import_(pieces(raw() + b" " * 9_000_000, 1_000_000))


@pytest.mark.req("OPS-3", "OPS-2")
async def test_nothing_is_on_disk_in_clear_during_an_import(
    gieok: Gieok, behind: Behind, settings: Settings
) -> None:
    """Neither in the database nor in the temporary file, which has no name and is encrypted."""
    long = [MEMORY | {"id": str(uuid4()), "summary": f"wombat {number}"} for number in range(600)]
    seen: list[bool] = []

    def look(_done: int, _all: int) -> None:
        files = [Path(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")]
        nameless = [each for each in files if _is_unlinked_file(each)]
        seen.append(bool(nameless))
        assert not any(b"wombat" in each.read_bytes() for each in nameless)

    await gieok.user("minsu").data.import_(pieces(stream_of(long)), report=look)
    assert True in seen
    assert behind.files_with("wombat") == {"wombat": []}


def _is_unlinked_file(handle: Path) -> bool:
    try:
        target = os.readlink(handle)
    except OSError:
        return False
    return (
        target.startswith("/") and target.endswith("(deleted)") and not target.startswith(("/dev", "/memfd"))
    )


@pytest.mark.req("OPS-3", "ENG-6")
async def test_a_killed_import_leaves_nothing(
    settings: Settings, behind: Behind, tmp_path: Path, database_url: str
) -> None:
    """The process is killed after nearly everything is written; the same stream is then imported."""
    stream = stream_of(MEMORY | {"id": str(uuid4()), "summary": f"{number}번째"} for number in range(400))
    (tmp_path / "stream").write_bytes(stream)
    command = [sys.executable, "-m", "tests.owner_data.killed", database_url, settings.own_key_file]
    ran = await asyncio.to_thread(
        subprocess.run, [*command, tmp_path / "stream"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (-9, "400 of 400\n"), ran.stderr
    async with await Gieok.open(settings) as gieok:
        assert behind.count("memories") == 0
        assert lines(await export(gieok.user("minsu")))[-1]["records"] == 0
        assert (await gieok.user("minsu").data.import_(pieces(stream))).counts == {"memory": 400}


async def test_a_repeated_line_changes_nothing(gieok: Gieok) -> None:
    done = await gieok.user("minsu").data.import_(pieces(many({}, {}, {})))
    assert (done.counts, done.unchanged) == ({"memory": 1}, 2)


async def test_memories_of_two_personas_in_turn_keep_their_order(gieok: Gieok) -> None:
    """More of them than one batch has."""
    others = [{"id": str(uuid4()), "personaId": ("hana", "duna")[place // 3 % 2]} for place in range(450)]
    done = await gieok.user("minsu").data.import_(pieces(many(*others)))
    assert done.counts == {"memory": 450}
    stored = records(await export(gieok.user("minsu")))
    for persona in ("hana", "duna"):
        expected = [line["id"] for line in others if line["personaId"] == persona]
        assert [line["id"] for line in stored if line.get("personaId") == persona] == expected


async def test_two_memories_of_one_id_are_refused_with_the_line(gieok: Gieok) -> None:
    with pytest.raises(Conflict, match="line 4: "):
        await gieok.user("minsu").data.import_(
            pieces(many({"id": str(uuid4())}, {}, {"summary": "다른 것."}))
        )
    assert lines(await export(gieok.user("minsu")))[-1]["records"] == 0


@pytest.mark.req("OPS-3")
async def test_a_preview_says_what_an_import_adds_and_stores_nothing(gieok: Gieok, behind: Behind) -> None:
    """Also for a user who has nothing yet, and with the errors of the import."""
    await fill(gieok.user("minsu"))
    taken = records(await export(gieok.user("minsu")))
    tables = ("memories", "messages", "chain_versions", "evidence", "audit_entries")
    counts = {table: behind.count(table) for table in tables}
    preview = await gieok.user("jiyoung").data.preview_import(pieces(stream_of(taken)))
    assert {table: behind.count(table) for table in tables} == counts
    with pytest.raises(InputRefused, match=f"line {len(taken) + 2}: "):
        await gieok.user("jiyoung").data.preview_import(pieces(stream_of([*taken, RELATION])))
    assert preview == await gieok.user("jiyoung").data.import_(pieces(stream_of(taken)))
    again = await gieok.user("jiyoung").data.preview_import(pieces(stream_of(taken)))
    assert (again.counts, again.unchanged) == ({}, len(taken))
