"""The index of a persona has its memories, the messages of its sessions and its facts, on both databases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from gieok import Gieok
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.memory.canon.records import FactDraft
from gieok.memory.companion.hits import HIT_KINDS, HitKind
from gieok.memory.observations import Category
from gieok.memory.sessions.records import ChatMessage, SessionStart
from gieok.testing.contracts.companion import memory
from tests.behind import Behind

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HASH = "0" * 64


@pytest.fixture
def scope(gieok: Gieok) -> OwnerScope:
    return gieok.scope("minsu")


def said(number: int, content: str, speaker: str | None = None) -> ChatMessage:
    return ChatMessage(id=f"m{number}", role="user", content=content, timestamp=NOW, speaker=speaker)


async def log(scope: OwnerScope, *messages: ChatMessage, session: str = "s1", persona: str = "hana") -> None:
    def write(view: SqlView) -> None:
        if view.sessions.get(session) is None:
            start = SessionStart(
                session_ref=session, persona_id=persona, account_plan="free", plan_hash=HASH, plans=None
            )
            view.sessions.start(start, NOW)
        view.messages.append(session, messages, NOW, None)

    await scope.write(write)


async def found(
    scope: OwnerScope, term: str, kinds: Sequence[HitKind] = HIT_KINDS, persona: str = "hana"
) -> list[str]:
    """The texts of the rows that the index finds by one term."""

    def find(view: SqlView) -> list[str]:
        index = view.companion.index(persona, kinds=kinds, include_archived=False)
        match = index.find([term]).get(term)
        return [row.record.text for row in index.open(match.rows.tolist())] if match else []

    return sorted(await scope.read(find))


async def test_messages_memories_and_facts_are_in_one_index(scope: OwnerScope) -> None:
    await log(scope, said(1, "tomorrow is my interview"), said(2, "lunch was good"))
    await scope.write(lambda view: view.companion.save([memory("the interview went well")]))
    draft = FactDraft(
        category=Category.EVENT, key="interview", value="Friday", importance=8, provenance="user"
    )
    change = await scope.write(lambda view: view.facts.save("hana", draft, at=NOW))
    everything = ["interview: Friday", "the interview went well", "tomorrow is my interview"]
    assert await found(scope, "interview") == everything
    assert await found(scope, "interview", ["memory"]) == ["the interview went well"]
    assert await found(scope, "interview", ["message"]) == ["tomorrow is my interview"]
    assert await found(scope, "interview", ["fact"]) == ["interview: Friday"]
    assert await found(scope, "interview", persona="mina") == []
    assert change.fact is not None
    root_id = change.fact.root_id
    await scope.write(lambda view: view.facts.retire("hana", root_id, at=NOW))
    assert await found(scope, "interview", ["fact"]) == []


async def test_words_that_describe_a_message_find_it(scope: OwnerScope) -> None:
    await log(scope, said(1, "it starts at nine"), said(2, "lunch"))
    await scope.write(lambda view: view.messages.describe("s1", {"m1": ["interview"], "gone": ["lunch"]}))
    await scope.write(lambda view: view.messages.describe("s1", {"m1": ["interview", "appointment"]}))
    assert await found(scope, "interview") == await found(scope, "appoint") == ["it starts at nine"]
    assert await found(scope, "lunch") == ["lunch"]


async def test_a_message_out_of_the_index_stays_in_the_log(scope: OwnerScope) -> None:
    await log(scope, said(1, "my interview"), said(2, "the interview is over", speaker="Ana"))
    await scope.write(lambda view: view.messages.describe("s1", {"m1": ["appointment"]}))
    await scope.write(lambda view: view.messages.unindex("s1", ["m1"]))
    assert await found(scope, "interview") == ["the interview is over"]
    assert await found(scope, "appoint") == []
    assert await found(scope, "ana") == ["the interview is over"]
    kept = await scope.read(lambda view: view.messages.window("s1", 10))
    assert [(message.content, message.speaker) for message in kept] == [
        ("my interview", None),
        ("the interview is over", "Ana"),
    ]


async def test_deleted_sessions_and_facts_leave_the_index(scope: OwnerScope) -> None:
    await log(scope, said(1, "my interview"))
    await log(scope, said(1, "another interview"), session="s2")
    draft = FactDraft(
        category=Category.EVENT, key="interview", value="Friday", importance=8, provenance="user"
    )
    await scope.write(lambda view: view.facts.save("hana", draft, at=NOW))
    await scope.write(lambda view: view.sessions.delete("s1"))
    assert await found(scope, "interview") == ["another interview", "interview: Friday"]
    await scope.write(lambda view: view.facts.delete("hana", None))
    assert await found(scope, "interview") == ["another interview"]


async def test_rows_of_an_older_release_are_indexed_later(scope: OwnerScope, behind: Behind) -> None:
    await log(scope, said(1, "my interview"), said(2, "the interview is over"))
    draft = FactDraft(
        category=Category.EVENT, key="interview", value="Friday", importance=8, provenance="user"
    )
    await scope.write(lambda view: view.facts.save("hana", draft, at=NOW))
    behind.run("UPDATE messages SET persona_id = NULL, number = NULL, changed = NULL, terms = NULL")
    behind.run("UPDATE fact_heads SET number = NULL, changed = NULL, terms = NULL")
    behind.run("UPDATE persona_memory_configs SET last_entry = 0, entries = 0")
    assert not await scope.read(lambda view: view.messages.is_indexed)
    assert await found(scope, "interview") == []
    await scope.write(lambda view: view.messages.describe("s1", {"m2": ["appointment"]}))
    assert await scope.write(lambda view: view.facts.index_missing(10)) == 1
    assert await scope.write(lambda view: view.messages.index_missing(10)) == 1
    assert await scope.write(lambda view: view.messages.index_missing(10)) == 0
    assert await scope.read(lambda view: view.messages.is_indexed)
    assert await found(scope, "interview") == ["interview: Friday", "my interview", "the interview is over"]
    assert await found(scope, "appoint") == ["the interview is over"]


async def test_another_analyzer_indexes_messages_and_facts_again(scope: OwnerScope) -> None:
    await log(scope, said(1, "my interview"), said(2, "withdrawn interview"))
    await scope.write(lambda view: view.messages.describe("s1", {"m1": ["appointment"]}))
    await scope.write(lambda view: view.messages.unindex("s1", ["m2"]))
    assert await scope.write(lambda view: view.messages.reindex(b"", 10)) is None
    assert await scope.write(lambda view: view.facts.reindex(b"", 10)) is None
    assert await found(scope, "interview") == await found(scope, "appoint") == ["my interview"]


async def test_words_of_messages_are_not_stored_in_clear(scope: OwnerScope, behind: Behind) -> None:
    await log(scope, said(1, "zebrafish", speaker="Pelican"))
    await scope.write(lambda view: view.messages.describe("s1", {"m1": ["ostrich"]}))
    assert behind.files_with("zebrafish", "elican", "ostrich") == {
        "zebrafish": [],
        "elican": [],
        "ostrich": [],
    }
