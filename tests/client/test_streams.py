"""Streamed replies, and export and import of an owner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from gieok import MemoryDraft
from gieok.client import ChatTurn, GieokClient, ServiceUnreachable, Token
from gieok.client.transport import server_sent_events
from gieok.errors import ModelUnavailable
from tests.client.cases import PERSONA
from tests.client.fake_service import fake_service, respond
from tests.client.scripted_model import PIECES, ScriptedModel
from tests.rest.conftest import Server


async def test_unknown_fields_of_a_newer_service_are_ignored() -> None:
    body = '{"success": true, "imported": {}, "unchanged": 0, "tomorrow": 1}'
    async with fake_service(respond(200, body)) as (client, _):
        assert (await client.me.import_(stream_of())).unchanged == 0


async def stream_of(*lines: bytes) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


async def test_a_stream_yields_the_pieces_and_then_the_turn(scripted: GieokClient) -> None:
    persona = (await scripted.personas.create(PERSONA)).id
    *tokens, turn = [part async for part in scripted.chat.stream(persona, "안녕")]
    assert tokens == [Token(text=each) for each in PIECES]
    assert isinstance(turn, ChatTurn)
    assert turn.reply == "".join(PIECES)
    assert (await scripted.sessions.get(turn.session_ref)).session.message_count == 2


async def test_a_turn_that_fails_during_the_stream_raises_its_error(
    scripted: GieokClient, model: ScriptedModel
) -> None:
    persona = (await scripted.personas.create(PERSONA)).id
    model.failure = ModelUnavailable("away")
    stream = scripted.chat.stream(persona, "안녕")
    try:
        assert [await anext(stream), await anext(stream)] == [Token(text=each) for each in PIECES]
        with pytest.raises(ModelUnavailable):
            await anext(stream)
    finally:
        model.failure = None


async def test_a_broken_stream_raises_service_unreachable() -> None:
    half = respond(200, 'event: token\ndata: {"text": "안"}\n\nevent: done\ndata: {"rep')
    async with fake_service(half) as (client, _):
        with pytest.raises(ServiceUnreachable):
            [each async for each in client.chat.stream("hana", "안녕")]


async def test_events_do_not_depend_on_the_size_of_chunks() -> None:
    """The same events byte by byte as in one chunk."""
    whole = 'event: token\ndata: {"text": "안\u2028녕"}\n\nevent: done\ndata: {}\n\n'.encode()

    async def bytewise(size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(whole), size):
            yield whole[start : start + size]

    at_once = [each async for each in server_sent_events(bytewise(len(whole)))]
    assert [each.name for each in at_once] == ["token", "done"]
    assert [each async for each in server_sent_events(bytewise(1))] == at_once


async def test_an_export_can_be_imported_for_another_owner(service: Server, scripted: GieokClient) -> None:
    """Nothing is lost, and importing it again changes nothing."""
    persona = (await scripted.personas.create(PERSONA)).id
    await scripted.memory.create(MemoryDraft(persona_id=persona, summary="면접을 앞두고 있다"))
    exported = [line async for line in scripted.me.export()]
    async with GieokClient(service.url, service.token(f"owner-{uuid4()}")) as other:
        first = await other.me.import_(stream_of(*exported))
        assert first.imported["memory"] == 1
        assert [each.summary for each in (await other.memory.list(persona)).memories] == [
            "면접을 앞두고 있다"
        ]
        again = await other.me.import_(stream_of(*exported))
        assert sum(again.imported.values()) == 0
