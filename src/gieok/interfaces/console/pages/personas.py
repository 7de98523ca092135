"""Personas as cards: counts, memory on or off, create, import, export, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from gieok.errors import InputRefused
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.rest.schema.params import PersonaPath
from gieok.memory.canon.records import MAX_PROMPT_CHARS, PersonaCard, PersonaDraft
from gieok.memory.observations import MAX_KEY_CHARS

router = APIRouter(prefix="/personas")


@router.get("")
async def show(page: ReadPage) -> Response:
    return await _show(page)


@router.post("")
async def create(page: WritePage) -> Response:
    """Create a persona with a name and a system prompt."""
    name, prompt = page.form.get("name"), page.form.get("prompt")
    errors: dict[str, str] = {}
    if not name:
        errors["name"] = page.t("field.required")
    for field, text, limit in (("name", name, MAX_KEY_CHARS), ("prompt", prompt, MAX_PROMPT_CHARS)):
        if len(text) > limit:
            errors[field] = page.t("field.too_long", limit=limit)
    if errors:
        return await _show(page, 422, errors=errors)
    try:
        draft = PersonaDraft(name=name, system_prompt=prompt)
    except ValueError:
        return await _show(page, 422, errors={"name": page.t("field.characters")})
    await page.user.personas.create(draft)
    return page.redirect("personas", done="created")


@router.post("/import")
async def import_file(page: WritePage) -> Response:
    """Import a character card. Errors in the file are shown next to its field."""
    content = page.form.files.get("file", b"")
    if not content:
        return await _show(page, 422, errors={"file": page.t("field.required")})
    try:
        imported = await page.user.personas.import_file(content)
    except InputRefused as refused:
        return await _show(page, 422, errors={"file": str(refused)})
    return page.redirect("personas", done="imported", count=str(imported.entries))


@router.get("/{id}/export")
async def export(persona_id: PersonaPath, page: ReadPage, png: Annotated[bool, Query()] = False) -> Response:
    """The persona as a character card V3, to download."""
    card = await page.user.personas.export_card(persona_id, png=png)
    kind, ending = ("image/png", "png") if png else ("application/json", "json")
    return Response(
        card, media_type=kind, headers={"Content-Disposition": f'attachment; filename="persona.{ending}"'}
    )


@router.post("/{id}/memory")
async def switch(persona_id: PersonaPath, page: WritePage) -> Response:
    """Switch recall of this persona on or off. Memories are still made while it is off."""
    await page.user.personas.get(persona_id)
    config = await page.user.companion.config(persona_id)
    is_on = page.form.get("recall") == "on"
    await page.user.companion.configure(persona_id, config.model_copy(update={"recall": is_on}))
    return page.redirect("personas", done="recall_on" if is_on else "recall_off")


@router.get("/{id}/delete")
async def confirm(persona_id: PersonaPath, page: WritePage) -> Response:
    """Say what would be deleted, and ask."""
    persona = await page.user.personas.get(persona_id)
    return page.render("personas_delete.html", each=await _card(page, persona))


@router.post("/{id}/delete")
async def delete(persona_id: PersonaPath, page: WritePage) -> Response:
    await page.user.personas.delete(persona_id)
    return page.redirect("personas", done="persona_deleted")


async def _show(page: Page, status: int = 200, errors: dict[str, str] | None = None) -> Response:
    cards = [await _card(page, persona) for persona in await page.user.personas.list()]
    values = {name: page.form.get(name) for name in ("name", "prompt")}
    return page.render("personas.html", status, cards=cards, errors=errors or {}, values=values)


async def _card(page: Page, persona: PersonaCard) -> dict[str, Any]:
    return {
        "persona": persona,
        "counts": await page.user.companion.counts(persona.id),
        "config": await page.user.companion.config(persona.id),
        "lore": len(persona.lorebook) + len(persona.keyed_lorebook.entries),
    }
