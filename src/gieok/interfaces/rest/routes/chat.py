"""Chat: one turn, as JSON or as server-sent events.

A stream is a `TurnStream`: a turn that fails before its first token is an ordinary error response.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from gieok.app import ChatTurn
from gieok.app.cycles import Listener
from gieok.app.session_plans import CHAT_PLAN
from gieok.engine import ExecutionPlan
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Caller, Reader, Writer
from gieok.interfaces.rest.gateway.errors import Problem
from gieok.interfaces.rest.gateway.turn_stream import TOKEN, TurnStream, data_line
from gieok.interfaces.rest.schema.chat import (
    ChatAnswer,
    ContextRequest,
    PromptAnswer,
    Regenerate,
    SendMessage,
    chat_answer,
    context_answer,
    to_plan,
)
from gieok.interfaces.rest.schema.common import failures, json_response, to_messages
from gieok.interfaces.rest.schema.params import IdempotencyKey, request_key
from gieok.memory.fields import Language


def _event_schema(name: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "event": {"const": name},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        },
        "required": ["event", "data"],
    }


_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_EVENT = {
    "oneOf": [
        _event_schema(TOKEN, _TEXT),
        _event_schema("done", {"$ref": "#/components/schemas/ChatAnswer"}),
        _event_schema("error", {"$ref": "#/components/schemas/Failure"}),
    ]
}
EVENTS = {"text/event-stream": {"schema": _EVENT}}
"""The OpenAPI schema of the stream."""

TurnAnswer = Callable[[ChatTurn], Awaitable[str]]


router = APIRouter(tags=["chat"], route_class=JsonRoute)


@router.post(
    "/chat/send",
    response_model=ChatAnswer,
    responses={
        **failures(404, 409, 502),
        200: {"content": EVENTS, "description": "The turn, or a stream of its events."},
    },
    summary="Send a message to a persona",
)
async def send(body: SendMessage, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """One turn of conversation. It is stored completely or not at all, then answered; a job remembers it.

    Without `sessionId` the open session with the persona continues, unless it was inactive for too long or
    runs another plan: then, or with `newSession: true`, a session starts.

    A request that is repeated with its Idempotency-Key or its `messageId` gets the same answer, and waits for
    it while the first one is running. Another body, or another text, is 409 `CONFLICT`.

    With `waitMemory: true` the answer comes after remembering, with `changes` and `dropped`.

    With `stream: true` the answer is a stream of server-sent events: `token` with `{"text": …}` for each
    part of the reply, then `done` with the same object as without `stream`, or `error` with an error body.
    """
    plan = await _plan(body, caller)

    async def turn(listen: Listener | None) -> ChatTurn:
        return await caller.user.chat.send(
            body.persona_id,
            body.message,
            session_ref=body.session_id,
            new_session=body.new_session,
            message_id=body.message_id,
            wait_memory=body.wait_memory,
            recent_messages=to_messages(body.context.recent_messages if body.context else ()),
            account_plan=caller.account_plan,
            plan=plan,
            listen=listen,
            once=request_key(idempotency_key, body),
        )

    if body.stream:
        return await TurnStream[ChatTurn].start(turn, TurnEvents(_answer_in(caller.language)))
    return json_response(chat_answer(await turn(None), caller.language), caller.language)


@router.post(
    "/chat/regenerate",
    response_model=ChatAnswer,
    responses={
        **failures(404, 409, 502),
        200: {"content": EVENTS, "description": "The turn, or a stream of its events."},
    },
    summary="Make another reply to the last message",
)
async def regenerate(body: Regenerate, caller: Writer, idempotency_key: IdempotencyKey = None) -> Response:
    """A new turn with the same text replaces the last one, which is withdrawn in the same commit.

    If the model fails, nothing changes. `stream`, `waitMemory` and Idempotency-Key as in `chat/send`.
    """
    plan = to_plan(body.plan, caller.user) if body.plan is not None else None

    async def turn(listen: Listener | None) -> ChatTurn:
        return await caller.user.chat.regenerate(
            body.session_id,
            plan=plan,
            wait_memory=body.wait_memory,
            listen=listen,
            once=request_key(idempotency_key, body),
        )

    if body.stream:
        return await TurnStream[ChatTurn].start(turn, TurnEvents(_answer_in(caller.language)))
    return json_response(chat_answer(await turn(None), caller.language), caller.language)


@router.post(
    "/context",
    response_model=PromptAnswer,
    responses=failures(404, 409),
    summary="Build the prompt of a turn for a model of your own",
)
async def context(body: ContextRequest, caller: Reader) -> Response:
    """The whole context of a conversation within `budget` tokens, built like the prompt of `chat/send`.

    Stores nothing and asks no model. `parts` says how much of each part is in the prompt, and how much was
    left out. A budget that cannot hold persona and message is 422 at `budget`.
    """
    made = await caller.user.context(
        body.persona_id,
        body.message,
        session_ref=body.session_id,
        budget=body.budget,
        account_plan=caller.account_plan,
    )
    return json_response(context_answer(made), caller.language)


async def _plan(body: SendMessage, caller: Caller) -> str | ExecutionPlan:
    """The plan in the body, else the plan of the session. NotFound for an unknown session."""
    # Looked up even if the body has a plan, because `send` would start a session that does not exist.
    current = await caller.user.chat.plan_of(body.session_id) if body.session_id is not None else CHAT_PLAN
    return current if body.plan is None else to_plan(body.plan, caller.user)


def _answer_in(language: Language) -> TurnAnswer:
    """The data of the event `done`: the same object as without a stream."""

    async def answer(turn: ChatTurn) -> str:
        made = chat_answer(turn, language)
        return made.model_dump_json(by_alias=True, context={"language": language})

    return answer


class TurnEvents:
    """The events of a turn as JSON: `token`, then `done` or `error`. `answer` makes the data of `done`."""

    def __init__(self, answer: TurnAnswer) -> None:
        self._answer = answer

    def token(self, text: str) -> bytes:
        return _event(TOKEN, json.dumps({"text": text}, ensure_ascii=False))

    async def done(self, turn: ChatTurn) -> bytes:
        return _event("done", await self._answer(turn))

    def failed(self, problem: Problem) -> bytes:
        return _event("error", json.dumps(problem.body, ensure_ascii=False))


def _event(name: str, data: str) -> bytes:
    return f"event: {name}\n".encode() + data_line(data)
