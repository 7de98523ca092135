"""The store of named requests, as steps see it: of one owner, in one transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from gieok.memory.requests.records import RequestKey


class RequestStore(Protocol):
    """Which names were used, for what, and what was answered. Neither name nor request is kept in clear."""

    def answer(self, request: RequestKey, now: datetime) -> str | None:
        """What the same request was answered, or None where its key is free.

        Conflict where the key names another request.
        """
        ...

    def remember(self, request: RequestKey, answer: str, *, now: datetime, until: datetime) -> None:
        """Keep what a request was answered. Conflict where its key is taken. What is past its time goes."""
        ...


class RequestView(Protocol):
    """Whatever holds requests among its rooms."""

    @property
    def requests(self) -> RequestStore: ...
