"""The routes of the OpenAI-compatible API. The token is the API key; its owner is the only owner."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Header
from fastapi.responses import JSONResponse, Response

from gieok.app import User
from gieok.errors import InputRefused, NotFound
from gieok.interfaces.openai.completions import Completion
from gieok.interfaces.openai.reference import (
    SCHEMA_PATH,
    ChatCompletion,
    ModelEntry,
    ModelList,
    failures,
    openapi_of,
)
from gieok.interfaces.openai.schema import (
    MODEL_PREFIX,
    ChatCompletionRequest,
    Completed,
    CompletionHead,
    completion,
    delta_chunk,
    extras,
    model_entry,
    to_window,
    tool_call_parts,
    usage_chunk,
)
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Reader, Writer
from gieok.interfaces.rest.gateway.errors import Problem
from gieok.interfaces.rest.gateway.turn_stream import TurnStream, data_line
from gieok.interfaces.rest.schema.params import IdempotencyKey, Now, request_key
from gieok.memory.canon.records import PersonaCard
from gieok.memory.fields import Language

PAGE = 100
NO_SUCH_MODEL = f"there is no such model; a model is {MODEL_PREFIX} and the id of a persona, see /v1/models"

router = APIRouter(prefix="/v1", tags=["openai"], route_class=JsonRoute)


@router.get("/models", response_model=ModelList, responses=failures())
async def models(caller: Reader) -> Response:
    """The caller's personas as models."""
    entries = [
        model_entry(each.id, int(each.created_at.timestamp())) async for each in _personas(caller.user)
    ]
    return JSONResponse({"object": "list", "data": entries})


@router.get("/models/{model:path}", response_model=ModelEntry, responses=failures(404))
async def model(model: str, caller: Reader) -> Response:
    """One persona as a model."""
    persona = await _persona(caller.user, _persona_id(model, None))
    return JSONResponse(model_entry(persona.id, int(persona.created_at.timestamp())))


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses={200: {"content": {"text/event-stream": {}}}, **failures(404, 409, 413, 422, 502, 503)},
)
async def chat_completions(
    body: ChatCompletionRequest,
    caller: Writer,
    now: Now,
    idempotency_key: IdempotencyKey = None,
    x_gieok_persona: Annotated[str | None, Header()] = None,
    x_gieok_session: Annotated[str | None, Header()] = None,
    x_gieok_memory: Annotated[str | None, Header()] = None,
) -> Response:
    """The reply of a persona to the last message, and memory of both."""
    if x_gieok_memory not in (None, "off"):
        raise InputRefused("must be off, or left out", at="X-Gieok-Memory")
    persona = await _persona(caller.user, _persona_id(body.model, x_gieok_persona))
    made = Completion(
        user=caller.user,
        persona_id=persona.id,
        window=to_window(body),
        account_plan=caller.account_plan,
        once=request_key(idempotency_key, body, persona.id, *filter(None, [x_gieok_session])),
        is_remembered=x_gieok_memory is None,
        requested_at=now,
        named_session=x_gieok_session,
    )
    if body.stream:
        has_usage = body.stream_options is not None and body.stream_options.include_usage
        chunks = _Chunks(made, int(now.timestamp()), body.model, caller.language, has_usage=has_usage)
        stream = await TurnStream[Completed].start(made.run, chunks)
        stream.headers.update(_headers(made))
        return stream
    done = await made.run(None)
    answer = completion(_head(made, int(now.timestamp()), body.model), done)
    return JSONResponse(answer | extras(done, caller.language), headers=_headers(made))


def add_openai(app: FastAPI) -> None:
    """Add the routes under /v1, and their own OpenAPI document, which needs no token."""
    app.include_router(router, include_in_schema=False)
    document = cache(lambda: openapi_of(router))

    async def schema() -> Response:
        return JSONResponse(document())

    app.add_api_route(SCHEMA_PATH, schema, methods=["GET"], include_in_schema=False)


class _Chunks:
    """The answer as chunks, which end with `[DONE]`."""

    def __init__(
        self, made: Completion, created: int, model: str, language: Language, *, has_usage: bool
    ) -> None:
        self._made = made
        self._language: Language = language
        self._created = created
        self._model = model
        self._has_usage = has_usage
        self._is_first = True

    def token(self, text: str) -> bytes:
        role = {"role": "assistant"} if self._is_first else {}
        self._is_first = False
        return _line(delta_chunk(self._head, {**role, "content": text}, None))

    async def done(self, turn: Completed) -> bytes:
        held = self.token(turn.text) if self._is_first and turn.text else b""  # with tools it comes whole
        calls = {"tool_calls": tool_call_parts(turn.tool_calls)} if turn.tool_calls else {}
        role = {"role": "assistant"} if self._is_first else {}
        last = delta_chunk(self._head, {**role, **calls}, turn.finish_reason)
        end = held + _line(last | extras(turn, self._language))
        usage = _line(usage_chunk(self._head, turn.usage)) if self._has_usage else b""
        return end + usage + data_line("[DONE]")

    def failed(self, problem: Problem) -> bytes:
        return _line(problem.openai_body)

    @property
    def _head(self) -> CompletionHead:
        return _head(self._made, self._created, self._model)


def _line(data: dict[str, Any]) -> bytes:
    return data_line(json.dumps(data, ensure_ascii=False))


def _head(made: Completion, created: int, model: str) -> CompletionHead:
    return CompletionHead(made.id, created, model)


def _headers(made: Completion) -> dict[str, str]:
    """Where the turn is stored. Without a stored turn there is no id of one."""
    headers = {
        "X-Gieok-Session": made.session_ref,
        "X-Gieok-Turn": made.turn_id,
        "X-Gieok-Memory": made.memory,
    }
    return {name: value for name, value in headers.items() if value is not None}


def _persona_id(model: str, header: str | None) -> str:
    """The persona of a request: the header's, else that in the name of the model."""
    if header is None and not model.startswith(MODEL_PREFIX):
        raise NotFound(NO_SUCH_MODEL)
    return model.removeprefix(MODEL_PREFIX) if header is None else header


async def _persona(user: User, persona_id: str) -> PersonaCard:
    """The persona. An id that is malformed is answered like an unknown one."""
    try:
        return await user.personas.get(persona_id)
    except (InputRefused, NotFound):
        raise NotFound(NO_SUCH_MODEL) from None


async def _personas(user: User) -> AsyncIterator[PersonaCard]:
    page = await user.personas.list(limit=PAGE)
    while page:
        for each in page:
            yield each
        page = await user.personas.list(after=page[-1].id, limit=PAGE) if len(page) == PAGE else ()
