"""Conversations with a cache: the same prompts as without one, sealed, and erased with their owner."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gieok import Gieok, Settings
from gieok.adapters.redis import cache as adapter
from gieok.adapters.redis.cache import RedisCache
from gieok.adapters.sql.stores.cached import CachedPersona, CachedWindow
from gieok.adapters.sql.stores.personas import SqlPersonaStore
from gieok.app.chat_turn import ChatTurn
from gieok.errors import GieokError
from gieok.memory.canon.records import PersonaCard, PersonaDraft
from gieok.memory.conversation.records import Message
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.clock import Clock
from gieok.testing.models import CountingModel
from gieok.vault import OwnerKeys
from tests.redis_server import RedisServer
from tests.service.encodings import occurrences

TURNS = 14


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each window that was looked for in a cache was found. No command is too slow for it."""
    found: list[bool] = []
    get = CachedWindow.get

    def spy(self: CachedWindow, keys: OwnerKeys, tag: int, limit: int) -> list[ChatMessage] | None:
        messages = get(self, keys, tag, limit)
        found.append(messages is not None)
        return messages

    monkeypatch.setattr(CachedWindow, "get", spy)
    monkeypatch.setattr(adapter, "SECONDS", 30.0)
    return found


async def opened(settings: Settings, clock: Clock | None = None) -> Gieok:
    return await Gieok.open(settings, model=CountingModel(), clock=clock or Clock())


async def say(gieok: Gieok, owner: str, text: str) -> ChatTurn:
    turn = await gieok.user(owner).chat.send("hana", text, session_ref="s")
    await written(gieok)
    return turn


def prompt_and_reply(turn: ChatTurn) -> tuple[str, str, Sequence[Message]]:
    """The prompt without the ids of what was recalled, and the reply."""
    return turn.prompt.system, turn.reply, turn.prompt.messages


async def written(gieok: Gieok) -> None:
    """Wait until the windows of the turns so far are written."""
    if gieok.cache is not None:
        await gieok.cache.forget("nobody")


async def new_owner(gieok: Gieok, owner: str) -> None:
    await gieok.user(owner).personas.create(PersonaDraft(name="하나"), persona_id="hana")


async def test_prompts_are_equal_to_those_without_a_cache(
    settings: Settings, cached: Settings, hits: list[bool], redis_server: RedisServer
) -> None:
    """Two processes in turn. On PostgreSQL each finds the window that the other one left; on SQLite there is
    none, because reading it is quicker."""
    async with await opened(settings) as plain, await opened(cached) as one, await opened(cached) as two:
        for owner in ("ana", "ben"):
            await new_owner(plain, owner)
        for number in range(TURNS):
            text = f"message {number} about the cat"
            expected = await say(plain, "ana", text)
            turn = await say((one, two)[number % 2], "ben", text)
            assert prompt_and_reply(turn) == prompt_and_reply(expected)
    if cached.database_url.startswith("sqlite:"):
        assert (hits, redis_server.names()) == ([], [])
    else:
        assert hits == [True] * (TURNS - 1)  # the first turn has no session yet


async def test_a_turn_of_another_process_is_always_seen(settings: Settings, cached: Settings) -> None:
    """Without waiting for the cache, and with a process that has none."""
    async with await opened(settings) as plain, await opened(cached) as one, await opened(cached) as two:
        await new_owner(plain, "ana")
        chance = random.Random(1)
        for number in range(30):
            gieok = chance.choice((plain, one, two))
            turn = await gieok.user("ana").chat.send("hana", f"message {number}", session_ref="s")
            said = [each.content for each in turn.prompt.messages if each.role == "user"]
            assert said == [f"message {each}" for each in range(max(0, number - 5), number + 1)]


