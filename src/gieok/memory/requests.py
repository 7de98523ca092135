"""Idempotency keys: the key of a request is stored in the commit that made its result."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Literal, Protocol
from uuid import UUID

from pydantic import AfterValidator, Field

from gieok.engine import AnyStep, Data, StepContext, WriteStep
from gieok.errors import InputRefused

MAX_KEY_CHARS = 255

_FORBIDDEN_IN_KEY = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _check_key(key: str) -> str:
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        raise InputRefused(
            f"must have 1 to {MAX_KEY_CHARS} characters and has {len(key)}", at="Idempotency-Key"
        )
    if _FORBIDDEN_IN_KEY.search(key):
        raise InputRefused(
            "contains a control character or half of a surrogate pair; use a UUID", at="Idempotency-Key"
        )
    return key


class RequestKey(Data):
    """A client's idempotency key with the request that it belongs to. Raises InputRefused for a bad key."""

    key: Annotated[str, AfterValidator(_check_key), Field(repr=False)]
    body: Annotated[bytes, Field(repr=False)]
    """The whole request in a canonical form: equal requests have equal bytes."""
    kind: Literal["key", "message"] = "key"
    """What the key names: a request, or a message."""

    def part(self, name: str) -> RequestKey:
        """The key of a part of this request that has a commit of its own."""
        return self.model_copy(update={"key": sha256(f"{name}\n{self.key}".encode()).hexdigest()})


class TurnRef(Data):
    """The turn that a stored result quotes, so that it is deleted with it."""

    session_ref: str
    turn_id: str


class RequestStore(Protocol):
    """Idempotency keys of one owner. Keys and requests are stored as keyed hashes, results are sealed."""

    def result(self, request: RequestKey, now: datetime) -> str | None:
        """The stored result of the same request, or None if the key is unused or expired.

        Raises Conflict if the key was used for another request, or if its result was deleted with what it
        quotes; a message whose result was deleted has none.
        """
        ...

    def save_result(
        self,
        request: RequestKey,
        result: str,
        *,
        now: datetime,
        until: datetime,
        turn: TurnRef | None = None,
        persona_id: str | None = None,
    ) -> None:
        """Store the result of a request until `until`, and delete some expired ones.

        A result that quotes a turn, or facts with a persona, is deleted with it. Raises Conflict if the key
        is taken.
        """
        ...


class RequestView(Protocol):
    """A transaction's view with idempotency keys."""

    @property
    def requests(self) -> RequestStore: ...


class RememberMetadata(Data):
    keep_hours: Annotated[int, Field(ge=1, le=24 * 366)]


class RememberInputs(Data):
    request: RequestKey | None
    """None if the client sent no idempotency key: then nothing is stored."""
    answer: UUID | str
    """The id of what was made."""
    root_id: UUID | None = None
    """The version chain that it belongs to, if any."""


class RememberRequest(WriteStep[RememberMetadata, RememberInputs, None]):
    """Store the result of an idempotent request for `keepHours`. Conflict if the key is taken."""

    type = "RememberRequest"

    def apply(
        self, view: RequestView, metadata: RememberMetadata, inputs: RememberInputs, context: StepContext
    ) -> None:
        if inputs.request is None:
            return
        result = str(inputs.answer) if inputs.root_id is None else f"{inputs.root_id}:{inputs.answer}"
        until = context.now + timedelta(hours=metadata.keep_hours)
        view.requests.save_result(inputs.request, result, now=context.now, until=until)


STEPS: tuple[type[AnyStep], ...] = (RememberRequest,)
