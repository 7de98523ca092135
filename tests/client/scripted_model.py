"""A model with a fixed reply."""

from __future__ import annotations

from collections.abc import Callable

from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.models import CountingModel

PIECES = ("안녕,\u2028", "반가워\n")


class ScriptedModel(CountingModel):
    """Replies in two pieces, then raises `failure` if it is set."""

    def __init__(self) -> None:
        self.failure: Exception | None = None

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        for piece in PIECES:
            emit(piece)
        if self.failure is not None:
            raise self.failure
        return Reply(text="".join(PIECES), input_tokens=1, output_tokens=2)
