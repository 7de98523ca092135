"""Which calls are made again, and which never."""

from __future__ import annotations

import httpx
import pytest

from gieok import MemoryDraft
from gieok.client import GieokClient, ServiceUnreachable
from gieok.errors import RateLimited
from tests.client.sockets import AT_ONCE, answering, hanging_up, saying

BUSY = saying(
    429,
    '{"success": false, "error": "RATE_LIMITED", "message": "later"}',
    "Retry-After: 0",
    "X-Request-Id: r1",
)
NO_PERSONAS = saying(200, '{"success": true, "personas": []}')


async def test_a_busy_service_is_asked_again_and_not_for_ever() -> None:
    """GET: after as long as it says. The last refusal is told, with what the service calls the request."""
    async with answering(BUSY, BUSY, NO_PERSONAS) as (client, came):
        assert await client.personas.list() == ()
        assert len(came) == 3
    async with answering(BUSY) as (client, came):
        with pytest.raises(RateLimited) as told:
            await client.personas.list()
        assert len(came) == AT_ONCE.attempts
        assert told.value.__notes__ == ["X-Request-Id: r1"]


async def test_a_wait_that_is_too_long_is_told_instead() -> None:
    patient = saying(429, '{"success": false, "error": "RATE_LIMITED", "message": "m"}', "Retry-After: 3600")
    async with answering(patient) as (client, came):
        with pytest.raises(RateLimited) as told:
            await client.personas.list()
        assert (told.value.retry_after, len(came)) == (3600, 1)


async def test_a_lost_answer_is_asked_for_again_where_that_is_safe() -> None:
    async with answering(hanging_up, NO_PERSONAS) as (client, came):
        assert await client.personas.list() == ()
        assert len(came) == 2
    async with answering(hanging_up) as (client, came):
        with pytest.raises(ServiceUnreachable):
            await client.chat.send("hana", "안녕")
        assert len(came) == 1


async def test_a_memory_is_created_once_although_its_answer_was_lost(
    talking: GieokClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service did it, and the line broke: the same Idempotency-Key gives back the same memory."""
    send, lost = httpx.AsyncClient.send, list[str]()

    async def losing(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False
    ) -> httpx.Response:
        answer = await send(self, request, stream=stream)
        if not lost:
            lost.append(request.headers["Idempotency-Key"])
            await answer.aclose()
            raise httpx.ReadError("the line broke")
        assert request.headers["Idempotency-Key"] == lost[0]
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(httpx.AsyncClient, "send", losing)
        kept = await talking.memory.create(MemoryDraft(persona_id="hana", summary="면접을 앞두고 있다"))
    assert [each.id for each in (await talking.memory.list("hana")).memories] == [kept.memory.id]
