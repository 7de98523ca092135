"""The real adapter with a scripted model behind it, without a network."""

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

_FIELDS: dict[str, Task] = {"observations": "remember", "topics": "session", "hint": "hint"}


class FinishingModel(FunctionModel):
    """Sets the finish reason of a stream, as every provider does."""

    @asynccontextmanager
    async def request_stream(self, *given: Any, **named: Any) -> AsyncGenerator[StreamedResponse]:
        async with super().request_stream(*given, **named) as stream:
            stream.finish_reason = "stop"
            yield stream


class Script:
    """The answers to each task, by a tool call or as text, and the requests that came."""

    def __init__(self, answer: Callable[[Task], str]) -> None:
        self.answer = answer
        self.tasks: list[Task] = []
        self.requests: list[list[ModelMessage]] = []

    def model(self, *, native_output: bool) -> RemoteModel:
        """A remote model that answers by this script."""
        model = FinishingModel(
            self._respond, stream_function=self._stream, profile={"supports_json_schema_output": True}
        )
        return RemoteModel(model, "hostile:script", native_output=native_output)

    def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        output = info.model_request_parameters.output_object
        schema = (
            info.output_tools[0].parameters_json_schema
            if info.output_tools
            else output and output.json_schema
        )
        task = _task(json.dumps(schema))
        self.tasks.append(task)
        self.requests.append(messages)
        text = self.answer(task)
        part = ToolCallPart(info.output_tools[0].name, text) if info.output_tools else TextPart(text)
        return ModelResponse(parts=[part], finish_reason="stop")

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        self.tasks.append("reply")
        self.requests.append(messages)
        text = self.answer("reply")
        for at in range(0, len(text), 1_000):
            yield text[at : at + 1_000]


def _task(schema: str) -> Task:
    for field, task in _FIELDS.items():
        if f'"{field}"' in schema:
            return task
    raise AssertionError("no task has this schema")
