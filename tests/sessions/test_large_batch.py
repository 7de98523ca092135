"""A megabyte of messages in one call is indexed beside other writers, not before them."""

from __future__ import annotations

import asyncio
from time import perf_counter

import pytest

from gieok import Gieok
from gieok.adapters.sql.driver.database import ChangedTooOften
from gieok.adapters.sql.scope import OwnerScope
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.sessions.records import ChatMessage
from gieok.text import terms

SENTENCE = "어제는 회사에서 늦게까지 회의를 하고 지하철로 집에 돌아와서 고양이 나비에게 밥을 주었다. "


async def start(gieok: Gieok, owner: str) -> str:
    user = gieok.user(owner)
    await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    return (await user.sessions.start("hana", plan="chat_turn")).session_ref


def megabyte(gieok: Gieok) -> list[ChatMessage]:
    text = SENTENCE * 36
    now = gieok.engine.clock()
    return [
        ChatMessage(
            id=f"m{number}",
            role="assistant" if number % 2 else "user",
            content=f"{number} {text}",
            timestamp=now,
        )
        for number in range(200)
    ]


async def test_other_owners_write_meanwhile(gieok: Gieok) -> None:
    """Before, the slowest of their writes took as long as the whole call."""
    terms(SENTENCE)  # loads the dictionary
    session = await start(gieok, "ana")
    await start(gieok, "ben")
    slowest, is_done = 0.0, False

    async def write_often() -> None:
        nonlocal slowest
        while not is_done:
            begun = perf_counter()
            await gieok.user("ben").profile.set(display_name="ben")
            slowest = max(slowest, perf_counter() - begun)
            await asyncio.sleep(0)

    writing = asyncio.create_task(write_often())
    await asyncio.sleep(0)
    begun = perf_counter()
    await gieok.user("ana").sessions.save(session, megabyte(gieok))
    took = perf_counter() - begun
    is_done = True
    await writing
    assert slowest < took / 2
    assert len((await gieok.user("ana").sessions.log_page(session)).messages) == 200


async def test_a_call_that_is_disturbed_too_often_still_succeeds(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = OwnerScope.write

    async def disturbed(self: OwnerScope, work: object, *, heavy: bool = False, **_: object) -> object:
        if heavy:
            raise ChangedTooOften("changed")
        return await write(self, work)  # type: ignore[arg-type]

    monkeypatch.setattr(OwnerScope, "write", disturbed)
    session = await start(gieok, "ana")
    saved = await gieok.user("ana").sessions.save(session, megabyte(gieok))
    assert saved.appended.added == 200
