"""What every store of notices must do. Subclass `NoticeStoreContract` and give it `scope_of`.

class TestMyStore(NoticeStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → something with async `write` over rooms
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import pytest

from gieok.errors import InputRefused
from gieok.memory.companion.notices import EXCERPT, FULL, MORE, NoticeRooms
from gieok.memory.companion.records import Notice

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
T = TypeVar("T")


class NoticeScope(Protocol):
    """Runs work on one owner's notices, each piece in a transaction of its own."""

    async def write(self, work: Callable[[NoticeRooms], T]) -> T: ...


ScopeOf = Callable[[str], NoticeScope]


async def leave(scope: NoticeScope, notices: Collection[Notice], persona: str = "hana") -> None:
    """Leave notices to be told."""
    await scope.write(lambda rooms: rooms.notices.leave(persona, notices, START))


async def take(scope: NoticeScope, persona: str = "hana") -> list[Notice]:
    """What is told now."""

    def taken(rooms: NoticeRooms) -> Sequence[Notice]:
        return rooms.notices.take(persona)

    return list(await scope.write(taken))


class NoticeStoreContract:
    """Run against every store of notices."""

    async def test_what_was_left_is_told_once_in_the_order_of_notices(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await leave(scope, [EXCERPT, FULL])
        await leave(scope, [MORE, FULL])
        await leave(scope, [])
        assert await take(scope) == [FULL, MORE, EXCERPT]
        assert await take(scope) == []
        await leave(scope, [FULL])
        assert await take(scope) == [FULL]

    @pytest.mark.req("OPS-4")
    async def test_notices_are_each_persona_s_and_each_owner_s_own(self, scope_of: ScopeOf) -> None:
        minsu, jiyoung = scope_of("minsu"), scope_of("지영")
        await leave(minsu, [FULL])
        await leave(minsu, [MORE], "duri")
        await leave(jiyoung, [EXCERPT])
        assert await take(minsu, "duri") == [MORE]
        assert await take(jiyoung) == [EXCERPT]
        assert await take(minsu) == [FULL]

    async def test_what_is_undone_was_not_told(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await leave(scope, [FULL])

        def fail(rooms: NoticeRooms) -> None:
            rooms.notices.take("hana")
            raise RuntimeError("the turn failed")

        with pytest.raises(RuntimeError):
            await scope.write(fail)
        assert await take(scope) == [FULL]

    async def test_of_many_that_take_at_once_one_tells(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await leave(scope, [FULL, EXCERPT])
        taken = await asyncio.gather(*(take(scope) for _ in range(8)))
        assert sorted(taken, key=len) == [*([[]] * 7), [FULL, EXCERPT]]

    async def test_a_persona_that_cannot_be_one_is_refused(self, scope_of: ScopeOf) -> None:
        with pytest.raises(InputRefused):
            await take(scope_of("minsu"), "")
