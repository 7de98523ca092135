"""An export is one snapshot, in bounded memory, and contains only the owner's data."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from gieok import Gieok, MemoryDraft, Settings
from gieok.adapters.sql.lifecycle.owners import ERASE_QUERIES
from gieok.app.owner_data import Send, stream_from_thread
from gieok.errors import StoreDamaged
from gieok.settings.loading import sqlite_path
from gieok.testing.contracts.sessions import message
from tests.behind import Behind
from tests.owner_data.world import all_of, export, fill, lines, pieces
from tests.sessions.conversation import begin

LONG = "가" * 10_000


async def talk(gieok: Gieok, owner: str, messages: int) -> None:
    """A session with long messages, so that an export has many chunks."""
    user = gieok.user(owner)
    await begin(user, "long")
    said = [message(number).model_copy(update={"content": LONG}) for number in range(1, messages + 1)]
    for first in range(0, messages, 100):
        await user.sessions.save_messages("long", said[first : first + 100])


@pytest.mark.req("OPS-3")
async def test_a_stream_has_a_header_records_and_an_end(gieok: Gieok) -> None:
    await fill(gieok.user("minsu"))
    taken = lines(await export(gieok.user("minsu")))
    assert (taken[0]["kind"], taken[0]["format"]) == ("gieok", 1)
    assert taken[0]["exportedAt"].endswith("Z")
    assert taken[-1] == {"kind": "end", "records": len(taken) - 2}
    assert all("kind" in line for line in taken)
    fact = next(line for line in taken if line["kind"] == "fact" and line["key"] == "커피")
    assert (fact["value"], fact["retiredAt"] is None) == ("하루 세 잔", False)


@pytest.mark.req("OPS-3", "TURN-5")
async def test_an_export_has_the_keywords_of_a_turn_and_a_search_has_not(gieok: Gieok) -> None:
    """The owner has a right to them, and an import could not find the memory without them."""
    minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
    await fill(minsu)
    taken = await export(minsu)
    (turn,) = [line for line in lines(taken) if line["kind"] == "turnMemory"]
    assert "면접" in turn["keywords"]
    await jiyoung.data.import_(pieces(taken))
    found = await gieok.scope("jiyoung").read(lambda view: view.turns.search("turns", "면접", 5))
    assert [each.model_dump(mode="json").keys() for each in found] == [{"id", "summary", "timestamp"}]


CARRIED = {
    "profiles",
    "audit_entries",
    "emotional_moments",
    "memories",
    "memory_versions",
    "persona_memory_configs",
    "turn_memories",
    "messages",
    "session_plan_moves",
    "sessions",
    "anchors",
    "evidence",
    "decision_relations",
    "chain_versions",
}
MADE_ANEW = {
    "audit_heads",
    "memory_vectors",
    "document_vectors",
    "search_indexes",
    "search_scopes",
    "jobs",
    "seal_counts",
    *("events", "event_heads", "event_consumers", "dead_letters", "webhooks"),
    "anchor_targets",
    "decision_impacts",
    "decision_heads",
    "document_heads",
    "decision_walks",
    "fact_heads",
    "fact_revisions",
    "persona_heads",
    "chain_heads",
}
NOT_THEIRS_TO_TAKE = {
    "tokens",
    "requests",
    "notices",
    "usage_days",
    "remembered",
    "cycle_records",
    "staged_commits",
    "staged_changes",
}
"""Access tokens, bookkeeping of requests and commits, results of jobs and timings mean nothing elsewhere."""


@pytest.mark.req("OPS-3")
def test_every_table_is_exported_or_listed_as_not_exported() -> None:
    """Decide here for every new table with an owner whether its rows are exported."""
    assert set(ERASE_QUERIES) == CARRIED | MADE_ANEW | NOT_THEIRS_TO_TAKE


@pytest.mark.req("OPS-3")
async def test_an_export_contains_no_data_of_others_and_no_secrets(gieok: Gieok) -> None:
    await fill(gieok.user("minsu"))
    draft = MemoryDraft(persona_id="hana", summary="quokka의 비밀.")
    await gieok.user("jiyoung").companion.create(draft, account_plan="free")
    token = await gieok.tokens.create("minsu", label="axolotl")
    taken = (await export(gieok.user("minsu"))).decode()
    assert "quokka" not in taken
    assert token.token not in taken
    assert "axolotl" not in taken
    assert '"action":"token.created"' in taken


async def test_an_unknown_user_has_an_empty_export_and_stays_unknown(gieok: Gieok, behind: Behind) -> None:
    assert lines(await export(gieok.user("nobody")))[1:] == [{"kind": "end", "records": 0}]
    assert behind.count("owners") == 0


@pytest.mark.req("OPS-3")
async def test_an_export_is_one_snapshot(gieok: Gieok) -> None:
    """A message, a session and a memory that are added while it is read are not in it."""
    await talk(gieok, "minsu", 40)
    user = gieok.user("minsu")
    draft = MemoryDraft(persona_id="hana", summary="나중 이야기.")
    async with aclosing(user.data.export()) as pieces:
        taken = await anext(pieces)
        await user.sessions.save_messages("long", [message(41)])
        await begin(user, "later")
        await user.companion.create(draft, account_plan="free")
        taken += await all_of(pieces)
    read = lines(taken)
    assert [line["seq"] for line in read if line["kind"] == "message"] == list(range(1, 41))
    assert [line["messageCount"] for line in read if line["kind"] == "session"] == [40]
    assert read[-1]["records"] == len(read) - 2
    assert not any(line["kind"] == "memory" for line in read)


async def test_the_log_of_sqlite_does_not_grow_while_a_client_reads_slowly(
    gieok: Gieok, settings: Settings
) -> None:
    """A snapshot that stays open keeps SQLite from reusing its log."""
    path = sqlite_path(settings.database_url)
    if path is None:
        pytest.skip("PostgreSQL has no such file")
    log = path.with_name(path.name + "-wal")
    await talk(gieok, "minsu", 200)
    grown = log.stat().st_size
    async with aclosing(gieok.user("minsu").data.export()) as pieces:
        await anext(pieces)
        for number in range(10):
            await talk(gieok, f"owner-{number}", 200)
    assert log.stat().st_size < 3 * grown


async def test_closing_an_export_lets_the_next_one_run(gieok: Gieok) -> None:
    """More exports are started and closed than may run at once, and more than there are connections."""
    await talk(gieok, "minsu", 40)
    user = gieok.user("minsu")
    for _ in range(12):
        async with aclosing(user.data.export()) as pieces:
            await anext(pieces)
    assert len(lines(await export(user))) > 40


async def test_concurrent_exports_are_limited(gieok: Gieok) -> None:
    await talk(gieok, "minsu", 40)
    user = gieok.user("minsu")
    streams = [asyncio.create_task(export(user)) for _ in range(6)]
    assert {len([line for line in lines(await each) if line["kind"] == "message"]) for each in streams} == {
        40
    }


async def test_a_producer_does_not_wait_for_its_reader() -> None:
    given = asyncio.Event()
    loop = asyncio.get_running_loop()

    def give_all(give: Send) -> None:
        for number in range(100):
            give(str(number).encode())
        loop.call_soon_threadsafe(given.set)

    async with aclosing(stream_from_thread(lambda give: asyncio.to_thread(give_all, give))) as pieces:
        assert await anext(pieces) == b"0"
        async with asyncio.timeout(30):
            await given.wait()
        assert [piece async for piece in pieces] == [str(number).encode() for number in range(1, 100)]


@pytest.mark.parametrize("lost", [1, 39, 40])
async def test_an_error_in_the_middle_of_a_stream_reaches_its_reader(
    gieok: Gieok, behind: Behind, lost: int
) -> None:
    """A damaged row ends the stream with an error, not with a valid last line."""
    await talk(gieok, "minsu", 40)
    behind.run(f"DELETE FROM messages WHERE seq = {lost}")
    taken: list[bytes] = []

    async def take() -> None:
        async for piece in gieok.user("minsu").data.export():
            taken.append(piece)

    with pytest.raises(StoreDamaged, match="missing"):
        await take()
    assert b'"kind":"end"' not in b"".join(taken)
