"""Sessions and messages in SQL: the contract on both databases, sealing and damage."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.errors import SealBroken, StoreDamaged
from gieok.testing.contracts.sessions import (
    LogScopeOf,
    MessageStoreContract,
    append,
    logged,
    message,
    start,
)
from tests.behind import Behind


@pytest.fixture
def log_scope_of(gieok: Gieok) -> LogScopeOf:
    return gieok.scope


class TestSqlMessageStore(MessageStoreContract):
    """SQLite and PostgreSQL, by the fixture `gieok`."""


@pytest.mark.req("OPS-2", "COMP-10")
async def test_messages_are_not_stored_in_clear(log_scope_of: LogScopeOf, behind: Behind) -> None:
    scope = log_scope_of("minsu")
    await start(scope)
    await append(scope, message(1, "zebrafish secret"))
    assert behind.files_with("zebrafish") == {"zebrafish": []}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE messages SET role = 'assistant' WHERE seq = 2",
        "UPDATE messages SET at = at + 1 WHERE seq = 2",
        "UPDATE messages SET id = 'm9' WHERE seq = 2",
        "UPDATE messages SET content = (SELECT m.content FROM messages m WHERE m.seq = 1) WHERE seq = 2",
    ],
)
async def test_a_changed_message_row_does_not_open(
    log_scope_of: LogScopeOf, behind: Behind, damage: str
) -> None:
    scope = log_scope_of("minsu")
    await start(scope)
    await append(scope, *(message(number) for number in range(1, 4)))
    behind.run(damage)
    with pytest.raises(SealBroken):
        await logged(scope)


async def test_a_missing_message_is_damage(log_scope_of: LogScopeOf, behind: Behind) -> None:
    scope = log_scope_of("minsu")
    await start(scope)
    await append(scope, *(message(number) for number in range(1, 4)))
    behind.run("DELETE FROM messages WHERE seq = 2")
    with pytest.raises(StoreDamaged):
        await logged(scope)


@pytest.mark.req("OPS-2")
async def test_a_new_data_key_reseals_every_message(
    gieok: Gieok, log_scope_of: LogScopeOf, monkeypatch: pytest.MonkeyPatch, behind: Behind
) -> None:
    """In batches that end in the middle of a session, so that the walk has to find its place again."""
    monkeypatch.setattr("gieok.adapters.sql.lifecycle.owners.RESEAL_BATCH", 2)
    scope = log_scope_of("minsu")
    for session in ("s", "t"):
        await start(scope, session)
        await append(scope, *(message(number) for number in range(1, 4)), session_ref=session)
    before = {row[0] for row in behind.run("SELECT content FROM messages")}
    assert await gieok.user("minsu").rotate_key() == 6
    assert before.isdisjoint(row[0] for row in behind.run("SELECT content FROM messages"))
    assert [said.id for said in await logged(scope, "t")] == ["m1", "m2", "m3"]
