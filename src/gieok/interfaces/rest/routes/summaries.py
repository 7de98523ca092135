"""What a client is told of a summary that was waited for."""

from __future__ import annotations

from gieok.app.sessions import Summaries
from gieok.interfaces.rest.caller import Caller
from gieok.interfaces.rest.schema.memory import SummaryAnswer, localised, memory_view


async def summary_answer(made: Summaries, caller: Caller) -> SummaryAnswer:
    """The memory of the newest messages, and what the user is to be told of it."""
    memory = None if made.memory_id is None else await caller.user.companion.get(made.memory_id)
    return SummaryAnswer(
        memory=memory_view(memory, korean=caller.korean) if memory else None,
        notices=localised(made.notices, korean=caller.korean),
    )
