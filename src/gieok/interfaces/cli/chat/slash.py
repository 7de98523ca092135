"""What a user may ask besides talking: `/why`, `/state`, `/memories`, `/persona`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gieok.interfaces.cli.harmless import one_line, printable
from gieok.interfaces.cli.output import table_lines
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from gieok.app import ChatTurn
    from gieok.interfaces.cli.chat.conversation import Conversation
    from gieok.memory.canon.records import PersonaCard
    from gieok.memory.companion.records import Memory, MemoryHit

SHOWN = 20
"""Memories that `/memories` lists; `gieok memory list` has them all."""


async def answer(command: str, talk: Conversation, say: Say) -> str:
    """What the user asked to see."""
    match command:
        case "/why":
            return "\n".join(_why(talk.last, say))
        case "/state":
            return await _known(talk) or say("chat.no_state")
        case "/memories":
            page = await talk.user.companion.list(talk.persona.id, limit=SHOWN)
            return "\n".join(_memories(page.memories, page.total, say))
        case "/persona":
            return "\n".join(table_lines(_persona(talk.persona, say)))
        case "/help":
            return say("chat.commands")
        case _:
            return say("chat.unknown", command=printable(command))


async def _known(talk: Conversation) -> str:
    """The state block, and the facts that are not in it."""
    from gieok.memory.blocks import state_line
    from gieok.memory.canon.rules import is_state

    state = await talk.user.canon.state(talk.persona.id)
    facts = await talk.user.canon.facts(talk.persona.id)
    ordinary = [state_line(fact) for fact in facts if not is_state(fact.category)]
    return "\n\n".join(filter(None, (state.block, "\n".join(ordinary))))


def _why(turn: ChatTurn | None, say: Say) -> Iterator[str]:
    if turn is None:
        yield say("chat.nothing_said")
        return
    if not turn.recalled and not turn.retrieved:
        yield say("chat.nothing_recalled")
    if turn.recalled:
        names = ("memory.score", "memory.when", "memory.summary", "memory.why", "chat.signals")
        yield from table_lines([[say(name) for name in names], *(_hit(hit, say) for hit in turn.recalled)])
    for memory in turn.retrieved:
        yield say("chat.this_session", summary=one_line(memory.summary))


def _hit(hit: MemoryHit, say: Say) -> list[str]:
    signals = (f"{name} #{signal.rank}" for name, signal in hit.why.signals.items())
    return [
        f"{hit.score:.3f}",
        f"{hit.memory.occurred_at:%Y-%m-%d}",
        one_line(hit.memory.summary),
        printable(", ".join(hit.why.matched_words)) or say("memory.filled"),
        ", ".join(signals),
    ]


def _memories(memories: tuple[Memory, ...], total: int, say: Say) -> Iterator[str]:
    if not memories:
        yield say("memory.none")
        return
    names = ("memory.when", "memory.importance", "memory.summary")
    rows = [
        [f"{each.occurred_at:%Y-%m-%d}", str(each.importance), one_line(each.summary)] for each in memories
    ]
    yield from table_lines([[say(name) for name in names], *rows])
    yield say("memory.page", shown=len(memories), total=total)


def _persona(card: PersonaCard, say: Say) -> list[list[str]]:
    return [
        [say("chat.name"), printable(card.name)],
        [say("chat.id"), card.id],
        [say("chat.version"), str(card.version)],
        [say("chat.language"), card.language],
        [say("chat.prompt"), one_line(card.system_prompt)],
    ]
