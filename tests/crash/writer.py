"""The process that is killed. It tells what it was promised when it was promised, and not before."""

from __future__ import annotations

import asyncio
import itertools
import random
import string
from collections.abc import Callable, Coroutine, Mapping
from multiprocessing.connection import Connection
from typing import Any

from gieok.adapters.sql.lifecycle import owners
from gieok.app import Gieok, User
from gieok.memory.conversation.records import Persona
from gieok.testing.models import CountingModel
from tests.crash.place import Erased, Erasing, Place, Ready, Saved, Told
from tests.crash.plants import PLANTS

PERSONA = Persona(name="Mina", language="ko", system_prompt="You listen.")
TASKS = 8
Tell = Callable[[Told], None]


def main(place: Place, work: str, seed: int, plant: str | None, pipe: Connection[Told, None]) -> None:
    """Do one kind of work until killed, or until it is done."""
    if plant:
        PLANTS[plant]()
    pipe.send(Ready())
    asyncio.run(WORKS[work](place, random.Random(seed), pipe.send))


async def take_turn(user: User, owner: str, session: str, word: str) -> Saved:
    """One turn about a word of its own."""
    result = await user.turn(session, f"{word} 면접이 떨렸어, I was nervous", persona=PERSONA)
    assert result.memory_id is not None
    return Saved(owner, session, result.memory_id, word)


def new_word(chance: random.Random) -> str:
    return "q" + "".join(chance.choices(string.ascii_lowercase, k=11))


async def _open(place: Place) -> Gieok:
    return await Gieok.open(place.settings, model=CountingModel())


async def start(place: Place, chance: random.Random, tell: Tell) -> None:
    """Open, perhaps for the first time, and take one turn."""
    async with await _open(place) as gieok:
        owner = f"first-{chance.randrange(2)}"
        tell(await take_turn(gieok.user(owner), owner, "session", new_word(chance)))


async def turns(place: Place, chance: random.Random, tell: Tell) -> None:
    """Turns of two owners in four sessions, eight at a time."""
    async with await _open(place) as gieok:
        await asyncio.gather(
            *(
                _turns_of(gieok, f"owner-{task % 2}", f"session-{task % 4}", chance, tell)
                for task in range(TASKS)
            )
        )


async def newcomers(place: Place, chance: random.Random, tell: Tell) -> None:
    """Every turn is the first of a new owner, whose keys are made on the way."""
    async with await _open(place) as gieok:
        await asyncio.gather(*(_arrivals(gieok, chance, tell) for _ in range(TASKS)))


async def rotate_data(place: Place, chance: random.Random, tell: Tell) -> None:
    """New data keys for an owner, over and over, while turns go on."""
    owners.RESEAL_BATCH = 7  # many batches, so that a kill falls between two of them

    async def rotate() -> None:
        for number in itertools.count():
            await gieok.user(f"owner-{number % 2}").rotate_key()

    async with await _open(place) as gieok:
        for owner in ("owner-0", "owner-1"):
            tell(await take_turn(gieok.user(owner), owner, "session-0", new_word(chance)))
        await asyncio.gather(
            rotate(),
            *(_turns_of(gieok, f"owner-{task}", "session-0", chance, tell) for task in range(2)),
        )


async def rotate_root(place: Place, chance: random.Random, tell: Tell) -> None:
    """A new root key after every newcomer, while the next one arrives."""
    arrived = asyncio.Event()

    async def rotate() -> None:
        while await arrived.wait():
            await asyncio.to_thread(gieok.vault.rotate_root)
            arrived.clear()  # only now: while one newcomer arrives, the root key changes once at most

    def tell_and_rotate(told: Told) -> None:
        tell(told)
        arrived.set()

    async with await _open(place) as gieok:
        await asyncio.gather(rotate(), _arrivals(gieok, chance, tell_and_rotate))


async def erase(place: Place, chance: random.Random, tell: Tell) -> None:
    """Owners who come, take a few turns in one session, and are erased."""

    async def one_after_another() -> None:
        while True:
            owner = f"leaver-{new_word(chance)}"
            for _ in range(4):
                tell(await take_turn(gieok.user(owner), owner, "session", new_word(chance)))
            tell(Erasing(owner))
            await gieok.user(owner).data.erase()
            tell(Erased(owner))

    async with await _open(place) as gieok:
        await asyncio.gather(*(one_after_another() for _ in range(4)))


async def _turns_of(gieok: Gieok, owner: str, session: str, chance: random.Random, tell: Tell) -> None:
    user = gieok.user(owner)
    while True:
        tell(await take_turn(user, owner, session, new_word(chance)))


async def _arrivals(gieok: Gieok, chance: random.Random, tell: Tell) -> None:
    while True:
        owner = f"newcomer-{new_word(chance)}"
        tell(await take_turn(gieok.user(owner), owner, "session", new_word(chance)))


WORKS: Mapping[str, Callable[[Place, random.Random, Tell], Coroutine[Any, Any, None]]] = {
    work.__name__: work for work in (start, turns, newcomers, rotate_data, rotate_root, erase)
}
