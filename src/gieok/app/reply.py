"""The facade of replies that are not stored: `user.reply`."""

from __future__ import annotations

from dataclasses import dataclass

from gieok.app.cycles import output_of
from gieok.engine import CycleResult
from gieok.memory.companion.hits import Hit
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.memory.conversation.records import ToolCall
from gieok.memory.conversation.steps import LLMCall
from gieok.memory.usage import CountUsage, ModelUsage

REPLY_PLAN = "reply_only"


@dataclass(frozen=True)
class UnstoredReply:
    """A reply to a message. Neither of them is stored."""

    reply: str
    tool_calls: tuple[ToolCall, ...]
    """Calls of the client's tools that the model asks for. The reply may then be empty."""
    recalled: tuple[Hit, ...]
    """What was recalled of the conversations with this persona, each with its reasons."""
    usage: ModelUsage
    plan_hash: str


def reply_of(result: CycleResult) -> UnstoredReply:
    """The reply of a cycle. InputRefused if the plan calls no model."""
    answer, recalled = output_of(result, LLMCall), result.output_of(RecallMemories)
    counted = result.output_of(CountUsage)
    return UnstoredReply(
        reply=answer.text,
        tool_calls=answer.tool_calls,
        recalled=recalled.hits if recalled else (),
        usage=counted.usage if counted else answer.usage,
        plan_hash=result.record.plan_hash,
    )
