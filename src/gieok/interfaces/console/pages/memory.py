"""One memory: edit it, its versions, its source conversation, and why a search recalls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.responses import Response

from gieok.errors import Conflict, NotFound
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.rest.schema.params import MemoryPath
from gieok.memory.companion.hits import MemoryHit
from gieok.memory.companion.records import MAX_SUMMARY_CHARS, Emotion, Memory, MemoryChanges
from gieok.memory.sessions.records import ChatMessage

router = APIRouter(prefix="/memories")

AROUND = 6
"""Messages of the conversation that are shown before and after the marked one."""
NEAR_MISSES = 3
"""Hits that are shown before and after the memory."""


@dataclass(frozen=True)
class Draft:
    """The edit form as it was filled in, and the errors beside its fields."""

    values: Mapping[str, str]
    version: int
    errors: Mapping[str, str]
    theirs: Memory | None = None
    """The current memory, if someone else has changed it since the form was opened."""


@router.get("/{id}")
async def show(memory_id: MemoryPath, page: ReadPage) -> Response:
    memory = await page.user.companion.get(memory_id)
    return page.render("memory.html", **await _shown(page, memory))


@router.post("/{id}/why")
async def why(memory_id: MemoryPath, page: ReadPage) -> Response:
    """The same with the score for a search. The words are in the body: they are content."""
    memory = await page.user.companion.get(memory_id)
    query = page.form.get("q")[:4_000]
    scored = await _scored(page, memory, query) if query else {}
    template = "memory_why.html" if page.is_fragment else "memory.html"
    values: dict[str, Any] = {"memory": memory} if page.is_fragment else await _shown(page, memory)
    values.update(query=query, scored=scored)
    return page.render(template, **values)


@router.get("/{id}/edit")
async def edit(memory_id: MemoryPath, page: WritePage) -> Response:
    """The form: in place of the row in the list, or on a page of its own without JavaScript."""
    memory = await page.user.companion.get(memory_id)
    return _form(page, memory, _draft(memory))


@router.get("/{id}/row")
async def row(memory_id: MemoryPath, page: ReadPage) -> Response:
    """The row of the list, after an edit was cancelled."""
    memory = await page.user.companion.get(memory_id)
    if not page.is_fragment:
        return page.redirect("memories", str(memory_id))
    return page.render("memories_row.html", memory=memory, hit=None)


@router.post("/{id}")
async def save(memory_id: MemoryPath, page: WritePage) -> Response:
    """Save an edit. If someone else has changed the memory meanwhile, both texts are shown."""
    version = page.form.get("version")
    draft = Draft(
        values={name: page.form.get(name) for name in ("summary", "importance", "emotion", "topics", "tags")},
        version=int(version) if version.isdigit() and len(version) < 10 else 0,
        errors={},
    )
    changes, errors = _changes(page, draft.values)
    memory = await page.user.companion.get(memory_id)
    if changes is None:
        return _form(page, memory, Draft(draft.values, draft.version, errors))
    try:
        memory = await page.user.companion.edit(memory_id, changes, expected_version=draft.version)
    except Conflict:
        memory = await page.user.companion.get(memory_id)
        return _form(page, memory, Draft(draft.values, memory.version, {}, theirs=memory))
    if page.is_fragment:
        return page.render("memories_row.html", memory=memory, hit=None)
    return page.redirect("memories", str(memory_id), done="saved")


@router.post("/{id}/archive")
async def archive(memory_id: MemoryPath, page: WritePage) -> Response:
    await page.user.companion.archive(memory_id)
    return page.redirect("memories", str(memory_id), done="archived", count="1")


@router.post("/{id}/restore")
async def restore(memory_id: MemoryPath, page: WritePage) -> Response:
    await page.user.companion.restore(memory_id, account_plan=page.principal.account_plan)
    return page.redirect("memories", str(memory_id), done="restored", count="1")


@router.post("/{id}/delete")
async def delete(memory_id: MemoryPath, page: WritePage) -> Response:
    await page.user.companion.delete(memory_id)
    return page.redirect("memories", done="deleted", count="1")


def _form(page: Page, memory: Memory, draft: Draft) -> Response:
    template = "memory_form.html" if page.is_fragment else "memory_edit.html"
    status = 409 if draft.theirs else 422 if draft.errors else 200
    return page.render(
        template, status, memory=memory, draft=draft, emotions=list(Emotion), fragment=page.is_fragment
    )


def _draft(memory: Memory) -> Draft:
    values = {
        "summary": memory.summary,
        "importance": str(memory.importance),
        "emotion": memory.emotion.value,
        "topics": ", ".join(memory.topics),
        "tags": ", ".join(memory.tags),
    }
    return Draft(values, memory.version, {})


def _changes(page: Page, values: Mapping[str, str]) -> tuple[MemoryChanges | None, Mapping[str, str]]:
    """The changes of the form, or what is wrong with its fields."""
    errors: dict[str, str] = {}
    if not values["summary"]:
        errors["summary"] = page.t("field.required")
    elif len(values["summary"]) > MAX_SUMMARY_CHARS:
        errors["summary"] = page.t("field.too_long", limit=MAX_SUMMARY_CHARS)
    if not (values["importance"].isdigit() and 1 <= int(values["importance"][:4]) <= 10):
        errors["importance"] = page.t("field.range", low=1, high=10)
    if errors:
        return None, errors
    try:
        return MemoryChanges(
            summary=values["summary"],
            importance=int(values["importance"]),
            emotion=Emotion.parse(values["emotion"]),
            topics=_labels(values["topics"]),
            tags=_labels(values["tags"]),
        ), {}
    except ValidationError as invalid:
        return None, {str(each["loc"][0]): each["msg"] for each in invalid.errors(include_input=False)}


def _labels(text: str) -> tuple[str, ...]:
    return tuple(label for each in text.split(",") if (label := each.strip()))


async def _shown(page: Page, memory: Memory) -> dict[str, Any]:
    return {
        "memory": memory,
        "versions": list(reversed(await page.user.companion.history(memory.id))),
        "conversation": await _conversation(page, memory),
        "query": "",
        "scored": {},
    }


async def _conversation(page: Page, memory: Memory) -> dict[str, Any] | None:
    """The messages around the one of the source conversation that is closest to the memory.

    None if the memory has no conversation; no messages if it was deleted.
    """
    if memory.session_ref is None:
        return None
    try:
        log = await page.user.sessions.log(memory.session_ref)
    except NotFound:
        return {"messages": (), "marked": None}
    found = await page.user.companion.search(
        memory.persona_id,
        memory.summary,
        kinds=("message",),
        account_plan=page.principal.account_plan,
    )
    marked = next((hit.id for hit in found if hit.session_ref == memory.session_ref), None)
    return {"messages": _around(log, marked), "marked": marked}


def _around(log: Sequence[ChatMessage], marked: str | None) -> Sequence[ChatMessage]:
    place = next((number for number, each in enumerate(log) if each.id == marked), 0)
    return log[max(0, place - AROUND) : place + AROUND + 1]


async def _scored(page: Page, memory: Memory, query: str) -> dict[str, Any]:
    """The memory among the hits of a search, with those just before and after it."""
    hits = await page.user.companion.search(memory.persona_id, query)
    place = next((number for number, hit in enumerate(hits) if hit.memory.id == memory.id), None)
    first = 0 if place is None else max(0, place - NEAR_MISSES)
    near: list[tuple[int, MemoryHit]] = [
        (number + 1, hit)
        for number, hit in enumerate(hits)
        if first <= number <= (place if place is not None else -1) + NEAR_MISSES and number != place
    ]
    return {
        "hit": None if place is None else hits[place],
        "rank": None if place is None else place + 1,
        "total": len(hits),
        "top": hits[0].score if hits else 0.0,
        "near": near,
    }
