"""Errors of the client."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gieok import MemoryDraft
from gieok.client import AnswerUnknown, GieokClient
from gieok.client.errors import to_error
from gieok.errors import (
    Conflict,
    InputRefused,
    MemoryLimitReached,
    NotFound,
    PlanHashMismatch,
    PlanInvalid,
    SessionEnded,
    StoreUnavailable,
    Unauthenticated,
)
from gieok.interfaces.rest.gateway.errors import STATUS
from gieok.interfaces.rest.schema.common import failures
from gieok.memory.companion.records import MemoryChanges
from tests.client.cases import PERSONA
from tests.client.fake_service import FAST_RETRIES, fake_service, respond
from tests.rest.conftest import Server


async def test_errors_are_those_of_the_library(scripted: GieokClient) -> None:
    """With the same places and plan hashes."""
    persona = (await scripted.personas.create(PERSONA, persona_id="hana")).id
    session = (await scripted.sessions.start(persona)).session_ref
    draft = MemoryDraft(persona_id=persona, summary="면접을 앞두고 있다")
    memory = (await scripted.memory.create(draft)).memory
    with pytest.raises(NotFound):
        await scripted.personas.get("nobody")
    with pytest.raises(InputRefused, match=r"^category: .*must be one of") as refused:
        await scripted.personas.set_fact(persona, "NONSENSE", "key", "value")
    assert refused.value.at == "category"
    with pytest.raises(PlanHashMismatch) as mismatch:
        await scripted.sessions.resume(session, "turn_memory")
    assert mismatch.value.expected != mismatch.value.actual
    assert len(mismatch.value.expected) == len(mismatch.value.actual) == 64
    with pytest.raises(PlanInvalid):
        await scripted.sessions.resume(session, {"name": "x"})
    with pytest.raises(Conflict):
        await scripted.memory.edit(memory.id, MemoryChanges(importance=2), expected_version=7)
    with pytest.raises(Conflict):
        await scripted.personas.create(PERSONA, persona_id="hana")
    await scripted.sessions.close(session)
    with pytest.raises(SessionEnded):
        await scripted.chat.send(persona, "안녕", session_ref=session)


async def test_a_full_memory_raises_memory_limit_reached(scripted: GieokClient) -> None:
    async def fill() -> None:
        for number in range(30):
            draft = MemoryDraft(persona_id="hana", summary=f"기억 {number}")
            await scripted.memory.create(draft, auto_archive=False)

    with pytest.raises(MemoryLimitReached):
        await fill()


async def test_an_unknown_token_is_refused(service: Server) -> None:
    async with GieokClient(service.url, "gk_nothing") as stranger:
        with pytest.raises(Unauthenticated):
            await stranger.personas.list()


@pytest.mark.parametrize(
    ("url", "token"), [("ftp://x", "t"), ("nonsense", "t"), ("http://x", ""), ("http://x", "a\r\nb")]
)
def test_a_malformed_address_or_token_is_refused(url: str, token: str) -> None:
    with pytest.raises(InputRefused):
        GieokClient(url, token)


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_an_id_that_would_change_the_path_is_refused(scripted: GieokClient, name: str) -> None:
    with pytest.raises(InputRefused):
        await scripted.personas.get(name)


async def test_an_id_with_reserved_characters_is_escaped(scripted: GieokClient) -> None:
    with pytest.raises(NotFound):
        await scripted.personas.get("a/../../me?x=1#y")


async def test_a_lone_surrogate_is_refused_before_it_is_sent(scripted: GieokClient) -> None:
    with pytest.raises(InputRefused):
        await scripted.chat.send("hana", "\ud800")


def test_every_documented_error_code_has_an_exception() -> None:
    """None becomes AnswerUnknown."""
    listed = failures(*{404, 409, 502}, *STATUS.values())
    codes = {code for each in listed.values() for code in each["description"].replace("`", "").split(" or ")}
    for code in codes:
        body = f'{{"success": false, "error": "{code}", "message": "m"}}'.encode()
        error = to_error(400, body, {})
        assert error.code == code
        assert not isinstance(error, AnswerUnknown)


async def test_an_unreachable_service_raises_store_unavailable() -> None:
    async with GieokClient("http://127.0.0.1:9", "t", retries=replace(FAST_RETRIES, attempts=2)) as client:
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9"):
            await client.personas.list()


async def test_answers_of_other_servers_raise_answer_unknown() -> None:
    for strange in (
        respond(502, "<html>secret</html>"),
        respond(200, "<html>"),
        respond(200, '{"personas": 5}'),
    ):
        async with fake_service(strange) as (client, _):
            with pytest.raises(AnswerUnknown) as raised:
                await client.personas.list()
            assert "secret" not in str(raised.value)
