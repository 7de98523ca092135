"""How a conversation in the terminal goes: begun, line by line, and ended well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gieok.errors import GieokError
from gieok.interfaces.cli.chat.backstage import Backstage
from gieok.interfaces.cli.chat.conversation import Conversation
from gieok.interfaces.cli.chat.partner import SMALL, known, named, only
from gieok.interfaces.cli.chat.screen import Screen
from gieok.interfaces.cli.chat.slash import answer
from gieok.interfaces.cli.harmless import printable

if TYPE_CHECKING:
    from gieok.app import User
    from gieok.memory.canon.records import PersonaCard


def talk(owner: str, persona: str | None, screen: Screen) -> None:
    """Talk until there are no more lines. However it ends, the session is closed and remembered."""
    with Backstage() as backstage:
        user = backstage.gieok.user(owner)
        conversation = Conversation(user, _partner(backstage, user, persona, screen))
        if screen.someone_is_there:
            screen.note(screen.say("chat.hello", name=conversation.persona.name))
        try:
            for line in screen.lines():
                if line.strip() == "/quit":
                    break
                _take(backstage, conversation, line, screen)
        finally:
            _close(backstage, conversation, screen)


def _partner(backstage: Backstage, user: User, name: str | None, screen: Screen) -> PersonaCard:
    if name is not None:
        return backstage.run(named(user, name))
    cards = backstage.run(known(user))
    if cards:
        return only(cards, (lambda found: _choose(found, screen)) if screen.someone_is_there else None)
    draft = SMALL[screen.say.lang]
    if screen.someone_is_there:
        click.confirm(screen.say("chat.offer", name=draft.name), default=True, abort=True)
    card = backstage.run(user.personas.create(draft))
    screen.note(screen.say("chat.made", name=card.name, id=card.id))
    return card


def _choose(cards: Sequence[PersonaCard], screen: Screen) -> int:
    for number, card in enumerate(cards, start=1):
        print(f"{number}  {printable(card.name)}  {card.id}")
    return click.prompt(screen.say("chat.which"), type=click.IntRange(1, len(cards))) - 1


def _take(backstage: Backstage, conversation: Conversation, line: str, screen: Screen) -> None:
    """One line. What goes wrong is told, and ends the program only where nobody could go on."""
    try:
        if not line.startswith("/"):
            _reply(backstage, conversation, line, screen)
        elif line.strip() == "/new":
            _close(backstage, conversation, screen)
        else:
            screen.show(backstage.run(answer(line.strip(), conversation, screen.say)))
    except GieokError as error:
        if not screen.someone_is_there:
            raise
        screen.error(error)


def _reply(backstage: Backstage, conversation: Conversation, line: str, screen: Screen) -> None:
    try:
        screen.begin_reply(conversation.persona.name)
        turn = backstage.hear(lambda listen: conversation.send(line, listen), screen.piece)
    except KeyboardInterrupt:
        if not screen.someone_is_there:
            raise
        print()
        screen.note(screen.say("chat.given_up"))
    except GieokError:
        if screen.someone_is_there:
            print()
        raise
    else:
        screen.end_reply(turn)


def _close(backstage: Backstage, conversation: Conversation, screen: Screen) -> None:
    if screen.someone_is_there:
        screen.note(screen.say("chat.closing"))
    summaries = backstage.run(conversation.close())
    if summaries is None:
        return
    screen.notices(summaries.notices)
    if summaries.memory_id is not None:
        memory = backstage.run(conversation.user.companion.get(summaries.memory_id))
        screen.note(screen.say("chat.remembered", summary=memory.summary))
