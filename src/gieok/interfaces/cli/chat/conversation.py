"""The conversation loop: choose a persona, send each line as a message, and close the session at the end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from gieok.app.canon import MAX_PAGE
from gieok.errors import GieokError, InputRefused, NotFound, SessionEnded
from gieok.interfaces.cli.chat.background import BackgroundGieok
from gieok.interfaces.cli.chat.commands import run_command
from gieok.interfaces.cli.chat.screen import Screen
from gieok.interfaces.cli.output import printable
from gieok.interfaces.cli.texts import Lang
from gieok.memory.canon.records import PersonaCard, PersonaDraft

if TYPE_CHECKING:
    from gieok.app import ChatTurn, User
    from gieok.app.cycles import Listener
    from gieok.app.sessions import Summaries
    from gieok.memory.sessions.records import Withdrawal

_LISTED = 10
"""Personas that an error message lists."""

SIMPLE_PERSONAS: Mapping[Lang, PersonaDraft] = {
    "ko": PersonaDraft(
        name="하루",
        language="ko",
        system_prompt="너는 하루, 사용자의 다정한 친구다. 짧고 편하게 말하고, 들은 일을 기억해 묻는다.",
    ),
    "en": PersonaDraft(
        name="Haru",
        language="en",
        system_prompt="You are Haru, a warm friend of the user. You speak briefly and plainly, remember what "
        "you are told, and ask how it went.",
    ),
}
"""Personas that are offered to a user who has none."""


class Conversation:
    """Sessions of one user with one persona, one after the other."""

    def __init__(self, user: User, persona: PersonaCard) -> None:
        self.user = user
        self.persona = persona
        self.last_turn: ChatTurn | None = None
        # Set before the first turn, so that close() also finds a turn that was cancelled during its commit.
        self._session_ref = str(uuid4())

    async def continue_open(self) -> bool:
        """Continue the open session with the persona, if there is one."""
        found = await self.user.chat.open_session(self.persona.id)
        if found is not None:
            self._session_ref = found.session_ref
        return found is not None

    async def send(self, message: str, listen: Listener) -> ChatTurn:
        """Run one turn. If the session was closed for inactivity, start a new one."""
        try:
            self.last_turn = await self._turn(message, listen)
        except SessionEnded:
            self._session_ref = str(uuid4())
            self.last_turn = await self._turn(message, listen)
        return self.last_turn

    async def again(self, listen: Listener) -> ChatTurn:
        """Make another reply to the last message. Raises NotFound if there is none."""
        self.last_turn = await self.user.chat.regenerate(self._session_ref, wait_memory=True, listen=listen)
        return self.last_turn

    async def undo(self) -> Withdrawal:
        """Withdraw the last turn of this session. Raises NotFound if there is none."""
        self.last_turn = None
        return await self.user.sessions.withdraw(self._session_ref)

    async def last_messages(self) -> list[tuple[str, str]]:
        """Who said what in the last exchange. Empty if nothing was said."""
        try:
            window = await self.user.sessions.get(self._session_ref)
        except NotFound:
            return []
        names = {"user": "user", "assistant": self.persona.name}
        return [(names[each.role], each.content) for each in window.messages[-2:]]

    async def close(self) -> Summaries | None:
        """Close the session and wait for its summaries. None if it has no messages."""
        closed, self._session_ref, self.last_turn = self._session_ref, str(uuid4()), None
        try:
            return await self.user.sessions.close(closed, wait=True)
        except NotFound:
            return None

    async def _turn(self, message: str, listen: Listener) -> ChatTurn:
        return await self.user.chat.send(
            self.persona.id, message, session_ref=self._session_ref, wait_memory=True, listen=listen
        )


def chat_loop(owner: str, persona: str | None, screen: Screen) -> None:
    """Talk until the input ends. The session is closed and summarised even after an error or Ctrl-C."""
    with BackgroundGieok() as background:
        user = background.gieok.user(owner)
        conversation = Conversation(user, _choose_persona(background, user, persona, screen))
        is_continued = background.run(conversation.continue_open())
        if screen.is_interactive:
            screen.note(screen.t("chat.hello", name=conversation.persona.name))
            if is_continued:
                screen.note(screen.t("chat.continued"))
        try:
            for line in screen.lines():
                if line.strip() == "/quit":
                    break
                _handle_line(background, conversation, line, screen)
        finally:
            _close(background, conversation, screen)


def _handle_line(background: BackgroundGieok, conversation: Conversation, line: str, screen: Screen) -> None:
    """Run a command or a turn. In a terminal an error is shown and the conversation continues."""
    try:
        if not line.startswith("/"):
            _send(background, conversation, lambda listen: conversation.send(line, listen), screen)
        elif line.strip() == "/again":
            _send(background, conversation, conversation.again, screen)
        elif line.strip() == "/new":
            _close(background, conversation, screen)
        else:
            screen.show(background.run(run_command(line.strip(), conversation, screen.t)))
    except GieokError as error:
        if not screen.is_interactive:
            raise
        screen.error(error)


def _send(
    background: BackgroundGieok,
    conversation: Conversation,
    run: Callable[[Listener], Coroutine[Any, Any, ChatTurn]],
    screen: Screen,
) -> None:
    """Run one turn and print its reply. In a terminal, Ctrl-C cancels only this turn."""
    try:
        screen.begin_reply(conversation.persona.name)
        turn = background.stream(run, screen.token)
    except KeyboardInterrupt:
        if not screen.is_interactive:
            raise
        print()
        screen.note(screen.t("chat.cancelled"))
    except GieokError:
        if screen.is_interactive:
            print()
        raise
    else:
        screen.end_reply(turn)


def _close(background: BackgroundGieok, conversation: Conversation, screen: Screen) -> None:
    """Close the session and show the memory of it."""
    if screen.is_interactive:
        screen.note(screen.t("chat.closing"))
    summaries = background.run(conversation.close())
    if summaries is None:
        return
    screen.notices(summaries.notices)
    if summaries.memory_id is not None:
        memory = background.run(conversation.user.companion.get(summaries.memory_id))
        screen.note(screen.t("chat.remembered", summary=memory.summary))
    elif summaries.jobs:
        screen.note(screen.t("chat.nothing_kept"))


def _choose_persona(background: BackgroundGieok, user: User, name: str | None, screen: Screen) -> PersonaCard:
    """The persona with this id or name; else the only one, the one that the user picks, or a new one."""
    if name is not None:
        return background.run(_find_persona(user, name))
    cards = background.run(_all_personas(user))
    if len(cards) > 1:
        return _pick_persona(cards, screen)
    if cards:
        return cards[0]
    draft = SIMPLE_PERSONAS[screen.t.lang]
    if screen.is_interactive:
        click.confirm(screen.t("chat.offer", name=draft.name), default=True, abort=True)
    card = background.run(user.personas.create(draft))
    screen.note(screen.t("chat.created", name=card.name, id=card.id))
    return card


def _pick_persona(cards: Sequence[PersonaCard], screen: Screen) -> PersonaCard:
    """Ask which persona to use. Raises InputRefused without a terminal."""
    if not screen.is_interactive:
        raise InputRefused(
            f"there are {len(cards)} personas; choose one by id: {_ids(cards)}", at="--persona"
        )
    for number, card in enumerate(cards, start=1):
        print(f"{number}  {printable(card.name)}  {card.id}")
    return cards[click.prompt(screen.t("chat.choose"), type=click.IntRange(1, len(cards))) - 1]


async def _find_persona(user: User, name: str) -> PersonaCard:
    """The persona with this id or name. Raises NotFound, or InputRefused if several have the name."""
    try:
        return await user.personas.get(name)
    except (NotFound, InputRefused):
        same_name = [card for card in await _all_personas(user) if card.name == name]
    if not same_name:
        raise NotFound(f"there is no persona '{name}'; leave out --persona to choose one")
    if len(same_name) > 1:
        raise InputRefused(
            f"{len(same_name)} personas have this name; choose one by id: {_ids(same_name)}", at="--persona"
        )
    return same_name[0]


async def _all_personas(user: User) -> list[PersonaCard]:
    found: list[PersonaCard] = []
    while page := await user.personas.list(after=found[-1].id if found else None, limit=MAX_PAGE):
        found += page
    return found


def _ids(cards: Sequence[PersonaCard]) -> str:
    return ", ".join(card.id for card in cards[:_LISTED])
