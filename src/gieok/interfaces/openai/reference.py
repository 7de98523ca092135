"""The OpenAPI document of `/v1`, and the models of its answers. The tests read the real answers with them.

It is a document of its own, `/v1/openapi.json`: requests ignore unknown fields, answers and errors have
OpenAI's form, and names are in snake_case, all unlike `/api/v1`.
"""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict

from gieok import __version__

SCHEMA_PATH = "/v1/openapi.json"
_ABOUT = """Chat completions with memory, in OpenAI's form. The token is the API key, a persona is a model.
The how-to page "Memory for programs that speak OpenAI's API" says how a conversation finds its session."""


class OpenAIAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ModelEntry(OpenAIAnswer):
    """A persona as a model."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: Literal["gieok"]


class ModelList(OpenAIAnswer):
    object: Literal["list"]
    data: list[ModelEntry]


class CalledFunction(OpenAIAnswer):
    name: str
    arguments: str


class CallOfTool(OpenAIAnswer):
    id: str
    type: Literal["function"]
    function: CalledFunction


class AssistantMessage(OpenAIAnswer):
    role: Literal["assistant"]
    content: str | None
    refusal: None
    tool_calls: list[CallOfTool] | None = None


class Choice(OpenAIAnswer):
    index: int
    message: AssistantMessage
    logprobs: None
    finish_reason: Literal["stop", "tool_calls"]


class TokenUsage(OpenAIAnswer):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Extras(OpenAIAnswer):
    """What OpenAI's form has no place for."""

    notices: list[str]
    """For the user, such as that memories were archived."""
    degraded: list[str]
    """Parts of recall that failed where the plan allows it."""


class ChatCompletion(OpenAIAnswer):
    """With `stream`, chunks (`chat.completion.chunk`) instead, which end with `[DONE]`."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: TokenUsage
    gieok: Extras | None = None


class ErrorDetails(OpenAIAnswer):
    message: str
    type: str
    param: str | None
    code: str


class OpenAIError(OpenAIAnswer):
    error: ErrorDetails


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented errors of a route: those of every route, and these."""
    return {status: {"model": OpenAIError} for status in (401, 403, 429, *statuses)}


def openapi_of(router: APIRouter) -> dict[str, Any]:
    """The OpenAPI document of these routes."""
    schema = get_openapi(
        title="Gieok, OpenAI-compatible", version=__version__, description=_ABOUT, routes=router.routes
    )
    schema.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schema["security"] = [{"token": []}]
    return schema
