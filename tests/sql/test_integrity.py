"""`check_integrity`: damage is planted behind Gieok's back, reported, and repaired if it can be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.lifecycle.integrity import CHECKS, SEALED, IntegrityReport, Kind
from gieok.memory.companion.records import Emotion, MemoryDraft
from gieok.testing.embedders import LetterEmbedder
from tests.behind import Behind
from tests.owner_data.world import fill

OWNER = "mina"


class Planted(NamedTuple):
    """Damage by one statement, and what the check says about it."""

    kind: Kind
    table: str
    sql: str


INDEX_AND_COUNTS: Mapping[str, Planted] = {
    "a head that names an old version": Planted(
        "chain", "chain_heads", "UPDATE chain_heads SET latest = 1, active = 1 WHERE kind = 'policy'"
    ),
    "a missing head": Planted("chain", "chain_heads", "DELETE FROM chain_heads WHERE kind = 'decision'"),
    "a decision that is not active": Planted(
        "chain", "chain_heads", "UPDATE chain_heads SET active = NULL WHERE kind = 'decision'"
    ),
    "a persona of an old version": Planted("index", "persona_heads", "UPDATE persona_heads SET version = 1"),
    "a fact of an old version": Planted(
        "index", "fact_heads", "UPDATE fact_heads SET version = 1 WHERE version = 2"
    ),
    "a retired fact that is listed": Planted(
        "index", "fact_heads", "UPDATE fact_heads SET standing = 2 WHERE standing = 0"
    ),
    "a missing fact head": Planted("index", "fact_heads", "DELETE FROM fact_heads WHERE standing = 2"),
    "a decision of another strength": Planted(
        "index", "decision_heads", "UPDATE decision_heads SET strength = 3"
    ),
    "terms of a turn": Planted(
        "index", "turn_memories", "UPDATE turn_memories SET terms = substr(terms, 1, 12)"
    ),
    "terms of a memory": Planted(
        "index", "memories", "UPDATE memories SET terms = substr(terms, 1, 12) WHERE number = 2"
    ),
    "topics of a memory": Planted(
        "index", "memories", "UPDATE memories SET topic_token = 7 WHERE number = 2"
    ),
    "terms of a message": Planted(
        "index", "messages", "UPDATE messages SET terms = substr(terms, 1, 12) WHERE session_ref = 'talk'"
    ),
    "terms of a fact": Planted(
        "index", "fact_heads", "UPDATE fact_heads SET terms = substr(terms, 1, 12) WHERE standing = 2"
    ),
    "entries of a persona's index": Planted(
        "count", "persona_memory_configs", "UPDATE persona_memory_configs SET entries = entries + 1"
    ),
    "terms of a decision": Planted(
        "index", "decision_heads", "UPDATE decision_heads SET terms = substr(terms, 1, 12)"
    ),
    "terms of a document": Planted(
        "index", "document_heads", "UPDATE document_heads SET terms = substr(terms, 1, 12)"
    ),
    "a document of an old version": Planted(
        "index", "document_heads", "UPDATE document_heads SET version = 1"
    ),
    "a missing document head": Planted("index", "document_heads", "DELETE FROM document_heads"),
    "a digest of evidence": Planted("index", "evidence", "UPDATE evidence SET digest_token = 7"),
    "targets of an anchor": Planted("index", "anchor_targets", "DELETE FROM anchor_targets"),
    "a missing impact": Planted("index", "decision_impacts", "DELETE FROM decision_impacts"),
    "a vector of an old version": Planted("index", "memory_vectors", "UPDATE memory_vectors SET version = 9"),
    "rows of a session's turns": Planted(
        "count", "search_scopes", "UPDATE search_scopes SET row_count = 9 WHERE kind = 'turns'"
    ),
    "a missing scope": Planted(
        "count", "search_scopes", "DELETE FROM search_scopes WHERE kind = 'decisions'"
    ),
    "a revision that went back": Planted("count", "search_scopes", "UPDATE search_scopes SET revision = 1"),
    "active memories": Planted(
        "count", "persona_memory_configs", "UPDATE persona_memory_configs SET active = active + 1"
    ),
    "archived memories": Planted(
        "count", "persona_memory_configs", "UPDATE persona_memory_configs SET archived = archived + 1"
    ),
    "withdrawn messages of a session": Planted(
        "count", "sessions", "UPDATE sessions SET withdrawn_count = 1 WHERE session_ref = 'open'"
    ),
    "messages of a session": Planted(
        "count", "sessions", "UPDATE sessions SET message_count = 99 WHERE session_ref = 'open'"
    ),
}
LOST: Mapping[str, Planted] = {
    "a message that is gone": Planted(
        "count", "sessions", "DELETE FROM messages WHERE session_ref = 'talk' AND seq = 5"
    ),
    "a version that is gone": Planted(
        "chain", "chain_heads", "DELETE FROM chain_versions WHERE kind = 'persona' AND version = 1"
    ),
    "an audit entry that is gone": Planted(
        "audit", "audit_entries", "DELETE FROM audit_entries WHERE number = 1"
    ),
    "a message with another role": Planted(
        "seal", "messages", "UPDATE messages SET role = 'assistant' WHERE session_ref = 'open' AND seq = 1"
    ),
    "a moment of another intensity": Planted("seal", "moments", "UPDATE emotional_moments SET intensity = 1"),
    "a profile of another version": Planted("seal", "profile", "UPDATE profiles SET version = 7"),
}


@pytest.fixture
async def filled(settings: Settings) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, embedder=LetterEmbedder(), background=False) as gieok:
        await fill(gieok.user(OWNER))
        await gieok.user(OWNER).companion.embed()
        yield gieok


def damaged(report: IntegrityReport) -> set[tuple[str, str]]:
    return {(each.kind, each.table) for each in report.damage}


async def test_an_undamaged_database_has_no_findings(filled: Gieok) -> None:
    progress: list[tuple[int, int]] = []
    report = await filled.check_integrity(report=lambda done, total: progress.append((done, total)))
    assert report.damage == ()
    assert report.is_ok
    assert report.owners == 1
    assert report.rows > 50
    assert progress[-1] == (len(CHECKS), len(CHECKS))


async def test_every_sealed_store_is_checked(filled: Gieok) -> None:
    names = await filled.scope(OWNER).read(lambda view: tuple(view.sealed))
    assert set(names) == set(SEALED)


async def test_indexes_and_counts_are_rebuilt(filled: Gieok, behind: Behind) -> None:
    for name, planted in INDEX_AND_COUNTS.items():
        behind.run(planted.sql)
        found = await filled.check_integrity()
        assert (planted.kind, planted.table) in damaged(found), name
        assert all(each.is_repairable and not each.is_repaired for each in found.damage), name
        repaired = await filled.check_integrity(repair=True)
        assert repaired.damage, name
        assert repaired.is_ok, name
        assert (await filled.check_integrity()).damage == (), name


async def test_what_is_lost_is_reported(filled: Gieok, behind: Behind) -> None:
    expected: set[tuple[str, str]] = set()
    for name, planted in LOST.items():
        behind.run(planted.sql)
        expected.add((planted.kind, planted.table))
        repaired = await filled.check_integrity(repair=True)
        left = {(each.kind, each.table) for each in repaired.damage if not each.is_repaired}
        assert left == expected, name
        assert not repaired.is_ok, name


async def test_a_vector_that_does_not_open_is_embedded_again(filled: Gieok, behind: Behind) -> None:
    vectors = behind.count("memory_vectors")
    behind.run("UPDATE memory_vectors SET version = 9 WHERE number = 2")
    report = await filled.check_integrity(repair=True)
    assert ("seal", "vectors") in damaged(report)
    assert report.is_ok
    assert behind.count("memory_vectors") == vectors - 1
    assert await filled.user(OWNER).companion.embed() == 1
    assert (await filled.check_integrity()).damage == ()


async def test_every_sealed_column_is_opened(filled: Gieok, behind: Behind) -> None:
    """A changed last byte breaks the seal of each table that has rows."""
    columns = {
        "turn_memories": ("summary", "keywords"),
        "messages": ("content",),
        "chain_versions": ("content",),
        "evidence": ("card", "content"),
        "anchors": ("content",),
        "memories": ("content",),
        "memory_versions": ("content",),
        "emotional_moments": ("content",),
        "memory_vectors": ("vector",),
        "profiles": ("content",),
    }
    count = 0
    for table, names in columns.items():
        for name in names:
            ((sealed,), *_) = behind.run(f"SELECT {name} FROM {table}")
            wrong = behind.literal(sealed[:-1] + bytes([sealed[-1] ^ 1]))
            behind.run(f"UPDATE {table} SET {name} = {wrong} WHERE {name} = {behind.literal(sealed)}")
            count += 1
    found = await filled.check_integrity()
    assert sum(each.kind == "seal" for each in found.damage) == count


async def test_a_damaged_row_does_not_stop_the_repair_of_others(filled: Gieok, behind: Behind) -> None:
    behind.run("UPDATE memories SET terms = substr(terms, 1, 12)")
    behind.run("UPDATE memories SET importance = 1 WHERE number = 2")
    report = await filled.check_integrity(repair=True)
    assert [each.kind for each in report.damage if not each.is_repaired] == ["seal"]
    assert [each.kind for each in report.damage if each.is_repaired] == ["index"] * 4


async def test_missing_keys_are_reported_and_other_owners_are_checked(filled: Gieok, behind: Behind) -> None:
    other = filled.user("other")
    await other.profile.set(display_name="다른 사람")
    behind.run("UPDATE owners SET key_generation = 7 WHERE owner = 'other'")
    behind.run("UPDATE persona_heads SET version = 1")
    found = await filled.check_integrity()
    assert {(each.owner, each.kind) for each in found.damage} == {("other", "keys"), (OWNER, "index")}
    assert (await filled.check_integrity(owner=OWNER)).owners == 1


async def test_terms_are_not_compared_while_they_are_rebuilt(filled: Gieok, behind: Behind) -> None:
    behind.run("UPDATE turn_memories SET terms = substr(terms, 1, 12)")
    await filled.database.set_meta("analyzer", "1")
    report = await filled.check_integrity(repair=True)
    assert report.skipped_index
    assert report.damage == ()


async def test_writes_go_on_while_it_checks_and_repairs(filled: Gieok, behind: Behind) -> None:
    """Repairs between writes of the same owner leave counts and searches right."""
    user = filled.user(OWNER)
    before = {hit.memory.id for hit in await user.companion.search("hana", "면접")}
    behind.run("UPDATE persona_memory_configs SET active = active + 1")
    behind.run("UPDATE memories SET terms = substr(terms, 1, 12)")
    behind.run("UPDATE sessions SET message_count = 99 WHERE session_ref = 'open'")
    draft = MemoryDraft(
        persona_id="other", summary="바다에 다녀왔다", topics=("바다",), emotion=Emotion.JOY, importance=5
    )

    async def write() -> None:
        for _ in range(20):
            await user.companion.create(draft, account_plan="premium")

    await asyncio.gather(write(), filled.check_integrity(repair=True))
    assert {hit.memory.id for hit in await user.companion.search("hana", "면접")} == before
    assert (await filled.check_integrity()).damage == ()
