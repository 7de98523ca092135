"""The audit trail: actions and times, without content. On both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from gieok import Gieok, Persona, Settings
from gieok.adapters.sql.lifecycle.owners import mark_erased
from gieok.adapters.sql.scope import SqlView
from gieok.errors import (
    InputRefused,
    NotFound,
    OwnerErased,
    StoreDamaged,
    StoreUnavailable,
    Unauthenticated,
)
from gieok.memory.audit import OPERATOR, AuditEntry
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


async def test_a_failed_login_is_recorded(gieok: Gieok) -> None:
    """With the id of a token that was revoked or has expired, in the trail of its owner, once a minute."""
    made = await gieok.tokens.create("kim")
    await gieok.tokens.revoke(made.record.id)
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await gieok.tokens.authenticate(made.token)
    entries = await gieok.user("kim").audit.list()
    assert [entry.action for entry in entries] == ["login.failed", "token.revoked", "token.created"]
    assert entries[0].subject == str(made.record.id)


async def test_failed_logins_with_unknown_tokens_are_in_the_trail_of_the_operator(
    settings: Settings,
) -> None:
    """They are counted: writing each of them would let anybody fill the database."""
    now = NOON
    async with await Gieok.open(settings, clock=lambda: now) as gieok:
        for seconds in (0, 10, 20, 60):
            now = NOON + timedelta(seconds=seconds)
            with pytest.raises(Unauthenticated):
                await gieok.tokens.authenticate("gk_" + "x" * 43)
        entries = await gieok.user(OPERATOR).audit.list()
    assert {entry.action for entry in entries} == {"login.failed"}
    assert [entry.subject for entry in entries] == ["3", "1"]


async def test_nobody_gets_a_token_of_the_operators_trail(gieok: Gieok) -> None:
    with pytest.raises(InputRefused, match="reserved"):
        await gieok.tokens.create(OPERATOR)


REMOVE = "DELETE FROM audit_entries WHERE number = {}"
CHANGE = "UPDATE audit_entries SET subject = 'x' WHERE number = {}"
SWAP = "UPDATE audit_entries SET at = at + 1 WHERE number = {}"


@pytest.mark.parametrize("tampered", [REMOVE, CHANGE, SWAP])
@pytest.mark.parametrize("number", [1, 3, 5])
async def test_a_removed_or_altered_entry_is_detected(
    gieok: Gieok, behind: Behind, tampered: str, number: int
) -> None:
    for each in range(5):
        await add(gieok, str(each))
    audit = gieok.user("kim").audit
    assert await audit.verify() == 5
    behind.run(tampered.format(number))
    with pytest.raises(StoreDamaged, match=f"entry {number} of the audit trail"):
        await audit.verify()


async def test_the_trail_of_another_owner_is_no_replacement(gieok: Gieok, behind: Behind) -> None:
    for owner in ("kim", "lee"):
        await add(gieok, "same", owner=owner)
    behind.run("DELETE FROM audit_entries WHERE owner = 'kim'")
    behind.run("UPDATE audit_entries SET owner = 'kim' WHERE owner = 'lee'")
    with pytest.raises(StoreDamaged):
        await gieok.user("kim").audit.verify()


async def test_concurrent_entries_are_one_chain(gieok: Gieok) -> None:
    await asyncio.gather(*(add(gieok, str(number)) for number in range(20)))
    assert await gieok.user("kim").audit.verify() == 20


async def test_a_rotation_of_the_key_does_not_break_the_chain(gieok: Gieok) -> None:
    await add(gieok, "before")
    await gieok.user("kim").rotate_key()
    await add(gieok, "after")
    assert await gieok.user("kim").audit.verify() == 3


async def test_trimming_leaves_a_checkpoint_from_which_the_rest_is_verified(
    gieok: Gieok, behind: Behind
) -> None:
    for number in range(6):
        await add(gieok, str(number), NOON + timedelta(days=number))
    scope, audit = gieok.scope("kim"), gieok.user("kim").audit
    for days, left in ((2, ["2", "3", "4", "5"]), (4, ["4", "5"])):
        cutoff = NOON + timedelta(days=days)
        assert await scope.write(lambda view, at=cutoff: view.audit.trim(at, NOON + timedelta(days=9))) > 0
        entries = [each for each in await audit.list() if each.action == "owner.exported"]
        assert sorted(each.subject or "" for each in entries) == left
        assert await audit.verify() >= len(left)
    assert await scope.write(lambda view: view.audit.trim(NOON, NOON)) == 0
    behind.run("DELETE FROM audit_entries WHERE subject = '4'")
    with pytest.raises(StoreDamaged):
        await audit.verify()


async def test_imported_entries_are_not_in_the_chain(gieok: Gieok) -> None:
    await add(gieok, "here", owner="lee")
    exported = [piece async for piece in gieok.user("lee").data.export()]

    async def pieces() -> AsyncIterator[bytes]:
        for piece in exported:
            yield piece

    await gieok.user("kim").data.import_(pieces())
    entries = await gieok.user("kim").audit.list()
    assert [each.action for each in entries].count("owner.exported") == 2
    assert await gieok.user("kim").audit.verify() == 1
