"""Contract suite for stores of idempotency keys. Subclass it and define the fixture `scope_of`.

class TestMyStore(RequestStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `write(work)`
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

import pytest

from gieok.errors import Conflict
from gieok.memory.requests import RequestKey, RequestView

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
T = TypeVar("T")


class RequestScope(Protocol):
    """Runs work on one owner's requests, with one transaction per call."""

    async def write(self, work: Callable[[RequestView], T]) -> T: ...


ScopeOf = Callable[[str], RequestScope]


def named(key: str = "k1", body: bytes = b"{}") -> RequestKey:
    return RequestKey(key=key, body=body)


async def remember(
    scope: RequestScope, request: RequestKey, answer: str = "made", *, now: datetime = START
) -> None:
    """Store the answer of a request for a day."""
    await scope.write(lambda view: view.requests.save_result(request, answer, now=now, until=now + DAY))


async def answered(scope: RequestScope, request: RequestKey, *, now: datetime = START) -> str | None:
    return await scope.write(lambda view: view.requests.result(request, now))


class RequestStoreContract:
    """Run against every store of idempotency keys."""

    async def test_a_repeated_request_returns_the_stored_answer(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        assert await answered(scope, named()) is None
        await remember(scope, named(), "열하나")
        assert await answered(scope, named()) == "열하나"
        assert await answered(scope, named("k2")) is None

    async def test_a_key_reused_for_another_request_is_a_conflict(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await remember(scope, named(body=b"walk"))
        with pytest.raises(Conflict):
            await answered(scope, named(body=b"rain"))
        with pytest.raises(Conflict):
            await remember(scope, named(body=b"rain"))
        assert await answered(scope, named(body=b"walk")) == "made"

    async def test_a_key_can_be_reused_after_it_expires(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await remember(scope, named(body=b"walk"))
        assert (
            await answered(scope, named(body=b"walk"), now=START + DAY - timedelta(microseconds=1)) == "made"
        )
        assert await answered(scope, named(body=b"rain"), now=START + DAY) is None
        await remember(scope, named(body=b"rain"), "later", now=START + DAY)
        assert await answered(scope, named(body=b"rain"), now=START + DAY) == "later"

    async def test_equal_keys_of_two_kinds_are_independent(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        of_message = RequestKey(key=named().key, body=b"other", kind="message")
        await remember(scope, named())
        assert await answered(scope, of_message) is None
        await remember(scope, of_message, "message")
        assert (await answered(scope, named()), await answered(scope, of_message)) == ("made", "message")

    @pytest.mark.req("OPS-4")
    async def test_owners_are_isolated(self, scope_of: ScopeOf) -> None:
        minsu, jiyoung = scope_of("minsu"), scope_of("지영")
        await remember(minsu, named(), "minsu's")
        assert await answered(jiyoung, named()) is None
        await remember(jiyoung, named(body=b"other"), "지영의")
        assert (await answered(minsu, named()), await answered(jiyoung, named(body=b"other"))) == (
            "minsu's",
            "지영의",
        )

    async def test_only_one_of_many_concurrent_requests_is_stored(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        outcomes = await asyncio.gather(
            *(remember(scope, named(), str(number)) for number in range(8)), return_exceptions=True
        )
        won = [number for number, outcome in enumerate(outcomes) if outcome is None]
        assert len(won) == 1
        assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 7
        assert await answered(scope, named()) == str(won[0])
