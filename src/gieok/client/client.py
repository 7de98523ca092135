"""`GieokClient`: the entry point of the client."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from gieok.client.conversation import Chat, Jobs, Sessions
from gieok.client.decisions import Decisions
from gieok.client.documents import Documents
from gieok.client.memory import Me, Memories, Personas
from gieok.client.transport import Call, Retries, Transport
from gieok.client.webhooks import Webhooks
from gieok.memory.fields import Language
from gieok.wire import PromptContext

TIMEOUT_SECONDS = 160.0
"""Longer than the service's own time limit, so that the service can report its timeout itself."""


class GieokClient:
    """A connection to `gieok serve` with the token of one owner. Use it as an async context manager.

    `language` is for notices and names of emotions. Errors are those of the library (`gieok.errors`);
    ServiceUnreachable, a kind of StoreUnavailable, if no answer arrives. InputRefused for a malformed
    address or token.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        language: Language | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retries: Retries | None = None,
    ) -> None:
        self._transport = Transport(
            url, token, language=language, timeout_seconds=timeout_seconds, retries=retries or Retries()
        )
        self.chat = Chat(self._transport)
        self.sessions = Sessions(self._transport)
        self.jobs = Jobs(self._transport)
        self.memory = Memories(self._transport)
        self.personas = Personas(self._transport)
        self.decisions = Decisions(self._transport)
        self.documents = Documents(self._transport)
        self.webhooks = Webhooks(self._transport)
        self.me = Me(self._transport)

    async def context(
        self,
        persona_id: str,
        message: str | None = None,
        *,
        session_ref: str | None = None,
        budget: int | None = None,
    ) -> PromptContext:
        """The prompt of a turn for a model of your own, within `budget` tokens. Stores nothing.

        Without `session_ref` it is about the open session with the persona. InputRefused for a budget that
        cannot hold persona and message, NotFound, Conflict for a session with another persona.
        """
        body = {"personaId": persona_id, "message": message, "sessionId": session_ref, "budget": budget}
        return await self._transport.request(Call("POST", "/context", body=body), PromptContext)

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, trace)
