"""Commands inside a conversation: what they show and change. `/help` lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from gieok.errors import NotFound
from gieok.interfaces.cli.memory.read import why_text
from gieok.interfaces.cli.output import format_table, one_line, printable
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import ChatTurn
    from gieok.interfaces.cli.chat.conversation import Conversation
    from gieok.memory.companion.hits import Hit
    from gieok.memory.companion.records import Memory

MAX_FACTS, MAX_PAGE = 1000, 1000
"""Facts and memories that `/forget` looks at."""
MAX_MEMORIES = 20
"""Memories that `/memories` lists. `gieok memory list` can show more."""


async def run_command(command: str, conversation: Conversation, t: Translator) -> str:
    """Run a slash command and return its output."""
    name, _, text = command.partition(" ")
    if (change := _CHANGES.get(name)) is not None:
        return await change(conversation, text.strip(), t)
    return await _show(name, conversation, t)


async def _show(name: str, conversation: Conversation, t: Translator) -> str:
    """Output of a command that changes nothing."""
    match name:
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
            return t("chat.unknown_command", command=printable(name))


async def _facts(conversation: Conversation) -> str:
    """The state block, and the other facts, which are not part of it."""
    from gieok.memory.blocks import state_line
    from gieok.memory.canon.rules import is_state

    canon = conversation.user.canon
    state = await canon.state(conversation.persona.id)
    facts = await canon.facts(conversation.persona.id)
    others = [state_line(fact) for fact in facts if not is_state(fact.category)]
    return "\n\n".join(filter(None, (state.block, "\n".join(others))))


async def _undo(conversation: Conversation, _: str, t: Translator) -> str:
    """Withdraw the last turn."""
    try:
        undone = await conversation.undo()
    except NotFound:
        return t("chat.nothing_said")
    return t("chat.undone", messages=undone.messages, facts=undone.facts, memories=undone.memories)


async def _forget(conversation: Conversation, text: str, t: Translator) -> str:
    """Retire the one fact, or delete the one memory, that has these words."""
    if not text:
        return t("chat.forget_what")
    user, persona_id = conversation.user, conversation.persona.id
    facts = [
        (f"{fact.key}: {fact.value}", fact.root_id)
        for fact in await user.canon.facts(persona_id, limit=MAX_FACTS)
    ]
    page = await user.companion.list(persona_id, limit=MAX_PAGE)
    memories = [(memory.summary, memory.id) for memory in page.memories]
    words = text.casefold()
    found = [each for each in (*facts, *memories) if words in each[0].casefold()]
    if not found:
        return t("chat.not_found")
    if len(found) > 1:
        return "\n".join([t("chat.several"), *(one_line(shown) for shown, _ in found[:MAX_MEMORIES])])
    ((shown, identity),) = found
    if found[0] in facts:
        await user.canon.retire_fact(persona_id, identity)
    else:
        await user.companion.delete(identity)
    return t("chat.forgotten", text=one_line(shown))


async def _save(conversation: Conversation, text: str, t: Translator) -> str:
    """Store a memory by hand: these words, or what was said last."""
    from gieok.memory.companion.records import MAX_SUMMARY_CHARS, MemoryDraft

    said = await conversation.last_messages()
    summary = text or "\n".join(f"{name}: {content}" for name, content in said)
    if not summary:
        return t("chat.nothing_said")
    draft = MemoryDraft(persona_id=conversation.persona.id, summary=summary[:MAX_SUMMARY_CHARS])
    saved = await conversation.user.companion.create(draft)
    return t("chat.remembered", summary=one_line(saved.memory.summary))


def _why(turn: ChatTurn | None, t: Translator) -> Iterator[str]:
    if turn is None:
        yield t("chat.no_turn")
        return
    if not turn.recalled and not turn.retrieved:
        yield t("chat.nothing_recalled")
    if turn.recalled:
        headings = (
            "memory.score",
            "memory.confidence",
            "memory.when",
            "memory.summary",
            "memory.why",
            "chat.signals",
        )
        yield from format_table([[t(key) for key in headings], *(_hit_row(hit, t) for hit in turn.recalled)])
    for memory in turn.retrieved:
        yield t("chat.this_session", summary=one_line(memory.summary))
    for change in turn.changes:
        if change.fact is not None:
            fact = f"{change.fact.key}: {change.fact.value}"
            yield t("chat.learned", outcome=change.outcome, fact=one_line(fact))
    for refusal in turn.dropped:
        found = refusal.observation
        text = found if isinstance(found, str) else f"{found.key}: {found.value}"
        yield t("chat.refused", reason=refusal.reason, text=one_line(text))


def _hit_row(hit: Hit, t: Translator) -> list[str]:
    return [
        f"{hit.score:.3f}",
        f"{hit.confidence:.2f}",
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


_CHANGES: Mapping[str, Callable[[Conversation, str, Translator], Awaitable[str]]] = {
    "/undo": _undo,
    "/forget": _forget,
    "/save": _save,
}
"""The commands that change something. They get the words after their name."""
