"""The migration to one search index: the packed terms that it makes are those that a fresh write makes."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.driver.migrations import Migration, load_migrations
from gieok.adapters.sql.driver.postgres.database import PostgresDatabase
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.memory.companion.records import MemoryChanges
from gieok.ranking import pack_terms
from gieok.settings import sqlite_path
from gieok.testing.contracts import companion, decisions, turns
from tests.behind import Behind
from tests.postgres import Postgres

OWNERS = ("jiyoung", "minsu")
PERSONAS = ("hana", "mina")
COPIED = {
    "meta": "key, value",
    "owners": "owner, key_generation, created_at",
    "persona_memory_configs": "owner, persona_id, recall, last_number, active, archived, revision",
    "chain_versions": "owner, kind, root_id, version, id, form, content, created_at",
    "chain_heads": "owner, kind, root_id, latest, active",
    "decision_heads": "owner, root_id, version, domain_token, strength, created_at",
    "turn_memories": "owner, id, session_ref, at, summary, keywords",
    "memories": "owner, id, persona_id, number, session_ref, origin, importance, created_at, occurred_at,"
    " archived_at, version, topic_token, content",
}
"""Tables and columns of both schemas, in an order that foreign keys allow."""
FILLED = {"persona_memory_configs": {"words_active": 0, "words_archived": 0}}
"""Columns of the old schema only, which the migration drops unread."""
ODD_COUNTS = {-(2**63): 65_535, -1: 256, 0: 1, 7: 255, 2**63 - 1: 300}
"""Extreme tokens, and counts that take both bytes."""
ODD_WORDS = 70_000
"""More than the packed length holds."""


@dataclasses.dataclass(frozen=True)
class Terms:
    """Unpacked terms of a row. Of a turn memory, `own` is the number of the keyword."""

    version: int
    own_words: int
    own: tuple[tuple[int, int], ...]
    """Tokens and counts of the words of the row itself: what the old schema had."""

    @classmethod
    def of(cls, packed: bytes) -> Terms:
        (version, own_words, _), *records = struct.iter_unpack(">qHH", packed)
        return cls(version, own_words, tuple((token, own) for token, own, _ in records if own))


@pytest.fixture
async def old(
    settings: Settings, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Settings, Behind]]:
    """A second database, at the schema before the migration, with the keystore of the first."""
    path, server = sqlite_path(settings.database_url), None
    if path:
        url = f"sqlite:///{path.parent / 'old.db'}"
        await SqliteDatabase(path.parent / "old.db", migrations=before("sqlite")).close()
    else:
        server = request.getfixturevalue("postgres")
        assert isinstance(server, Postgres)
        url = server.new_database()
        await PostgresDatabase(url, migrations=before("postgres")).close()
    made = dataclasses.replace(settings, database_url=url)
    yield made, Behind(made, server, tmp_path)
    if server:
        server.drop(url)


def before(dialect: Any) -> tuple[Migration, ...]:
    """The migrations before the one that is tested."""
    known = load_migrations(dialect)
    (number,) = (migration.version for migration in known if migration.name == "one_index")
    return known[: number - 1]


async def remember(gieok: Gieok, owner: str) -> None:
    """Two personas with the same numbers; memories archived, edited and without terms; several sessions and
    domains."""
    scope = gieok.scope(owner)
    for persona in PERSONAS:
        made = [
            companion.memory("면접 전날이라 떨린다고 함.", persona_id=persona, topics=("면접",)),
            companion.memory("...", persona_id=persona),
            companion.memory("river " * 300, persona_id=persona, speaker="Mina"),
            companion.memory("Did they cross the river?", persona_id=persona),
        ]
        await companion.save(scope, *made)
        await gieok.user(owner).companion.edit(made[3].id, MemoryChanges(importance=9))
        await gieok.user(owner).companion.archive(made[2].id)
    for session in ("s1", "s2"):
        items = turns.item("면접관", "서울 대학교", session=session), turns.item("river", session=session)
        await turns.save(scope, *items)
    first = await decisions.save(scope, decisions.content("Write parsers in Rust"))
    await decisions.save(scope, decisions.content("Write lexers in Zig"), first.root_id)
    await decisions.save(scope, decisions.content("재고는 한 곳에서 센다", "wms"))


async def answers(gieok: Gieok, owner: str) -> dict[str, list[UUID]]:
    """What searches find, by words of every stored row that has any."""
    user, scope = gieok.user(owner), gieok.scope(owner)
    found: dict[str, list[UUID]] = {}
    for query in ("면접", "river", "who crossed the river?"):
        for persona in PERSONAS:
            hits = await user.companion.search(persona, query)
            found[f"{persona}: {query}"] = [hit.memory.id for hit in hits]
    for query in ("면접관", "대학", "riv"):
        for session in ("s1", "s2"):
            found[f"{session}: {query}"] = await turns.found_ids(scope, query, session=session)
    for query in ("write", "재고는"):
        found[query] = await decisions.found(scope, query, "wms")
    return found


def copy(source: Behind, target: Behind) -> None:
    """Copy all rows into the old schema. Its index tables get the terms of the row's own words."""
    for table, columns in COPIED.items():
        target.run(f"DELETE FROM {table}")
        names = columns.split(", ")
        for row in source.run(f"SELECT {columns} FROM {table}"):
            values = {**dict(zip(names, row, strict=True)), **FILLED.get(table, {})}
            if table == "memories":
                stored = terms_of(source, table, "id")[bytes(values["id"])]
                values |= old_memory_terms(dict(stored.own), stored.own_words)
            insert(target, table, values)
    for owner, identity, at in source.run("SELECT owner, id, at FROM turn_memories"):
        stored = terms_of(source, "turn_memories", "id")[bytes(identity)]
        for token, keyword in stored.own:
            add_turn_posting(target, owner, bytes(identity), at, token, keyword - 1)
    for owner, root in source.run("SELECT owner, root_id FROM decision_heads"):
        for token, _ in terms_of(source, "decision_heads", "root_id")[bytes(root)].own:
            insert(target, "decision_index", {"owner": owner, "token": token, "root_id": bytes(root)})


