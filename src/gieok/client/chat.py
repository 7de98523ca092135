"""Conversation, as `client.chat`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from gieok.client.answers import ChatTurn, Token
from gieok.client.failures import AnswerUnknown, ServiceUnreachable, error_of
from gieok.client.line import Call, Line
from gieok.client.sessions import Plan, plan_document
from gieok.client.streams import Event, events
from gieok.memory.conversation.records import Message

_OK = 200


class Chat:
    """Saying something to a persona. A turn is never sent twice: where no answer came, read the session."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def send(
        self,
        persona_id: str,
        message: str,
        *,
        session_id: str | None = None,
        recent_messages: Sequence[Message] = (),
        plan: Plan | None = None,
    ) -> ChatTurn:
        """One turn, in a new session or in a known one: whole, or nothing of it is stored.

        `plan` is needed where a session runs a plan of its own. NotFound, SessionEnded, PlanHashMismatch,
        ModelUnavailable.
        """
        body = _body(persona_id, message, session_id, recent_messages, plan)
        return await self._line.ask(Call("POST", "/chat/send", body=body), ChatTurn)

    async def stream(
        self,
        persona_id: str,
        message: str,
        *,
        session_id: str | None = None,
        recent_messages: Sequence[Message] = (),
        plan: Plan | None = None,
    ) -> AsyncGenerator[Token | ChatTurn]:
        """The pieces of the reply as they come, then the finished turn. Errors are those of `send`.

        Whoever closes it before the turn is finished gives the turn up: nothing of it is stored then.
        """
        body = _body(persona_id, message, session_id, recent_messages, plan) | {"stream": True}
        async with aclosing(self._line.stream(Call("POST", "/chat/send", body=body))) as pieces:
            async for event in events(pieces):
                heard = _heard(event)
                yield heard
                if isinstance(heard, ChatTurn):
                    return
        raise ServiceUnreachable("the stream ended before the turn did; read the session before you go on")


def _body(
    persona_id: str, message: str, session_id: str | None, recent: Sequence[Message], plan: Plan | None
) -> dict[str, Any]:
    return {
        "personaId": persona_id,
        "message": message,
        "sessionId": session_id,
        "context": {"recentMessages": list(recent)} if recent else None,
        "plan": plan_document(plan),
    }


def _heard(event: Event) -> Token | ChatTurn:
    if event.name == "error":
        raise error_of(_OK, event.data, {})
    kind = {"token": Token, "done": ChatTurn}.get(event.name)
    try:
        if kind is not None:
            return kind.model_validate_json(event.data, extra="ignore")
    except ValueError:
        kind = None
    raise AnswerUnknown(f"the stream holds an event '{event.name[:20]}' that this client does not know")
