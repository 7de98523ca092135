"""The audit trail: actions and times, without content. On both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from gieok import Gieok, Persona
from gieok.adapters.sql.lifecycle.owners import mark_erased
from gieok.adapters.sql.scope import SqlView
from gieok.errors import InputRefused, NotFound, OwnerErased, StoreUnavailable
from gieok.memory.audit import AuditEntry
from tests.behind import Behind
from tests.turns.run_turn import run_turn

HANA = Persona(name="Hana", language="en", system_prompt="You are Hana.")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def add(gieok: Gieok, subject: str | None, at: datetime = NOON, owner: str = "kim") -> AuditEntry:
    scope = gieok.scope(owner)
    return await scope.write(lambda view: view.audit.add("owner.exported", subject, at))


async def test_creating_and_revoking_a_token_are_recorded(gieok: Gieok) -> None:
    """The entries name the token by its id, and are those of its owner alone."""
    made = await gieok.tokens.create("kim", label="laptop")
    await gieok.tokens.revoke(made.record.id)
    entries = await gieok.user("kim").audit.list()
    assert [each.action for each in entries] == ["token.revoked", "token.created"]
    assert {each.subject for each in entries} == {str(made.record.id)}
    assert entries[1].at == made.record.created_at
    assert list(await gieok.user("lee").audit.list()) == []


@pytest.mark.req("ENG-9")
async def test_a_session_move_adds_an_entry(gieok: Gieok) -> None:
    """The entry has the session's ref and the time of the move. A move that fails adds none."""
    user = gieok.user("kim")
    await run_turn(user, "s1", "안녕", persona=HANA)
    move = await user.sessions.move("s1", "chat_turn")
    with pytest.raises(NotFound):
        await user.sessions.move("s2", "chat_turn")
    (entry,) = await user.audit.list()
    assert (entry.action, entry.subject, entry.at) == ("session.moved", "s1", move.moved_at)


async def test_a_key_rotation_adds_an_entry(gieok: Gieok) -> None:
    """One entry for each rotation. An owner without keys gets none."""
    user = gieok.user("kim")
    await run_turn(user, "s1", "안녕", persona=HANA)
    for count in (1, 2):
        await user.rotate_key()
        entries = await user.audit.list()
        assert [(entry.action, entry.subject) for entry in entries] == [("key.rotated", None)] * count
    with pytest.raises(NotFound):
        await gieok.user("lee").rotate_key()
    assert list(await gieok.user("lee").audit.list()) == []


@pytest.mark.req("OPS-3")
async def test_a_rotation_during_an_erasure_adds_no_entry(gieok: Gieok, behind: Behind) -> None:
    """The erasure has marked the owner; an entry would stay behind."""
    await run_turn(gieok.user("kim"), "s1", "안녕", persona=HANA)
    await gieok.database.write("kim", mark_erased(NOON))
    with pytest.raises(OwnerErased):
        await gieok.user("kim").rotate_key()
    assert behind.count("audit_entries") == 0


async def test_pages_follow_each_other_without_a_gap(gieok: Gieok) -> None:
    """Also among entries of the same moment."""
    times = [NOON + timedelta(seconds=number // 3) for number in range(7)]
    added = [await add(gieok, str(number), at) for number, at in enumerate(times)]
    audit = gieok.user("kim").audit
    page = list(await audit.list(2))
    seen = page
    while page:
        page = list(await audit.list(2, before=page[-1].id))
        seen = seen + page
    assert seen == list(await audit.list())
    assert [each.at for each in seen] == sorted(times, reverse=True)
    assert {each.id for each in seen} == {each.id for each in added}
    assert len(seen) == len(added)


async def test_a_page_begins_at_an_entry_of_the_same_owner(gieok: Gieok) -> None:
    foreign = await add(gieok, None, owner="lee")
    for entry_id in (foreign.id, uuid4()):
        with pytest.raises(NotFound, match="no such audit entry"):
            await gieok.user("kim").audit.list(before=entry_id)


async def test_a_page_has_a_limit(gieok: Gieok) -> None:
    for limit in (-1, 0, 1001):
        with pytest.raises(InputRefused, match="limit"):
            await gieok.user("kim").audit.list(limit)


async def test_a_failed_action_is_not_recorded(gieok: Gieok, behind: Behind) -> None:
    """An entry and its act are one transaction."""

    def fail(view: SqlView) -> None:
        view.audit.add("owner.imported", None, NOON)
        raise StoreUnavailable("the disk is full")

    with pytest.raises(StoreUnavailable):
        await gieok.scope("kim").write(fail)
    assert behind.count("audit_entries") == 0


@pytest.mark.req("OPS-3")
async def test_an_erasure_removes_the_trail(gieok: Gieok, behind: Behind) -> None:
    await gieok.tokens.create("kim")
    await gieok.tokens.create("lee")
    await gieok.user("kim").data.erase()
    assert behind.run("SELECT DISTINCT owner FROM audit_entries") == [("lee",)]
