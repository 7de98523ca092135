"""The process that is killed. It reports each acknowledged operation, and not before."""

from __future__ import annotations

import asyncio
import itertools
import random
import string
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from gieok.adapters.sql.lifecycle import owners
from gieok.app import Gieok, User
from gieok.errors import Conflict
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Persona
from gieok.memory.observations import Category, Conversation, Observation, Understood, VerbatimLimit
from gieok.testing.models import CountingModel
from tests.crash.place import Answered, Erased, Erasing, Event, Place, Ready, Saved
from tests.crash.plants import PLANTS
from tests.turns.run_turn import run_turn

PERSONA = Persona(name="Mina", language="ko", system_prompt="You listen.")
TASKS = 8
THINKING_SECONDS = 0.03
"""How long the model takes to remember a turn, at most."""
Report = Callable[[Event], None]


class ObservingModel(CountingModel):
    """Finds one fact in each exchange, under the first word of the message, and takes a moment."""

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        await asyncio.sleep(random.uniform(0.0, THINKING_SECONDS))
        understood = await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )
        observations = tuple(
            Observation(
                turn=number,
                op="add",
                category=Category.OTHER,
                key=exchange.text("user").split()[0],
                value=exchange.text("user"),
                quote=exchange.text("user"),
                importance=5,
            )
            for number, exchange in enumerate(conversation.exchanges, 1)
        )
        return understood.model_copy(update={"observations": observations})


def main(place: Place, work: str, seed: int, plant: str | None, pipe: Connection[Event, None]) -> None:
    """Do one kind of work until killed, or until it is done."""
    if plant:
        PLANTS[plant]()
    pipe.send(Ready())
    asyncio.run(WORKS[work](place, random.Random(seed), pipe.send))


async def take_turn(user: User, owner: str, session: str, word: str) -> Saved:
    """Take one turn with a unique word."""
    result = await run_turn(user, session, f"{word} 면접이 떨렸어, I was nervous", persona=PERSONA)
    assert result.memory_id is not None
    return Saved(owner, session, result.memory_id, word)


def new_word(chance: random.Random) -> str:
    return "q" + "".join(chance.choices(string.ascii_lowercase, k=11))


async def _open(place: Place) -> Gieok:
    return await Gieok.open(place.settings, model=CountingModel(), clock=place.now)


async def start(place: Place, chance: random.Random, report: Report) -> None:
    """Open, perhaps for the first time, and take one turn."""
    async with await _open(place) as gieok:
        owner = f"first-{chance.randrange(2)}"
        report(await take_turn(gieok.user(owner), owner, "session", new_word(chance)))


async def turns(place: Place, chance: random.Random, report: Report) -> None:
    """Turns of two owners in four sessions, eight concurrently."""
    async with await _open(place) as gieok:
        await asyncio.gather(
            *(
                _turns_of(gieok, f"owner-{task % 2}", f"session-{task % 4}", chance, report)
                for task in range(TASKS)
            )
        )


async def chat(place: Place, chance: random.Random, report: Report) -> None:
    """Chat turns of two owners in four new sessions, which the same process remembers in the background."""
    settings = replace(place.settings, background=True)
    session = new_word(chance)
    async with await Gieok.open(settings, model=ObservingModel(), clock=place.now) as gieok:
        await asyncio.gather(
            *(_chat_of(gieok, f"owner-{task % 2}", f"{session}-{task}", chance, report) for task in range(4))
        )


async def newcomers(place: Place, chance: random.Random, report: Report) -> None:
    """Every turn is the first of a new owner, which creates the keys."""
    async with await _open(place) as gieok:
        await asyncio.gather(*(_arrivals(gieok, chance, report) for _ in range(TASKS)))


async def rotate_data(place: Place, chance: random.Random, report: Report) -> None:
    """Rotate data keys repeatedly while turns are taken."""
    owners.RESEAL_BATCH = 7  # many batches, so that a kill falls between two of them

    async def rotate() -> None:
        for number in itertools.count():
            await gieok.user(f"owner-{number % 2}").rotate_key()

    async with await _open(place) as gieok:
        for owner in ("owner-0", "owner-1"):
            report(await take_turn(gieok.user(owner), owner, "session-0", new_word(chance)))
        await asyncio.gather(
            rotate(),
            *(_turns_of(gieok, f"owner-{task}", "session-0", chance, report) for task in range(2)),
        )


async def rotate_root(place: Place, chance: random.Random, report: Report) -> None:
    """Rotate the root key after every new owner, while the next one is added."""
    arrived = asyncio.Event()

    async def rotate() -> None:
        while await arrived.wait():
            await asyncio.to_thread(gieok.vault.rotate_root)
            arrived.clear()  # only now: the root key changes at most once while a new owner is added

    def report_and_rotate(event: Event) -> None:
        report(event)
        arrived.set()

    async with await _open(place) as gieok:
        await asyncio.gather(rotate(), _arrivals(gieok, chance, report_and_rotate))


async def erase(place: Place, chance: random.Random, report: Report) -> None:
    """Owners take a few turns in one session and are erased."""

    async def one_after_another() -> None:
        while True:
            owner = f"leaver-{new_word(chance)}"
            for _ in range(4):
                report(await take_turn(gieok.user(owner), owner, "session", new_word(chance)))
            report(Erasing(owner))
            await gieok.user(owner).data.erase()
            report(Erased(owner))

    async with await _open(place) as gieok:
        await asyncio.gather(*(one_after_another() for _ in range(4)))


async def _turns_of(gieok: Gieok, owner: str, session: str, chance: random.Random, report: Report) -> None:
    user = gieok.user(owner)
    while True:
        report(await take_turn(user, owner, session, new_word(chance)))


async def _chat_of(gieok: Gieok, owner: str, session: str, chance: random.Random, report: Report) -> None:
    user = gieok.user(owner)
    with suppress(Conflict):  # the persona is there
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    while True:
        word = new_word(chance)
        await user.chat.send("hana", f"{word} 회사에 다녀", session_ref=session)
        report(Answered(owner, word))


async def _arrivals(gieok: Gieok, chance: random.Random, report: Report) -> None:
    while True:
        owner = f"newcomer-{new_word(chance)}"
        report(await take_turn(gieok.user(owner), owner, "session", new_word(chance)))


WORKS: Mapping[str, Callable[[Place, random.Random, Report], Coroutine[Any, Any, None]]] = {
    work.__name__: work for work in (start, turns, chat, newcomers, rotate_data, rotate_root, erase)
}