async def test_a_persona_is_cached_and_its_edit_is_always_seen(
    settings: Settings, cached: Settings, hits: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edited by a process without a cache."""
    found: list[bool] = []
    load = SqlPersonaStore._open_cached  # pyright: ignore[reportPrivateUsage]

    def spy(self: SqlPersonaStore, persona_id: str, value: CachedPersona) -> PersonaCard | None:
        card = load(self, persona_id, value)
        found.append(card is not None)
        return card

    monkeypatch.setattr(SqlPersonaStore, "_open_cached", spy)
    async with await opened(settings) as plain, await opened(cached) as one, await opened(cached) as two:
        await new_owner(plain, "ana")
        for number in range(6):
            text = f"You are barista number {number // 2}."
            await plain.user("ana").personas.edit("hana", PersonaDraft(name="하나", system_prompt=text))
            turn = await say((one, two)[number % 2], "ana", "hello")
            assert text in turn.prompt.system
    if cached.database_url.startswith("postgresql:"):
        assert found == [False, True] * 3


async def test_names_that_are_no_text_are_refused_as_without_a_cache(
    settings: Settings, cached: Settings
) -> None:
    request = {"sessionRef": 5, "personaId": ["hana"], "message": "hello"}
    refusals: list[str] = []
    async with await opened(settings) as plain, await opened(cached) as one:
        for gieok in (plain, one):
            with pytest.raises(GieokError) as refused:
                await gieok.user("ana").run("chat_turn", request)
            refusals.append(f"{refused.value.code} {refused.value}")
    assert refusals[0] == refusals[1]


async def test_a_replaced_turn_is_not_in_the_window(cached: Settings, hits: list[bool]) -> None:
    async with await opened(cached) as gieok:
        await new_owner(gieok, "ana")
        for text in ("one", "two", "three"):
            await say(gieok, "ana", text)
        again = await gieok.user("ana").chat.regenerate("s")
        await written(gieok)
        turn = await say(gieok, "ana", "four")
    said = [each.content for each in turn.prompt.messages if each.role == "user"]
    assert said == ["one", "two", "three", "four"]
    assert again.reply == "I heard 1 words."


@pytest.mark.req("OPS-2")
async def test_redis_has_no_content_and_no_names_in_clear(
    cached: Settings, hits: list[bool], redis_server: RedisServer
) -> None:
    text, owner = "kookaburrita 외뿔고래사탕", "ana-kookaburrita"
    async with await opened(cached) as gieok:
        await new_owner(gieok, owner)
        await gieok.user(owner).chat.send("hana", text, session_ref="session-kookaburrita")
        await written(gieok)
        assert gieok.cache is not None
        await gieok.cache.take(owner, 1, 1.0, 100)
    content = redis_server.dump()
    is_window_cached = cached.database_url.startswith("postgresql:")
    assert (b"gieok:values:" in content) == is_window_cached
    assert b"gieok:rate:" in content
    assert occurrences(content, ["kookaburrita", "외뿔고래사탕"]) == []


@pytest.mark.req("OPS-3")
async def test_an_erasure_deletes_the_keys_of_the_owner(
    cached: Settings, hits: list[bool], redis_server: RedisServer
) -> None:
    async with await opened(cached) as gieok:
        for owner in ("ana", "ben"):
            await new_owner(gieok, owner)
            await say(gieok, owner, "hello")
            assert gieok.cache is not None
            await gieok.cache.take(owner, 1, 1.0, 100)
        before = redis_server.names()
        await gieok.user("ana").data.erase()
        assert len(redis_server.names()) == len(before) // 2
        await gieok.user("ben").data.erase()
        assert redis_server.names() == []


@pytest.mark.req("OPS-3")
async def test_an_erasure_that_is_finished_at_the_next_start_deletes_the_keys(
    cached: Settings, hits: list[bool], redis_server: RedisServer
) -> None:
    async with await opened(cached) as gieok:
        await new_owner(gieok, "ana")
        await say(gieok, "ana", "hello")
        assert gieok.cache is not None
        await gieok.cache.take("ana", 1, 1.0, 100)
        gieok.vault.begin_erasure("ana")  # and then the process is killed
    assert redis_server.names() != []
    async with await opened(cached):
        assert redis_server.names() == []


@pytest.mark.req("OPS-3")
async def test_what_an_erasure_could_not_delete_cannot_be_read(
    cached: Settings, hits: list[bool], redis_server: RedisServer
) -> None:
    """Redis is away during the erasure. A new owner of the same name does not get the window either."""
    if cached.database_url.startswith("sqlite:"):
        pytest.skip("no window is cached on SQLite")
    async with await opened(cached) as gieok:
        await new_owner(gieok, "ana")
        await say(gieok, "ana", "kookaburrita")
        (key,) = redis_server.names()
        left = redis_server.admin.hgetall(key)
        await gieok.user("ana").data.erase()
        redis_server.admin.hset(key, mapping=left)
        await gieok.tokens.create("ana")
        await new_owner(gieok, "ana")
        turn = await say(gieok, "ana", "hello")
        assert [each.content for each in turn.prompt.messages] == ["hello"]
    assert True not in hits


async def test_after_a_rotation_the_window_is_read_from_the_database_once(
    cached: Settings, hits: list[bool]
) -> None:
    async with await opened(cached) as gieok:
        await new_owner(gieok, "ana")
        for text in ("one", "two"):
            await say(gieok, "ana", text)
        await gieok.user("ana").rotate_key()
        hits.clear()
        turns = [await say(gieok, "ana", text) for text in ("three", "four")]
    assert len(turns[1].prompt.messages) == 7
    if cached.database_url.startswith("postgresql:"):
        assert hits == [False, True]


@pytest.mark.parametrize("seed", range(2))
async def test_failures_of_redis_change_no_prompt(
    settings: Settings,
    cached: Settings,
    redis_server: RedisServer,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed, restarted, paused, resumed, filled up, and with former windows put back, in any order."""
    monkeypatch.setattr(adapter, "SECONDS", 0.02)
    monkeypatch.setattr(adapter, "PROBE_SECONDS", 0.01)
    chance, former = random.Random(seed), dict[bytes, dict[bytes, bytes]]()
    async with await opened(settings) as plain, await opened(cached) as one, await opened(cached) as two:
        for owner in ("ana", "ben"):
            await new_owner(plain, owner)
        for number in range(40):
            await _disturb(redis_server, chance.choice(_DISTURBANCES), former)
            text = f"message {number} about the cat"
            expected = await plain.user("ana").chat.send("hana", text, session_ref="s")
            turn = await chance.choice((one, two)).user("ben").chat.send("hana", text, session_ref="s")
            assert prompt_and_reply(turn) == prompt_and_reply(expected)
            await asyncio.sleep(0.02)  # so that the processes notice that it is back


_DISTURBANCES = ("none", "none", "restart", "pause", "full", "old values")


async def _disturb(server: RedisServer, kind: str, former: dict[bytes, dict[bytes, bytes]]) -> None:
    """End the last disturbance, and begin another one."""
    server.resume()
    server.make_room()
    match kind:
        case "restart":
            server.kill()
            server.start()
        case "pause":
            former |= {key: server.admin.hgetall(key) for key in server.names()}
            server.pause()
        case "full":
            server.fill_up()
        case "old values":
            for key, values in former.items():
                server.admin.hset(key, mapping=values)
        case _:
            pass


async def test_a_process_starts_and_talks_without_its_cache(settings: Settings) -> None:
    away = replace(settings, cache_url="redis://127.0.0.1:1/0")
    async with await opened(away) as gieok:
        assert isinstance(gieok.cache, RedisCache)
        await new_owner(gieok, "ana")
        turns = [await say(gieok, "ana", text) for text in ("one", "two")]
        assert len(turns[1].prompt.messages) == 3
        await gieok.user("ana").data.erase()
