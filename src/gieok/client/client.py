"""A client of a running Gieok."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from gieok.client.chat import Chat
from gieok.client.decisions import Decisions
from gieok.client.line import Line
from gieok.client.me import Me
from gieok.client.memory import Memories
from gieok.client.personas import Personas
from gieok.client.retries import Retries
from gieok.client.sessions import Sessions
from gieok.memory.fields import Language

TIMEOUT_SECONDS = 160.0
"""Longer than the service works on an answer, so that it tells its own lateness."""


class GieokClient:
    """What `gieok serve` offers, with the token of one owner. Use it as an async context manager.

    `language` is the one in which the user is told things. Every error is one that the library raises too;
    ServiceUnreachable, a kind of StoreUnavailable, where no answer comes. InputRefused for an address or a
    token that cannot be one.
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
        self._line = Line(
            url, token, language=language, timeout_seconds=timeout_seconds, retries=retries or Retries()
        )
        self.chat = Chat(self._line)
        self.sessions = Sessions(self._line)
        self.memory = Memories(self._line)
        self.personas = Personas(self._line)
        self.decisions = Decisions(self._line)
        self.me = Me(self._line)

    async def __aenter__(self) -> Self:
        await self._line.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._line.__aexit__(kind, error, trace)
