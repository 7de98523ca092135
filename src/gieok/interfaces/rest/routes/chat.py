"""Saying something to a persona."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from gieok.app import ChatTurn
from gieok.app.chat import CHAT_PLAN
from gieok.app.cycles import Listener
from gieok.engine import ExecutionPlan
from gieok.interfaces.rest.body import JsonRoute
from gieok.interfaces.rest.caller import Caller, Writer
from gieok.interfaces.rest.routes.turn_stream import EVENTS, TurnStream
from gieok.interfaces.rest.schema.chat import ChatAnswer, SendMessage, chat_answer, to_plan
from gieok.interfaces.rest.schema.common import failures, json_response, to_messages

router = APIRouter(tags=["chat"], route_class=JsonRoute)


@router.post(
    "/chat/send",
    response_model=ChatAnswer,
    responses={
        **failures(404, 409, 502),
        200: {"content": EVENTS, "description": "The turn, or its events."},
    },
    summary="Say something to a persona",
)
async def send(body: SendMessage, caller: Writer) -> Response:
    """One turn of conversation: recall, reply, remember. Whole, or nothing of it is stored.

    With `stream: true` the answer is a stream of server-sent events: `token` with `{"text": …}` for each
    piece of the reply, then `done` with this same object, or `error` with the body of an error.
    """
    plan = await _plan(body, caller)

    async def turn(listen: Listener | None) -> ChatTurn:
        return await caller.user.chat.send(
            body.persona_id,
            body.message,
            session_ref=body.session_id,
            recent_messages=to_messages(body.context.recent_messages if body.context else ()),
            account_plan=caller.account_plan,
            plan=plan,
            listen=listen,
        )

    if body.stream:
        return await TurnStream.begin(turn, caller.language)
    return json_response(chat_answer(await turn(None), caller.language), caller.language)


async def _plan(body: SendMessage, caller: Caller) -> str | ExecutionPlan:
    """The plan that is asked for, or the one that the session runs. Only a known session is continued."""
    known = await caller.user.chat.plan_of(body.session_id) if body.session_id is not None else CHAT_PLAN
    return known if body.plan is None else to_plan(body.plan)
