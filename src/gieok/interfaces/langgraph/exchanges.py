"""A conversation of LangChain messages as decision memory compacts it: in parts that must not be torn.

A call of tools and their results are one part, because a model refuses a result without its call.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from gieok.app.cycles import made
from gieok.memory.decisions.compaction import Said


@dataclass(frozen=True)
class Exchange:
    """Messages that stay together or give way together."""

    messages: tuple[AnyMessage, ...]

    @property
    def said(self) -> Said:
        """Their words, as evidence keeps them. InputRefused where they are too long, or cannot be kept."""
        first, *results = self.messages
        words = [_words(first), *(f"{result.name or 'tool'}: {_words(result)}" for result in results)]
        return made(Said, role=_role(first), content="\n".join(part for part in words if part))


def exchanges(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """The conversation in its parts, in order. None is empty."""
    parts: list[list[AnyMessage]] = []
    for message in messages:
        if isinstance(message, ToolMessage) and parts and _calls(parts[-1][0]):
            parts[-1].append(message)
        else:
            parts.append([message])
    return [Exchange(tuple(part)) for part in parts]


def _calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls)


def _role(message: BaseMessage) -> str:
    if isinstance(message, HumanMessage):
        return "user"
    return "assistant" if isinstance(message, AIMessage) else message.type


def _words(message: BaseMessage) -> str:
    """What was said, and what was called. A picture or a sound is not words, and is not kept."""
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    called = (f"{call['name']}({json.dumps(call['args'], ensure_ascii=False)})" for call in calls)
    return "\n".join(part for part in (str(message.text), *called) if part)
