"""The audit trail: actions and times, without content. On both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from gieok import Gieok
from gieok.adapters.sql.scope import SqlView
from gieok.errors import InputRefused, NotFound, StoreUnavailable
from gieok.memory.audit import AuditEntry
from tests.behind import Behind

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
