"""Idempotent requests: the key of a request is stored in the commit that made its result."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from pydantic import Field

from gieok.engine import AnyStep, Data, StepContext, WriteStep
from gieok.memory.requests.records import RequestKey
from gieok.memory.requests.store import RequestView


class RememberMetadata(Data):
    keep_hours: Annotated[int, Field(ge=1, le=24 * 366)]


class RememberInputs(Data):
    request: RequestKey | None
    """None where the client gave no idempotency key: then nothing is stored."""
    answer: UUID | str
    """The id of what was made."""
    root_id: UUID | None = None
    """The chain that it belongs to, if any."""


class RememberRequest(WriteStep[RememberMetadata, RememberInputs, None]):
    """Store the result of an idempotent request for `keepHours`. Conflict where the key is taken."""

    type = "RememberRequest"

    def apply(
        self, view: RequestView, metadata: RememberMetadata, inputs: RememberInputs, context: StepContext
    ) -> None:
        if inputs.request is None:
            return
        answer = str(inputs.answer) if inputs.root_id is None else f"{inputs.root_id}:{inputs.answer}"
        until = context.now + timedelta(hours=metadata.keep_hours)
        view.requests.remember(inputs.request, answer, now=context.now, until=until)


STEPS: tuple[type[AnyStep], ...] = (RememberRequest,)
