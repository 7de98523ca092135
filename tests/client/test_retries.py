"""Which calls are retried, and how often."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from gieok import MemoryDraft, PersonaDraft
from gieok.client import GieokClient, ServiceUnreachable
from gieok.errors import RateLimited
from tests.client.fake_service import FAST_RETRIES, disconnect, fake_service, respond

BUSY = respond(
    429,
    '{"success": false, "error": "RATE_LIMITED", "message": "later"}',
    "Retry-After: 0",
    "X-Request-Id: r1",
)
NO_PERSONAS = respond(200, '{"success": true, "personas": []}')


async def test_a_rate_limited_read_is_retried_a_limited_number_of_times() -> None:
    """After the time in Retry-After. The last error is raised, with the request id as a note."""
    async with fake_service(BUSY, BUSY, NO_PERSONAS) as (client, connections):
        assert await client.personas.list() == ()
        assert len(connections) == 3
    async with fake_service(BUSY) as (client, connections):
        with pytest.raises(RateLimited) as raised:
            await client.personas.list()
        assert len(connections) == FAST_RETRIES.attempts
        assert raised.value.__notes__ == ["X-Request-Id: r1"]


async def test_a_retry_after_above_the_limit_is_raised_at_once() -> None:
    slow = respond(429, '{"success": false, "error": "RATE_LIMITED", "message": "m"}', "Retry-After: 3600")
    async with fake_service(slow) as (client, connections):
        with pytest.raises(RateLimited) as raised:
            await client.personas.list()
        assert (raised.value.retry_after, len(connections)) == (3600, 1)


def losing_first_answer() -> Any:
    """`httpx.AsyncClient.send` with a connection that breaks once, after the service has answered."""
    send, lost = httpx.AsyncClient.send, list[str]()

    async def send_and_lose_answer(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False
    ) -> httpx.Response:
        answer = await send(self, request, stream=stream)
        if not lost:
            lost.append(request.headers["Idempotency-Key"])
            await answer.aclose()
            raise httpx.ReadError("connection lost")
        assert request.headers["Idempotency-Key"] == lost[0]
        return answer

    return send_and_lose_answer


async def test_a_lost_answer_is_retried_only_for_idempotent_calls() -> None:
    async with fake_service(disconnect, NO_PERSONAS) as (client, connections):
        assert await client.personas.list() == ()
        assert len(connections) == 2
    async with fake_service(disconnect) as (client, connections):
        with pytest.raises(ServiceUnreachable):
            await client.sessions.resume("s", "chat_turn")
        assert len(connections) == 1


async def test_a_retried_message_is_stored_once(
    scripted: GieokClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    persona = (await scripted.personas.create(PersonaDraft(name="하나"))).id
    with monkeypatch.context() as patch:
        patch.setattr(httpx.AsyncClient, "send", losing_first_answer())
        turn = await scripted.chat.send(persona, "안녕", new_session=True)
    log = await scripted.sessions.messages(turn.session_ref)
    assert [each.content for each in log.messages] == ["안녕", turn.reply]


async def test_a_retried_regenerate_replaces_one_turn(
    scripted: GieokClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    persona = (await scripted.personas.create(PersonaDraft(name="하나"))).id
    sent = await scripted.chat.send(persona, "안녕", new_session=True)
    with monkeypatch.context() as patch:
        patch.setattr(httpx.AsyncClient, "send", losing_first_answer())
        turn = await scripted.chat.regenerate(sent.session_ref)
    log = await scripted.sessions.messages(sent.session_ref)
    assert [each.withdrawn_at is None for each in log.messages] == [False, False, True, True]
    streamed = [part async for part in scripted.chat.stream_again(sent.session_ref, idempotency_key="k1")]
    repeated = [part async for part in scripted.chat.stream_again(sent.session_ref, idempotency_key="k1")]
    assert streamed[-1] == repeated[-1] != turn


async def test_a_retried_create_makes_one_memory(
    scripted: GieokClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks after the service stored it; the retry has the same Idempotency-Key."""
    with monkeypatch.context() as patch:
        patch.setattr(httpx.AsyncClient, "send", losing_first_answer())
        kept = await scripted.memory.create(MemoryDraft(persona_id="hana", summary="면접을 앞두고 있다"))
    assert [each.id for each in (await scripted.memory.list("hana")).memories] == [kept.memory.id]
