"""One completion: find the session that the window belongs to, and make the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import uuid4

from gieok.app import User
from gieok.app.cycles import Listener
from gieok.app.session_plans import CHAT_PLAN
from gieok.errors import NotFound, PlanHashMismatch, SessionEnded
from gieok.interfaces.openai.alignment import Block, Match, align, blocks_of
from gieok.interfaces.openai.schema import Completed, Window
from gieok.memory.conversation.records import Message
from gieok.memory.fields import AccountPlan
from gieok.memory.requests import RequestKey
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage

SESSIONS = 20
"""How many sessions with the persona a window is compared with, the newest ones."""
LATER = 40
"""How many stored messages after the end of the window are considered, which its user may have deleted."""

Memory = Literal["queued", "stored", "off"]


class Place(NamedTuple):
    """The session of a window, and what the window replaces there."""

    session_ref: str
    replaces: str | None
    """A message of the first turn to be withdrawn. None if nothing is."""
    match: Match
    is_ended: bool

    @property
    def is_replaced(self) -> bool:
        """A repeated greeting on another day is no reason to withdraw the former one."""
        return not self.is_ended or self.match.equal > 1


@dataclass
class Completion:
    """One request. Where its turn is stored is known when the first token of the reply is."""

    user: User
    persona_id: str
    window: Window
    account_plan: AccountPlan
    once: RequestKey | None
    is_remembered: bool
    requested_at: datetime
    named_session: str | None = None
    """The session that the client names. None: it is found by the window."""
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    session_ref: str | None = None
    turn_id: str | None = None
    memory: Memory = "off"

    async def run(self, listen: Listener | None) -> Completed:
        """Make the reply. The turn is stored, unless it must not be or the message is not the user's."""
        place = await self._find_place()
        if not self.is_remembered or not self.window.is_spoken:
            return await self._reply_only(place, listen)
        if self.window.tool_use is not None:
            return await self._reply_with_tools(place)
        self.turn_id, self.memory = str(uuid4()), "queued"  # the chat plan remembers every turn
        if place is not None:
            self.session_ref = place.session_ref
            try:
                return await self._send(listen, replaces=place.replaces)
            except (SessionEnded, PlanHashMismatch):  # it continues in a new session
                pass
        self.session_ref = str(uuid4())
        completed = await self._send(listen, replaces=None)
        if place is not None and place.replaces is not None and place.match.equal > 1:  # no mere greeting
            await self.user.sessions.withdraw(place.session_ref, place.replaces)
        return completed

    async def _send(self, listen: Listener | None, replaces: str | None) -> Completed:
        turn = await self.user.chat.send(
            self.persona_id,
            self.window.message,
            session_ref=self.session_ref,
            message_id=self.turn_id,
            recent_messages=self.window.messages,
            instructions=self.window.instructions or None,
            replaces=replaces,
            account_plan=self.account_plan,
            listen=listen,
            once=self.once,
        )
        self.session_ref, self.turn_id = turn.session_ref, turn.turn_id  # of a repeated request, its first
        self.memory = "queued" if turn.remembering else "stored"
        return Completed(turn.reply, turn.usage, notices=turn.notices, degraded=turn.degraded)

    async def _reply_only(self, place: Place | None, listen: Listener | None) -> Completed:
        made = await self.user.reply(
            self.persona_id,
            self.window.message,
            session_ref=place.session_ref if place else None,
            recent_messages=self.window.messages,
            instructions=self.window.instructions or None,
            tool_use=self.window.tool_use,
            account_plan=self.account_plan,
            listen=listen,
        )
        return Completed(made.reply, made.usage, made.tool_calls)

    async def _reply_with_tools(self, place: Place | None) -> Completed:
        """Reply, and store the turn if the reply is complete. Without a listener, because that is known only
        at the end: a turn in which the client has calls to make is not stored yet.
        """
        done = await self._reply_only(place, None)
        if done.tool_calls:
            return done
        if place is not None and place.replaces is not None and place.is_replaced:
            await self.user.sessions.withdraw(place.session_ref, place.replaces)
        if place is None or place.is_ended:
            started = await self.user.sessions.start(
                self.persona_id, plan=CHAT_PLAN, account_plan=self.account_plan
            )
            self.session_ref = started.session_ref
        else:
            self.session_ref = place.session_ref
        self.turn_id = str(uuid4())
        spoken = ChatMessage(
            id=self.turn_id, role="user", content=self.window.message, timestamp=self.requested_at
        )
        reply = ChatMessage(id=str(uuid4()), role="assistant", content=done.text, timestamp=self.requested_at)
        saved = await self.user.sessions.save(self.session_ref, [spoken, reply])
        self.memory = "queued" if saved.remembering else "stored"
        return done

    async def _find_place(self) -> Place | None:
        """Where the window belongs: the best match of the newest sessions. None if there is none."""
        spoken = Message(role="user", content=self.window.message)
        # A window may have a megabyte: it is normalised off the event loop.
        window = await asyncio.to_thread(blocks_of, (*self.window.messages, spoken)[-MAX_MESSAGES:])
        limit = min(MAX_MESSAGES, len(self.window.messages) + LATER)
        if self.named_session is not None:
            return await self._place_in(self.named_session, window, limit)
        best: Place | None = None
        for session in (await self.user.sessions.list(self.persona_id, limit=SESSIONS)).sessions:
            stored = await self.user.sessions.last_messages(session.session_ref, limit)
            match = align(window, await asyncio.to_thread(blocks_of, stored))
            if match is None or (best is not None and match.rank <= best.match.rank):
                continue
            replaces = None if match.replaces is None else stored[match.replaces].id
            best = Place(session.session_ref, replaces, match, session.ended_at is not None)
            if match.is_whole:
                break
        return best

    async def _place_in(self, session_ref: str, window: Sequence[Block], limit: int) -> Place:
        """The place in the session that the client names. There, a window which is only another first message
        replaces all turns, and one that matches nothing continues. NotFound if it is not with this persona.
        """
        session = (await self.user.sessions.get(session_ref)).session
        if session.persona_id != self.persona_id:
            raise NotFound("there is no such session with this persona")
        stored = await self.user.sessions.last_messages(session_ref, limit)
        match = align(window, await asyncio.to_thread(blocks_of, stored))
        if match is None:
            first = next((place for place, each in enumerate(stored) if each.role == "user"), None)
            is_first = sum(block.role == "user" for block in window) == 1
            match = Match(first if is_first else None, 2, (True, 2, 0), is_whole=True)
        replaces = None if match.replaces is None else stored[match.replaces].id
        return Place(session_ref, replaces, match, session.ended_at is not None)
