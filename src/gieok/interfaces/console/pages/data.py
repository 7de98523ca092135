"""All data of the user: usage, audit trail, export, import after a preview, and erasure."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import Response

from gieok.app.owner_data import CHUNK_BYTES, ImportResult
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.interfaces.console.page import OwnerPage, Page
from gieok.interfaces.console.session import sign_out
from gieok.interfaces.rest.routes.me import ExportResponse

router = APIRouter(prefix="/data")

USAGE_DAYS = 30
AUDIT_ENTRIES = 25


@router.get("")
async def show(page: OwnerPage, before: Annotated[UUID | None, Query()] = None) -> Response:
    """`before` is the last audit entry of the previous page."""
    return await _show(page, before=before)


@router.post("/export")
async def export(page: OwnerPage) -> Response:
    """Everything the user has, decrypted, as a file. It is recorded in the audit trail."""
    chunks = page.user.data.export()
    response = ExportResponse(await anext(chunks), chunks)
    response.headers["Content-Disposition"] = 'attachment; filename="gieok-export.ndjson"'
    return response


@router.post("/import")
async def import_file(page: OwnerPage) -> Response:
    """First what the file would add. The same file with the digest of that preview is imported."""
    content = page.form.files.get("file", b"")
    if not content:
        return await _show(page, {"file": page.t("field.required")})
    digest = hashlib.sha256(content).hexdigest()
    previewed = page.form.get("digest")
    if page.form.get("confirmed") and previewed != digest:
        return await _show(page, {"file": page.t("data.import.other")})
    try:
        if not page.form.get("confirmed"):
            found = await page.user.data.preview_import(_chunks(content))
            return await _show(page, preview=found, digest=digest)
        imported = await page.user.data.import_(_chunks(content))
    except (InputRefused, Conflict, NotFound) as error:
        return await _show(page, {"file": str(error)})
    return page.redirect("data", done="data_imported", count=str(sum(imported.counts.values())))


@router.post("/erase")
async def erase(page: OwnerPage) -> Response:
    """Erase everything, if the name of the user was typed in. The browser is signed out."""
    if page.form.get("name") != page.principal.owner:
        return await _show(page, {"name": page.t("data.erase.wrong", owner=page.principal.owner)})
    receipt = await page.user.data.erase()
    response = page.signed_out().render("data_erased.html", receipt=receipt, notice=None)
    sign_out(response)
    return response


async def _show(
    page: Page,
    errors: Mapping[str, str] | None = None,
    *,
    preview: ImportResult | None = None,
    digest: str = "",
    before: UUID | None = None,
) -> Response:
    values: dict[str, Any] = {"errors": errors or {}, "preview": preview, "digest": digest}
    status = 422 if errors else 200
    if page.is_fragment:
        return page.render("data_import.html", status, **values)
    usage = await page.user.usage(USAGE_DAYS)
    entries = await page.user.audit.list(AUDIT_ENTRIES + 1, before)
    return page.render(
        "data.html",
        status,
        usage=usage,
        days=USAGE_DAYS,
        top=max((day.tokens for day in usage), default=0),
        entries=entries[:AUDIT_ENTRIES],
        has_more=len(entries) > AUDIT_ENTRIES,
        **values,
    )


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), CHUNK_BYTES):
        yield content[start : start + CHUNK_BYTES]
