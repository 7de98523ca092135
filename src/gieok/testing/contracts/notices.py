"""Contract suite for stores of notices. Subclass it and define the fixture `scope_of`.

class TestMyStore(NoticeStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `write(work)`
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import pytest

from gieok.errors import InputRefused
from gieok.memory.companion.records import NoticeKind
from gieok.memory.companion.store import NoticeView

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
T = TypeVar("T")


class NoticeScope(Protocol):
    """Runs work on one owner's notices, with one transaction per call."""

    async def write(self, work: Callable[[NoticeView], T]) -> T: ...


ScopeOf = Callable[[str], NoticeScope]


async def leave(scope: NoticeScope, notices: Collection[NoticeKind], persona: str = "hana") -> None:
    """Leave notices for a persona."""
    await scope.write(lambda view: view.notices.leave(persona, notices, START))


async def take(scope: NoticeScope, persona: str = "hana") -> list[NoticeKind]:
    """Take the notices that are waiting."""

    def taken(view: NoticeView) -> Sequence[NoticeKind]:
        return view.notices.take(persona)

    return list(await scope.write(taken))


class NoticeStoreContract:
    """Run against every store of notices."""

    async def test_notices_are_taken_once_in_their_fixed_order(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await leave(scope, ["excerpt", "full"])
        await leave(scope, ["more", "full"])
        await leave(scope, [])
        assert await take(scope) == ["full", "more", "excerpt"]
        assert await take(scope) == []
        await leave(scope, ["full"])
        assert await take(scope) == ["full"]

    @pytest.mark.req("OPS-4")
    async def test_owners_and_personas_are_isolated(self, scope_of: ScopeOf) -> None:
        minsu, jiyoung = scope_of("minsu"), scope_of("지영")
        await leave(minsu, ["full"])
        await leave(minsu, ["more"], "duri")
        await leave(jiyoung, ["excerpt"])
        assert await take(minsu, "duri") == ["more"]
        assert await take(jiyoung) == ["excerpt"]
        assert await take(minsu) == ["full"]

    async def test_a_rolled_back_take_returns_the_notices(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await leave(scope, ["full"])

        def fail(view: NoticeView) -> None:
            view.notices.take("hana")
            raise RuntimeError("the turn failed")

        with pytest.raises(RuntimeError):
            await scope.write(fail)
        assert await take(scope) == ["full"]

    async def test_only_one_of_many_concurrent_takers_gets_the_notices(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await leave(scope, ["full", "excerpt"])
        taken = await asyncio.gather(*(take(scope) for _ in range(8)))
        assert sorted(taken, key=len) == [*([[]] * 7), ["full", "excerpt"]]

    async def test_an_invalid_persona_is_refused(self, scope_of: ScopeOf) -> None:
        with pytest.raises(InputRefused):
            await take(scope_of("minsu"), "")
