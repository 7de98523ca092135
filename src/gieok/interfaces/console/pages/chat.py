"""A conversation, and beside it what the last turn recalled and why, its token budget, and what it learned.

Without JavaScript a turn is a form whose answer is the page. Reloading it does not repeat the turn: the form
carries the id of the message, or of the request for another reply.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from fastapi import APIRouter
from starlette.responses import Response

from gieok.app import ChatTurn
from gieok.app.cycles import Listener
from gieok.errors import InputRefused, NotFound
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.console.pages.sessions import recorded_turns
from gieok.interfaces.rest.gateway.turn_stream import TurnStream
from gieok.interfaces.rest.routes.chat import TurnEvents
from gieok.interfaces.rest.schema.memory import localised
from gieok.interfaces.rest.schema.params import PersonaPath
from gieok.memory.canon.records import PersonaCard
from gieok.memory.conversation.records import PromptPart
from gieok.memory.conversation.steps import PromptAssemble
from gieok.memory.fields import MAX_MESSAGE_CHARS
from gieok.memory.requests import RequestKey
from gieok.memory.sessions.records import ChatMessage

router = APIRouter(prefix="/chat")

SHOWN = 60
"""The last messages of the conversation that are shown."""


@router.get("")
async def choose(page: ReadPage) -> Response:
    """The chat with the first persona."""
    personas = await page.user.personas.list(limit=1)
    if not personas:
        return page.render("chat_empty.html")
    return page.redirect("chat", personas[0].id)


@router.get("/{id}")
async def show(persona_id: PersonaPath, page: ReadPage) -> Response:
    persona = await page.user.personas.get(persona_id)
    return page.render("chat.html", **await _shown(page, persona))


@router.post("/{id}")
async def send(persona_id: PersonaPath, page: WritePage) -> Response:
    """Send a message. The answer is the page, so that what the turn recalled can be shown."""
    persona = await page.user.personas.get(persona_id)
    if error := _check(page):
        return page.render("chat.html", 422, **await _shown(page, persona, error=error))
    turn = await _send(page, persona_id, None)
    return page.render("chat.html", **await _shown(page, persona, turn))


@router.post("/{id}/stream")
async def stream(persona_id: PersonaPath, page: WritePage) -> Response:
    """The same as server-sent events: `token` for each part of the reply, `done` with the new page parts."""
    persona = await page.user.personas.get(persona_id)
    if error := _check(page):
        raise InputRefused(error, at="message")

    async def run(listen: Listener | None) -> ChatTurn:
        return await _send(page, persona_id, listen)

    async def done(turn: ChatTurn) -> str:
        values = await _shown(page, persona, turn)
        parts = {name: page.viewer.html(f"chat_{name}.html", **values) for name in ("log", "side", "form")}
        return json.dumps(parts, ensure_ascii=False)

    return await TurnStream[ChatTurn].start(run, TurnEvents(done))


@router.post("/{id}/regenerate")
async def regenerate(persona_id: PersonaPath, page: WritePage) -> Response:
    """Another reply to the last message; the former turn is withdrawn."""
    persona = await page.user.personas.get(persona_id)
    session_ref, key = page.form.get("session"), page.form.get("once")
    once = RequestKey(key=key, body=session_ref.encode()) if key else None
    turn = await page.user.chat.regenerate(session_ref, wait_memory=True, once=once)
    return page.render("chat.html", **await _shown(page, persona, turn))


@router.post("/{id}/undo")
async def undo(persona_id: PersonaPath, page: WritePage) -> Response:
    """Withdraw the last exchange, and what was remembered of it."""
    await page.user.sessions.withdraw(page.form.get("session"))
    return page.redirect("chat", persona_id, done="withdrawn")


@router.post("/{id}/close")
async def close(persona_id: PersonaPath, page: WritePage) -> Response:
    """End the conversation and summarise it into a memory."""
    closed = await page.user.sessions.close(page.form.get("session"), wait=True)
    return page.redirect("chat", persona_id, done="closed" if closed.memory_id else "closed_without")


def _check(page: Page) -> str | None:
    message = page.form.get("message")
    if not message:
        return page.t("chat.empty_message")
    if len(message) > MAX_MESSAGE_CHARS:
        return page.t("field.too_long", limit=MAX_MESSAGE_CHARS)
    return None


async def _send(page: Page, persona_id: str, listen: Listener | None) -> ChatTurn:
    return await page.user.chat.send(
        persona_id,
        page.form.get("message"),
        message_id=page.form.get("message_id") or None,
        new_session=bool(page.form.get("new_session")),
        account_plan=page.principal.account_plan,
        wait_memory=True,
        listen=listen,
    )


async def _shown(
    page: Page, persona: PersonaCard, turn: ChatTurn | None = None, error: str | None = None
) -> dict[str, Any]:
    """The values of the page after a turn, or before the first one."""
    user = page.user
    if turn is not None:
        session_ref: str | None = turn.session_ref
    else:
        session = await user.chat.open_session(persona.id)
        session_ref = session.session_ref if session else None
    state = await user.canon.state(persona.id)
    messages = await _messages(page, session_ref)
    return {
        "persona": persona,
        "personas": await user.personas.list(),
        "session_ref": session_ref,
        "messages": messages,
        "recorded": await recorded_turns(page, session_ref) if session_ref and messages else (),
        "turn": turn,
        "notices": localised(turn.notices, page.language) if turn else (),
        "budget": await _budget(page, persona.id, turn),
        "block": state.block,
        "error": error,
        "message": page.form.get("message") if error else "",
        "message_id": str(uuid4()),
    }


async def _messages(page: Page, session_ref: str | None) -> Sequence[ChatMessage]:
    """The last messages of the session that were not withdrawn."""
    if session_ref is None:
        return ()
    try:
        session = (await page.user.sessions.get(session_ref)).session
    except NotFound:
        return ()
    log = await page.user.sessions.log(session_ref, after=max(0, session.log_length - SHOWN), limit=SHOWN)
    return [message for message in log if message.withdrawn_at is None]


async def _budget(page: Page, persona_id: str, turn: ChatTurn | None) -> dict[str, Any]:
    """The tokens of the prompt by part: of this turn, else as the next one would begin."""
    assembled = turn.result.output_of(PromptAssemble) if turn and turn.result else None
    made = assembled or await page.user.context(persona_id, account_plan=page.principal.account_plan)
    parts: list[PromptPart] = [part for part in made.parts if part.tokens or part.left_out]
    return {"parts": parts, "tokens": made.tokens, "budget": made.budget}
