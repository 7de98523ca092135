"""A value from the cache is the one in the database, or it is not used. On both databases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

import pytest

from gieok import Gieok
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores import cached as module
from gieok.adapters.sql.stores.cached import CachedPersona, CachedReads, CachedWindow
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.contracts.sessions import START, append, message, start


async def read(scope: OwnerScope, cached: CachedWindow, limit: int = 10) -> Sequence[ChatMessage]:
    """The window as a turn reads it: the session first, in the same transaction."""

    def work(view: SqlView) -> Sequence[ChatMessage]:
        view.sessions.get(cached.session_ref)
        return view.messages.window(cached.session_ref, limit)

    return await scope.read(work, cached=CachedReads(window=cached))


async def turn(
    scope: OwnerScope, sealed: bytes | None, *new: ChatMessage, session_ref: str = "s", limit: int = 10
) -> CachedWindow:
    """A turn: read the window, then append messages in another transaction."""
    cached = CachedWindow(session_ref, sealed)
    await read(scope, cached, limit)
    await scope.write(
        lambda view: view.messages.append(session_ref, new, START, None), cached=CachedReads(window=cached)
    )
    return cached


async def is_hit(scope: OwnerScope, sealed: bytes | None, session_ref: str = "s") -> bool:
    """Whether a window is used. If it is, it must be that of the database."""
    cached = CachedWindow(session_ref, sealed)
    assert await read(scope, cached) == await read(scope, CachedWindow(session_ref, None))
    return cached.is_hit


async def new_session(gieok: Gieok, owner: str = "ana", session_ref: str = "s") -> tuple[OwnerScope, bytes]:
    """A session with four messages, and its window."""
    scope = gieok.scope(owner)
    await start(scope, session_ref)
    first = await turn(scope, None, message(1), message(2, role="assistant"), session_ref=session_ref)
    second = await turn(
        scope, first.to_save, message(3), message(4, role="assistant"), session_ref=session_ref
    )
    assert second.is_hit
    assert second.to_save is not None
    return scope, second.to_save


async def test_a_turn_leaves_the_window_of_the_next_one(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    assert await is_hit(scope, sealed)


async def test_the_window_of_a_long_session_is_found_at_every_turn(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    for number in range(5, 41, 2):
        cached = await turn(scope, sealed, message(number), message(number + 1, role="assistant"))
        assert cached.is_hit
        sealed = cached.to_save
        assert await is_hit(scope, sealed)


async def test_more_messages_than_are_cached_are_read_from_the_database(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    for number in range(5, 30):
        sealed = (await turn(scope, sealed, message(number), limit=4)).to_save
    cached = CachedWindow("s", sealed)
    assert len(await read(scope, cached, 10)) == 10
    assert not cached.is_hit


async def test_an_earlier_window_is_not_used(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    await append(scope, message(5))  # without the cache, as a process does that has none
    assert not await is_hit(scope, sealed)


async def test_a_window_of_another_session_is_not_used(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    await new_session(gieok, session_ref="t")
    assert not await is_hit(scope, sealed, "t")


async def test_a_window_of_another_owner_is_not_used(gieok: Gieok) -> None:
    _, sealed = await new_session(gieok)
    scope, _ = await new_session(gieok, "ben")
    assert not await is_hit(scope, sealed)


@pytest.mark.parametrize("sealed", [b"", b"x" * 100, b'{"messages":[],"isWhole":true}'])
async def test_what_is_not_sealed_is_not_used(gieok: Gieok, sealed: bytes) -> None:
    scope, _ = await new_session(gieok)
    assert not await is_hit(scope, sealed)


async def test_a_changed_window_is_not_used(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    assert not await is_hit(scope, sealed[:-1] + bytes([sealed[-1] ^ 1]))


async def test_what_a_withdrawal_removed_is_not_in_the_window(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    await scope.write(lambda view: view.messages.withdraw("s", 3, START))
    assert not await is_hit(scope, sealed)
    assert [each.id for each in await read(scope, CachedWindow("s", sealed))] == ["m1", "m2"]


async def test_what_retention_deleted_is_not_in_the_window(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    later = START + timedelta(days=9)
    assert await scope.write(lambda view: view.messages.delete_inactive(later, 3)) == 3
    assert not await is_hit(scope, sealed)
    assert [each.id for each in await read(scope, CachedWindow("s", sealed))] == ["m4"]


async def test_a_session_that_was_deleted_and_started_again_has_a_window_of_its_own(gieok: Gieok) -> None:
    """With the same name, times and number of messages."""
    scope, sealed = await new_session(gieok)
    await scope.write(lambda view: view.sessions.delete("s"))
    await start(scope)
    await append(scope, *(message(number, "another text") for number in range(1, 5)))
    assert not await is_hit(scope, sealed)


async def test_a_rotation_of_the_key_makes_windows_misses(gieok: Gieok) -> None:
    scope, sealed = await new_session(gieok)
    await gieok.user("ana").rotate_key()
    assert not await is_hit(scope, sealed)


async def test_a_large_window_is_not_cached(gieok: Gieok, monkeypatch: pytest.MonkeyPatch) -> None:
    scope, sealed = await new_session(gieok)
    monkeypatch.setattr(module, "MAX_BYTES", 2_000)
    assert (await turn(scope, sealed, message(5, "x" * 2_000))).to_save is None


async def test_a_turn_on_another_state_leaves_no_window(gieok: Gieok) -> None:
    """Between its read and its commit another process has appended a message."""
    scope, sealed = await new_session(gieok)
    cached = CachedWindow("s", sealed)
    await read(scope, cached)
    await append(scope, message(5))
    await scope.write(
        lambda view: view.messages.append("s", [message(6)], START, None), cached=CachedReads(window=cached)
    )
    assert cached.to_save is None


@pytest.mark.parametrize("seed", range(4))
async def test_random_turns_with_random_windows_always_read_what_is_stored(gieok: Gieok, seed: int) -> None:
    """Every window that was ever sealed is offered again: only the current one of the session is used."""
    chance, scope = random.Random(seed), gieok.scope(f"ana{seed}")
    for session_ref in ("s", "t"):
        await start(scope, session_ref)
    sealed: list[bytes | None] = [None]
    hits = 0
    for number in range(1, 120):
        session_ref, limit = chance.choice("st"), chance.choice((0, 1, 3, 10))
        offered = sealed[-1] if chance.random() < 0.7 else chance.choice(sealed)
        kind = chance.random()
        if kind < 0.6:
            new = [message(2 * number), message(2 * number + 1, role="assistant")]
            cached = await turn(scope, offered, *new, session_ref=session_ref, limit=limit)
            sealed += [cached.to_save] if cached.to_save else []
        elif kind < 0.7:
            session = await scope.read(lambda view, ref=session_ref: view.sessions.get(ref))
            assert session is not None
            first = chance.randint(max(1, session.log_length - 3), session.log_length + 1)
            await scope.write(
                lambda view, ref=session_ref, first=first: view.messages.withdraw(ref, first, START)
            )
        cached = CachedWindow(session_ref, offered)
        assert await read(scope, cached, limit) == await read(scope, CachedWindow(session_ref, None), limit)
        hits += await is_hit(scope, sealed[-1], session_ref)
    assert hits > 10


async def get_card(scope: OwnerScope, sealed: bytes | None, persona_id: str = "hana") -> CachedPersona:
    """Read a persona as a turn does. Whatever the cache has, the card is that of the database."""
    cached = CachedPersona(persona_id, sealed)
    card = await scope.read(lambda view: view.personas.get(persona_id), cached=CachedReads(persona=cached))
    assert card == await scope.read(lambda view: view.personas.get(persona_id))
    return cached


async def new_persona(gieok: Gieok, owner: str = "ana", persona_id: str = "hana") -> tuple[OwnerScope, bytes]:
    """A persona, and what a turn keeps of it."""
    await gieok.user(owner).personas.create(PersonaDraft(name="하나"), persona_id=persona_id)
    scope = gieok.scope(owner)
    sealed = (await get_card(scope, None, persona_id)).to_save
    assert sealed is not None
    return scope, sealed


async def test_a_persona_is_found_until_it_is_edited(gieok: Gieok) -> None:
    scope, sealed = await new_persona(gieok)
    found = await get_card(scope, sealed)
    assert (found.is_hit, found.to_save) == (True, None)
    await gieok.user("ana").personas.edit("hana", PersonaDraft(name="두나"))
    edited = await get_card(scope, sealed)
    assert not edited.is_hit
    assert (await get_card(scope, edited.to_save)).is_hit


async def test_a_persona_of_another_id_owner_or_life_is_not_used(gieok: Gieok) -> None:
    scope, sealed = await new_persona(gieok)
    other, _ = await new_persona(gieok, "ben")
    assert not (await get_card(other, sealed)).is_hit
    await new_persona(gieok, persona_id="duna")
    assert not (await get_card(scope, sealed, "duna")).is_hit
    await gieok.user("ana").personas.delete("hana")
    assert not (await get_card(scope, sealed)).is_hit
    await new_persona(gieok)  # with the same id and text
    assert not (await get_card(scope, sealed)).is_hit


async def test_a_damaged_persona_is_not_used(gieok: Gieok) -> None:
    scope, sealed = await new_persona(gieok)
    for damaged in (b"", b"x" * 100, sealed[:-1] + bytes([sealed[-1] ^ 1])):
        assert not (await get_card(scope, damaged)).is_hit


async def test_a_rotation_of_the_key_makes_personas_misses(gieok: Gieok) -> None:
    scope, sealed = await new_persona(gieok)
    await gieok.user("ana").rotate_key()
    assert not (await get_card(scope, sealed)).is_hit


async def test_a_large_persona_is_not_cached(gieok: Gieok, monkeypatch: pytest.MonkeyPatch) -> None:
    scope, _ = await new_persona(gieok)
    monkeypatch.setattr(module, "MAX_BYTES", 50)
    assert (await get_card(scope, None)).to_save is None
