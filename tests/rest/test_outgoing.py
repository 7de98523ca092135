"""How long an answer may take: one that leaves at once by the limit of requests, a stream by its own."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from gieok.interfaces.rest.gateway.gateway import ResponseSender


@pytest.mark.parametrize(("headers", "is_stream"), [([(b"content-length", b"2")], False), ([], True)])
async def test_only_a_stream_gets_more_time_once_it_has_begun(
    headers: list[tuple[bytes, bytes]], is_stream: bool
) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    answer = ResponseSender(send, "an-id", stream_seconds=1_000)
    async with asyncio.timeout(10) as answer.timer:
        before = answer.timer.when()
        await answer({"type": "http.response.start", "status": 200, "headers": headers})
        assert before
        assert answer.timer.when() is not None
        assert ((answer.timer.when() or 0) > before + 900) == is_stream
    assert (b"x-request-id", b"an-id") in sent[0]["headers"]
