"""One user's talk with one persona, session after session."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from gieok.errors import NotFound, SessionEnded

if TYPE_CHECKING:
    from gieok.app import ChatTurn, User
    from gieok.app.cycles import Listener
    from gieok.app.sessions import Summaries
    from gieok.memory.canon.records import PersonaCard


class Conversation:
    """What is said now, and the last turn, for whoever asks why."""

    def __init__(self, user: User, persona: PersonaCard) -> None:
        self.user = user
        self.persona = persona
        self.last: ChatTurn | None = None
        # Named before it begins, so that a turn which was given up while it was stored is closed too.
        self._session = str(uuid4())

    async def send(self, message: str, listen: Listener) -> ChatTurn:
        """One turn. A session that ended by itself meanwhile is followed by another."""
        try:
            self.last = await self._turn(message, listen)
        except SessionEnded:
            self._session = str(uuid4())
            self.last = await self._turn(message, listen)
        return self.last

    async def close(self) -> Summaries | None:
        """End the session and wait for what is remembered of it; None where nothing was said."""
        ended, self._session, self.last = self._session, str(uuid4()), None
        try:
            return await self.user.sessions.close(ended, wait=True)
        except NotFound:
            return None

    async def _turn(self, message: str, listen: Listener) -> ChatTurn:
        return await self.user.chat.send(self.persona.id, message, session_ref=self._session, listen=listen)
