"""The real adapter over a model that answers by script, without a network."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import StreamedResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from gieok.adapters.models.remote.model import RemoteModel
from gieok.testing.model_server import Task

_FIELDS: dict[str, Task] = {"keywords": "turn", "topics": "session", "facts": "facts", "hint": "hint"}


class Ending(FunctionModel):
    """Says that a stream has ended, as every provider does."""

    @asynccontextmanager
    async def request_stream(self, *given: Any, **named: Any) -> AsyncGenerator[StreamedResponse]:
        async with super().request_stream(*given, **named) as stream:
            stream.finish_reason = "stop"
            yield stream


class Script:
    """What is answered to each task, by a tool or as text, and how often each was asked."""

    def __init__(self, answer: Callable[[Task], str]) -> None:
        self.answer = answer
        self.asked: list[Task] = []
        self.tasks: list[list[ModelMessage]] = []

    def model(self, *, by_schema: bool) -> RemoteModel:
        """A model that keeps to this script."""
        asked = Ending(
            self._whole, stream_function=self._stream, profile={"supports_json_schema_output": True}
        )
        return RemoteModel(asked, "hostile:script", by_schema=by_schema)

    def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        wanted = info.model_request_parameters.output_object
        form = (
            info.output_tools[0].parameters_json_schema
            if info.output_tools
            else wanted and wanted.json_schema
        )
        task = _task(json.dumps(form))
        self.asked.append(task)
        self.tasks.append(messages)
        text = self.answer(task)
        part = ToolCallPart(info.output_tools[0].name, text) if info.output_tools else TextPart(text)
        return ModelResponse(parts=[part], finish_reason="stop")

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        self.asked.append("reply")
        self.tasks.append(messages)
        text = self.answer("reply")
        for at in range(0, len(text), 1_000):
            yield text[at : at + 1_000]


def _task(form: str) -> Task:
    for field, task in _FIELDS.items():
        if f'"{field}"' in form:
            return task
    raise AssertionError("a form that no task has")
