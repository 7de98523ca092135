"""One owner with two sessions and three memories, and a worker that does everything that is due."""

from __future__ import annotations

from datetime import timedelta

from gieok import Gieok
from gieok.app import User
from gieok.app.archive import Archive
from gieok.app.background.worker import Worker
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.clock import Clock

MINA = PersonaDraft(name="미나", language="ko", system_prompt="너는 미나야.")
SAID = (
    "내일 면접이 있어서 너무 떨려",
    "The harbour was full of lanterns",
    "고양이 이름은 나비야",
    "I repaired the bicycle",
)


def archive_of(gieok: Gieok) -> Archive:
    assert gieok.archive is not None
    return gieok.archive


async def work(gieok: Gieok, clock: Clock) -> None:
    """Run everything that is due now, and what the last look has queued."""
    worker = Worker(gieok)
    for _ in range(2):
        while await worker.run_once(clock()):
            pass


async def move_texts(gieok: Gieok, clock: Clock, days: int = 40) -> None:
    """Let days pass. Texts of old sessions move when these are ended and all events are delivered; a worker
    looks every six hours."""
    await work(gieok, clock)
    for wait in (timedelta(days=days), timedelta(hours=7), timedelta(hours=7)):
        clock.now += wait
        await work(gieok, clock)


async def say(user: User, session_ref: str, clock: Clock, *texts: str) -> None:
    """Save these messages of the user and the persona in turns, without remembering them."""
    length = (await user.sessions.get(session_ref)).session.log_length
    messages = [
        ChatMessage(
            id=f"{session_ref}-{number}",
            role="assistant" if number % 2 else "user",
            content=text,
            timestamp=clock(),
            speaker="지민" if number == 0 else None,
        )
        for number, text in enumerate(texts, start=length)
    ]
    await user.sessions.save_messages(session_ref, messages, remember=False)


async def fill(gieok: Gieok, owner: str, clock: Clock) -> User:
    user = gieok.user(owner)
    await user.personas.create(MINA, persona_id="mina")
    for session_ref in ("s1", "s2"):
        await user.sessions.start("mina", plan="chat_turn", session_ref=session_ref)
        await say(user, session_ref, clock, *SAID)
    for summary in ("Bora likes old harbours", "면접 준비를 도와주었다", "Nabi the cat is three"):
        await user.companion.create(MemoryDraft(persona_id="mina", summary=summary, topics=(summary,)))
    return user
