"""Import decisions from Markdown files: show what would change, then save all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gieok.app.decisions import checked_domain
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.interfaces.console.page import Page, WritePage
from gieok.interfaces.markdown.folder import Folder, entries, read_records
from gieok.interfaces.markdown.records import Defaults
from gieok.memory.decisions.exchange import DecisionEntry, EntryResult
from gieok.memory.decisions.records import STRENGTHS, RelationType, Strength, content_of

router = APIRouter(prefix="/decisions")

TEXT = "decision.md"
"""The name of a record that was typed in instead of chosen as a file."""


class Read(NamedTuple):
    """The chosen files: their records, and the decisions that would be imported."""

    texts: Sequence[tuple[str, str]]
    folder: Folder
    entries: Sequence[DecisionEntry]


@router.get("/import")
async def show(page: WritePage) -> Response:
    return page.render("decision_import.html", **_shown(page))


@router.post("/import")
async def submit(page: WritePage) -> Response:
    """First what the files would change; with `confirmed`, the import itself."""
    try:
        read = _read(page)
        if not page.form.get("confirmed"):
            outcomes = await _outcomes(page, read.entries)
            return page.render("decision_import.html", **_shown(page, read=read, outcomes=outcomes))
        results = await page.user.exchange.import_entries(read.entries)
    except (InputRefused, NotFound, Conflict) as error:
        return page.render("decision_import.html", 422, **_shown(page, errors={"files": str(error)}))
    return page.render("decision_import.html", **_shown(page, read=read, results=results))


def _shown(
    page: Page,
    *,
    read: Read | None = None,
    outcomes: Sequence[str] = (),
    results: Sequence[EntryResult] = (),
    errors: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    values = {name: page.form.get(name) for name in ("strength", "domain", "text")}
    return {
        "values": values,
        "read": read,
        "outcomes": outcomes,
        "results": results,
        "errors": errors or {},
        "strengths": STRENGTHS,
    }


def _read(page: Page) -> Read:
    """The records of the chosen files, of the text, or of the files that were shown before confirming.

    InputRefused names a file that is not a valid record.
    """
    chosen = [(each.name.replace("\\", "/"), each.content) for each in page.form.uploads if each.name]
    shown = zip(page.form.all("path"), map(str.encode, page.form.all("file")), strict=False)
    written = [(TEXT, page.form.get("text").encode())] if page.form.get("text") else []
    files = [each for each in (*chosen, *shown, *written) if each[0].casefold().endswith(".md")]
    if not files:
        raise InputRefused(page.t("decision_import.none"))
    given = page.form.get("strength")
    strength: Strength = given if given in STRENGTHS else "normal"
    domain = checked_domain(page.form.get("domain") or None)
    folder = read_records(files, Defaults(strength, domain))
    found = entries(page.principal.owner, folder.files, domain)
    texts = [(path, content.decode(errors="replace")) for path, content in files]
    return Read(texts, folder, found)


async def _outcomes(page: Page, found: Sequence[DecisionEntry]) -> Sequence[str]:
    """What the import would do with each decision, as the key of a text."""
    decisions = page.user.decisions
    stored = {each.root_id: each for each in await decisions.active([each.root_id for each in found])}
    outcomes: list[str] = []
    for entry in found:
        if entry.root_id not in stored:
            outcomes.append("outcome.added")
        elif content_of(stored[entry.root_id]) != entry.content:
            outcomes.append("outcome.changed")
        elif entry.relations is None or await _relations(page, entry) == {
            (each.type, each.target) for each in entry.relations
        }:
            outcomes.append("outcome.unchanged")
        else:
            outcomes.append("decision_import.relations")
    return outcomes


async def _relations(page: Page, entry: DecisionEntry) -> set[tuple[RelationType, UUID]]:
    """The relations that the stored decision declares."""
    found = await page.user.decisions.relations(entry.root_id)
    return {(each.type, each.target) for each in found if each.source == entry.root_id}
