"""Commands inside a conversation: `/why`, `/state`, `/memories`, `/persona` and `/help`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gieok.interfaces.cli.memory.read import why_text
from gieok.interfaces.cli.output import format_table, one_line, printable
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import ChatTurn
    from gieok.interfaces.cli.chat.conversation import Conversation
    from gieok.memory.companion.hits import Hit
    from gieok.memory.companion.records import Memory

MAX_MEMORIES = 20
"""Memories that `/memories` lists. `gieok memory list` can show more."""


async def run_command(command: str, conversation: Conversation, t: Translator) -> str:
    """Output of a slash command."""
    match command:
        case "/why":
            return "\n".join(_why(conversation.last_turn, t))
        case "/state":
            return await _facts(conversation) or t("chat.no_facts")
        case "/memories":
            page = await conversation.user.companion.list(conversation.persona.id, limit=MAX_MEMORIES)
            return "\n".join(_memories(page.memories, page.total, t))
        case "/persona":
            card = conversation.persona
            return "\n".join(
                format_table(
                    [
                        [t("chat.name"), printable(card.name)],
                        [t("chat.id"), card.id],
                        [t("chat.version"), str(card.version)],
                        [t("chat.language"), card.language],
                        [t("chat.prompt"), one_line(card.system_prompt)],
                    ]
                )
            )
        case "/help":
            return t("chat.commands")
        case _:
            return t("chat.unknown_command", command=printable(command))


async def _facts(conversation: Conversation) -> str:
    """The state block, and the other facts, which are not part of it."""
    from gieok.memory.blocks import state_line
    from gieok.memory.canon.rules import is_state

    canon = conversation.user.canon
    state = await canon.state(conversation.persona.id)
    facts = await canon.facts(conversation.persona.id)
    others = [state_line(fact) for fact in facts if not is_state(fact.category)]
    return "\n\n".join(filter(None, (state.block, "\n".join(others))))


def _why(turn: ChatTurn | None, t: Translator) -> Iterator[str]:
    if turn is None:
        yield t("chat.no_turn")
        return
    if not turn.recalled and not turn.retrieved:
        yield t("chat.nothing_recalled")
    if turn.recalled:
        headings = ("memory.score", "memory.when", "memory.summary", "memory.why", "chat.signals")
        yield from format_table([[t(key) for key in headings], *(_hit_row(hit, t) for hit in turn.recalled)])
    for memory in turn.retrieved:
        yield t("chat.this_session", summary=one_line(memory.summary))


def _hit_row(hit: Hit, t: Translator) -> list[str]:
    return [
        f"{hit.score:.3f}",
        f"{hit.timestamp:%Y-%m-%d}",
        one_line(hit.text),
        why_text(hit, t),
        ", ".join(f"{name} #{signal.rank}" for name, signal in hit.why.signals.items()),
    ]


def _memories(memories: tuple[Memory, ...], total: int, t: Translator) -> Iterator[str]:
    if not memories:
        yield t("memory.none")
        return
    headings = ("memory.when", "memory.importance", "memory.summary")
    rows = [
        [f"{each.occurred_at:%Y-%m-%d}", str(each.importance), one_line(each.summary)] for each in memories
    ]
    yield from format_table([[t(key) for key in headings], *rows])
    yield t("memory.page", shown=len(memories), total=total)
