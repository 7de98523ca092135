"""What goes wrong, as the client tells it."""

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
from gieok.interfaces.rest.errors import STATUS
from gieok.interfaces.rest.schema.common import failures
from gieok.memory.companion.records import MemoryChanges
from tests.client.sockets import AT_ONCE, answering, saying
from tests.client.world import DRAFT
from tests.rest.conftest import Server


async def test_errors_are_those_of_the_library(talking: GieokClient) -> None:
    """With the places and the hashes that the library's own errors have."""
    persona = (await talking.personas.create(DRAFT, persona_id="hana")).id
    session = (await talking.sessions.start(persona)).session_ref
    draft = MemoryDraft(persona_id=persona, summary="면접을 앞두고 있다")
    memory = (await talking.memory.create(draft)).memory
    with pytest.raises(NotFound):
        await talking.personas.get("nobody")
    with pytest.raises(InputRefused, match=r"^category: .*must be one of") as refused:
        await talking.personas.set_fact(persona, "NONSENSE", "key", "value")
    assert refused.value.at == "category"
    with pytest.raises(PlanHashMismatch) as mismatch:
        await talking.sessions.resume(session, "turn_memory")
    assert mismatch.value.expected != mismatch.value.actual
    assert len(mismatch.value.expected) == len(mismatch.value.actual) == 64
    with pytest.raises(PlanInvalid):
        await talking.sessions.resume(session, {"name": "x"})
    with pytest.raises(Conflict):
        await talking.memory.edit(memory.id, MemoryChanges(importance=2), expected_version=7)
    with pytest.raises(Conflict):
        await talking.personas.create(DRAFT, persona_id="hana")
    await talking.sessions.close(session)
    with pytest.raises(SessionEnded):
        await talking.chat.send(persona, "안녕", session_ref=session)


async def test_a_memory_without_a_place_is_its_own_error(talking: GieokClient) -> None:
    async def fill() -> None:
        for number in range(30):
            draft = MemoryDraft(persona_id="hana", summary=f"기억 {number}")
            await talking.memory.create(draft, auto_archive=False)

    with pytest.raises(MemoryLimitReached):
        await fill()


async def test_a_token_that_stands_for_nobody_is_refused(service: Server) -> None:
    async with GieokClient(service.url, "gk_nothing") as stranger:
        with pytest.raises(Unauthenticated):
            await stranger.personas.list()


@pytest.mark.parametrize(
    ("url", "token"), [("ftp://x", "t"), ("nonsense", "t"), ("http://x", ""), ("http://x", "a\r\nb")]
)
def test_an_address_or_a_token_that_cannot_be_one_is_refused(url: str, token: str) -> None:
    with pytest.raises(InputRefused):
        GieokClient(url, token)


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_an_id_cannot_lead_to_another_call(talking: GieokClient, name: str) -> None:
    with pytest.raises(InputRefused):
        await talking.personas.get(name)


async def test_an_id_is_one_segment_whatever_is_in_it(talking: GieokClient) -> None:
    with pytest.raises(NotFound):
        await talking.personas.get("a/../../me?x=1#y")


async def test_a_lone_surrogate_is_refused_before_it_is_sent(talking: GieokClient) -> None:
    with pytest.raises(InputRefused):
        await talking.chat.send("hana", "\ud800")


def test_every_code_of_the_service_has_its_error() -> None:
    """No code that the service documents comes back as an unknown answer."""
    listed = failures(*{404, 409, 502}, *STATUS.values())
    codes = {code for each in listed.values() for code in each["description"].replace("`", "").split(" or ")}
    for code in codes:
        body = f'{{"success": false, "error": "{code}", "message": "m"}}'.encode()
        error = to_error(400, body, {})
        assert error.code == code
        assert not isinstance(error, AnswerUnknown)


async def test_a_service_that_is_not_there_is_a_store_that_is_not_there() -> None:
    async with GieokClient("http://127.0.0.1:9", "t", retries=replace(AT_ONCE, attempts=2)) as client:
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9"):
            await client.personas.list()


async def test_what_is_no_gieok_is_told_apart() -> None:
    for strange in (
        saying(502, "<html>secret</html>"),
        saying(200, "<html>"),
        saying(200, '{"personas": 5}'),
    ):
        async with answering(strange) as (client, _):
            with pytest.raises(AnswerUnknown) as told:
                await client.personas.list()
            assert "secret" not in str(told.value)
