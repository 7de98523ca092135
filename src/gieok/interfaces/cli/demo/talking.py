"""The acts in which the user and the character talk. Nothing here is made up: each returns what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gieok.app import ChatTurn, User
from gieok.interfaces.cli.demo.place import Place
from gieok.interfaces.cli.demo.story import Lines, Story
from gieok.memory.canon.records import FactVersion, PersonaCard, PersonaDraft
from gieok.memory.companion.records import Memory


@dataclass(frozen=True)
class Exchange:
    """One message and the turn that it came to."""

    message: str
    turn: ChatTurn


@dataclass(frozen=True)
class Talk:
    """A session that was closed, and the memory that stayed of it."""

    exchanges: tuple[Exchange, ...]
    memory: Memory


@dataclass(frozen=True)
class CanonChange:
    """A message that changed the state: the blocks before and after, and the versions of what it changed."""

    exchange: Exchange
    before: str
    after: str
    versions: Sequence[FactVersion]
    persona_before: PersonaCard
    persona_after: PersonaCard


async def meet(story: Story, place: Place) -> PersonaCard:
    """Write the character."""
    draft = PersonaDraft(name=story.character, language=story.language, system_prompt=story.character_prompt)
    async with await place.open(story.talks[0].at) as gieok:
        return await gieok.user(story.owner).personas.create(draft, persona_id=story.persona_id)


async def play_talk(story: Story, place: Place, lines: Lines) -> Talk:
    """A session from its first line until it is remembered."""
    exchanges: list[Exchange] = []
    async with await place.open(lines.at) as gieok:
        user = gieok.user(story.owner)
        for message in lines.said:
            session_ref = exchanges[0].turn.session_ref if exchanges else None
            turn = await user.chat.send(story.persona_id, message, session_ref=session_ref)
            exchanges.append(Exchange(message, turn))
        closed = await user.sessions.close(exchanges[0].turn.session_ref, wait=True)
        if closed.memory_id is None:
            raise AssertionError("a closed session left no memory")
        return Talk(tuple(exchanges), await user.companion.get(closed.memory_id))


async def come_back(story: Story, place: Place) -> Exchange:
    """The first message of a new session."""
    async with await place.open(story.back.at) as gieok:
        message = story.back.said[0]
        return Exchange(message, await gieok.user(story.owner).chat.send(story.persona_id, message))


async def change_canon(story: Story, place: Place, session_ref: str) -> CanonChange:
    """A message that supersedes what was true before."""
    persona_id, message = story.persona_id, story.change.said[0]
    async with await place.open(story.change.at) as gieok:
        user = gieok.user(story.owner)
        persona, before = await user.personas.get(persona_id), await user.canon.state(persona_id)
        turn = await user.chat.send(persona_id, message, session_ref=session_ref)
        return CanonChange(
            exchange=Exchange(message, turn),
            before=before.block,
            after=(await user.canon.state(persona_id)).block,
            versions=await _versions(user, turn),
            persona_before=persona,
            persona_after=await user.personas.get(persona_id),
        )


async def _versions(user: User, turn: ChatTurn) -> Sequence[FactVersion]:
    """The history of the first fact that the turn superseded."""
    for change in turn.changes:
        if change.outcome == "superseded" and change.fact is not None:
            return await user.canon.history(change.fact.persona_id, change.fact.root_id)
    return ()
