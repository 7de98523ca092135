"""A reply that is heard as it is said, and everything of an owner, out and in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from gieok import MemoryDraft
from gieok.client import ChatTurn, GieokClient, ServiceUnreachable, Token
from gieok.client.transport import server_sent_events
from gieok.errors import ModelUnavailable
from tests.client.sockets import answering, saying
from tests.client.speaker import PIECES, Speaker
from tests.client.world import DRAFT
from tests.rest.conftest import Server


async def test_fields_of_a_newer_service_are_passed_over() -> None:
    body = '{"success": true, "imported": {}, "unchanged": 0, "tomorrow": 1}'
    async with answering(saying(200, body)) as (client, _):
        assert (await client.me.import_(arriving())).unchanged == 0


async def arriving(*lines: bytes) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


async def test_a_stream_gives_the_pieces_and_then_the_turn(talking: GieokClient) -> None:
    persona = (await talking.personas.create(DRAFT)).id
    *tokens, turn = [heard async for heard in talking.chat.stream(persona, "안녕")]
    assert tokens == [Token(text=each) for each in PIECES]
    assert isinstance(turn, ChatTurn)
    assert turn.reply == "".join(PIECES)
    assert (await talking.sessions.get(turn.session_ref)).session.message_count == 2


async def test_a_turn_that_fails_while_it_speaks_raises_its_error(
    talking: GieokClient, speaker: Speaker
) -> None:
    persona = (await talking.personas.create(DRAFT)).id
    speaker.failure = ModelUnavailable("away")
    stream = talking.chat.stream(persona, "안녕")
    try:
        assert [await anext(stream), await anext(stream)] == [Token(text=each) for each in PIECES]
        with pytest.raises(ModelUnavailable):
            await anext(stream)
    finally:
        speaker.failure = None


async def test_a_stream_that_breaks_off_is_no_turn() -> None:
    half = saying(200, 'event: token\ndata: {"text": "안"}\n\nevent: done\ndata: {"rep')
    async with answering(half) as (client, _):
        with pytest.raises(ServiceUnreachable):
            [each async for each in client.chat.stream("hana", "안녕")]


async def test_events_do_not_depend_on_how_they_arrive() -> None:
    """The same events byte by byte as at once."""
    whole = 'event: token\ndata: {"text": "안\u2028녕"}\n\nevent: done\ndata: {}\n\n'.encode()

    async def bytewise(size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(whole), size):
            yield whole[start : start + size]

    at_once = [each async for each in server_sent_events(bytewise(len(whole)))]
    assert [each.name for each in at_once] == ["token", "done"]
    assert [each async for each in server_sent_events(bytewise(1))] == at_once


async def test_what_is_exported_can_be_imported_elsewhere(service: Server, talking: GieokClient) -> None:
    """Line by line, into another owner: it is all there, and a second time changes nothing."""
    persona = (await talking.personas.create(DRAFT)).id
    await talking.memory.create(MemoryDraft(persona_id=persona, summary="면접을 앞두고 있다"))
    exported = [line async for line in talking.me.export()]
    async with GieokClient(service.url, service.token(f"owner-{uuid4()}")) as other:
        taken = await other.me.import_(arriving(*exported))
        assert taken.imported["memory"] == 1
        assert [each.summary for each in (await other.memory.list(persona)).memories] == [
            "면접을 앞두고 있다"
        ]
        again = await other.me.import_(arriving(*exported))
        assert sum(again.imported.values()) == 0