def old_memory_terms(counts: Mapping[int, int], words: int) -> dict[str, Any]:
    """The columns that the old schema had: tokens of 8 bytes in ascending order, each with a count of 2."""
    return {"words": words, "terms": b"".join(struct.pack(">qH", *pair) for pair in sorted(counts.items()))}


def add_turn_posting(behind: Behind, owner: str, identity: bytes, at: int, token: int, keyword: int) -> None:
    insert(
        behind,
        "turn_memory_index",
        {"owner": owner, "token": token, "at": at, "id": identity, "keyword": keyword},
    )


def insert(behind: Behind, table: str, values: Mapping[str, Any]) -> None:
    literals = ", ".join(literal(behind, value) for value in values.values())
    behind.run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({literals})")


def literal(behind: Behind, value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case int():
            return str(value)
        case str():
            return f"'{value}'"
        case _:
            return behind.literal(bytes(value))


def terms_of(behind: Behind, table: str, key: str) -> dict[bytes, Terms]:
    rows = behind.run(f"SELECT {key}, terms FROM {table}")
    return {bytes(row): Terms.of(bytes(packed)) for row, packed in rows}


def without_lengths(terms: Mapping[bytes, Terms]) -> dict[bytes, Terms]:
    """Searches of turn memory and decisions do not use the lengths, and the migration leaves them 0."""
    return {row: dataclasses.replace(each, own_words=0) for row, each in terms.items()}


async def test_an_upgraded_database_has_the_terms_of_a_fresh_one_and_finds_the_same(
    settings: Settings, behind: Behind, old: tuple[Settings, Behind]
) -> None:
    old_settings, old_behind = old
    async with await Gieok.open(settings) as fresh:
        for owner in OWNERS:
            await remember(fresh, owner)
        expected = {owner: await answers(fresh, owner) for owner in OWNERS}
    assert [query for found in expected.values() for query, ids in found.items() if not ids] == []
    copy(behind, old_behind)
    async with await Gieok.open(old_settings) as upgraded:
        made = terms_of(old_behind, "memories", "id")
        assert made == terms_of(behind, "memories", "id")
        assert {terms.version for terms in made.values()} == {1, 2}
        assert min(len(terms.own) for terms in made.values()) == 1
        assert min(token for terms in made.values() for token, _ in terms.own) < 0
        assert max(count for terms in made.values() for _, count in terms.own) > 255
        for table, key in (("turn_memories", "id"), ("decision_heads", "root_id")):
            upgraded_terms = without_lengths(terms_of(old_behind, table, key))
            assert upgraded_terms == without_lengths(terms_of(behind, table, key))
        assert {owner: await answers(upgraded, owner) for owner in OWNERS} == expected


async def test_rows_written_after_the_upgrade_are_found_together_with_the_old_ones(
    settings: Settings, behind: Behind, old: tuple[Settings, Behind]
) -> None:
    """By a process that has cached the index of the old rows, and by one that has not."""
    old_settings, old_behind = old
    async with await Gieok.open(settings) as fresh:
        await remember(fresh, "minsu")
    copy(behind, old_behind)
    async with await Gieok.open(old_settings) as upgraded, await Gieok.open(old_settings) as other:
        before = await answers(upgraded, "minsu")
        scope = upgraded.scope("minsu")
        memory, item = companion.memory("The river froze."), turns.item("river", session="s1", minute=9)
        await companion.save(scope, memory)
        await turns.save(scope, item)
        decision = await decisions.save(scope, decisions.content("Write tests", "wms"), minute=9)
        after = await answers(upgraded, "minsu")
        assert await answers(other, "minsu") == after
    added = {
        query: set(after[query]) - set(before[query]) for query in after if after[query] != before[query]
    }
    assert added == {
        "hana: river": {memory.id},
        "hana: who crossed the river?": {memory.id},
        "s1: riv": {item.id},
        "write": {decision.root_id},
    }


async def test_extreme_terms_are_packed_like_fresh_ones(old: tuple[Settings, Behind]) -> None:
    """The smallest and the largest token, counts of two bytes, more words than the packed length holds, a
    token of several keywords, and rows of several owners and personas with the same number."""
    old_settings, old_behind = old
    item, root, rows = uuid4().bytes, uuid4().bytes, dict[bytes, dict[int, int]]()
    for owner in OWNERS:
        insert(old_behind, "owners", {"owner": owner, "key_generation": 1, "created_at": "2026-01-05"})
        for persona in PERSONAS:
            add_persona(old_behind, owner, persona)
            for number, counts in enumerate((ODD_COUNTS, {}), 1):
                row = uuid4().bytes
                rows[row] = counts
                add_memory(old_behind, owner, persona, number, row, counts)
    turn = {"owner": "minsu", "id": item, "session_ref": "s", "at": 5, "summary": b"s", "keywords": b"k"}
    insert(old_behind, "turn_memories", turn)
    postings = [(-(2**63), 0), (-(2**63), 32_767), (-1, 256), (2**63 - 1, 1)]
    for token, keyword in postings:
        add_turn_posting(old_behind, "minsu", item, 5, token, keyword)
    add_decision(old_behind, "minsu", root)
    for token in ODD_COUNTS:
        insert(old_behind, "decision_index", {"owner": "minsu", "token": token, "root_id": root})
    await (await Gieok.open(old_settings)).close()
    stored = {bytes(row): bytes(terms) for row, terms in old_behind.run("SELECT id, terms FROM memories")}
    assert stored == {row: pack_terms(3, counts, own_words=ODD_WORDS) for row, counts in rows.items()}
    assert terms_of(old_behind, "turn_memories", "id")[item].own == tuple(
        (token, keyword + 1) for token, keyword in postings
    )
    assert terms_of(old_behind, "decision_heads", "root_id")[root] == Terms(
        4, 0, tuple((token, 1) for token in ODD_COUNTS)
    )


def add_persona(behind: Behind, owner: str, persona: str) -> None:
    row = {"owner": owner, "persona_id": persona, "recall": 1, "last_number": 2, "active": 2, "archived": 0}
    insert(behind, "persona_memory_configs", {**row, **FILLED["persona_memory_configs"]})


def add_memory(
    behind: Behind, owner: str, persona: str, number: int, row: bytes, counts: Mapping[int, int]
) -> None:
    """A memory of the third version, whose content is never opened."""
    columns = {"owner": owner, "id": row, "persona_id": persona, "number": number, "origin": 1}
    times = {"importance": 5, "created_at": 5, "occurred_at": 5, "version": 3, "content": b"sealed"}
    insert(behind, "memories", {**columns, **times, **old_memory_terms(counts, ODD_WORDS)})


def add_decision(behind: Behind, owner: str, root: bytes) -> None:
    """A decision of the fourth version, whose content is never opened."""
    version = {"owner": owner, "kind": "decision", "root_id": root, "version": 4, "id": root, "form": 1}
    insert(behind, "chain_versions", {**version, "content": b"sealed", "created_at": 5})
    chain = {"owner": owner, "kind": "decision", "root_id": root, "latest": 4, "active": 4}
    insert(behind, "chain_heads", chain)
    head = {"owner": owner, "root_id": root, "version": 4, "domain_token": 0, "strength": 1, "created_at": 5}
    insert(behind, "decision_heads", head)
