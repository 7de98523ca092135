"""Decisions as stored documents. Older forms are upcast when read; stored rows are never rewritten."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter

from gieok.errors import SchemaMismatch, StoreDamaged
from gieok.memory.decisions.records import DecisionContent

Document = dict[str, Any]
_OBJECT = TypeAdapter(Document)

FORM = 1
"""The current form, in which decisions are written."""


def _split_scope_and_domain(document: Document) -> Document:
    """Form 0 had one field `scope` for both: `global`, or the name of a domain."""
    scope = document.get("scope")
    if scope == "global":
        return {**document, "domain": None}
    return {**document, "scope": "domain", "domain": scope}


UPCASTERS: Mapping[int, Callable[[Document], Document]] = {0: _split_scope_and_domain}
"""From each older form to the next one."""


def to_document(content: DecisionContent) -> bytes:
    """The content in the current form."""
    return content.__pydantic_serializer__.to_json(content, by_alias=True, exclude_none=True)


def from_document(document: bytes, form: int) -> DecisionContent:
    """The content of a document in any known form.

    SchemaMismatch for a newer form, StoreDamaged for a document that does not match its form.
    """
    if form > FORM:
        raise SchemaMismatch(
            f"a decision has form {form} and this program reads up to form {FORM}; install a newer Gieok"
        )
    try:
        if form == FORM:
            return DecisionContent.model_validate_json(document)
        return DecisionContent.model_validate_json(json.dumps(_upcast(_OBJECT.validate_json(document), form)))
    except ValueError:
        raise StoreDamaged("a stored decision does not have the form it claims; restore a backup") from None


def _upcast(document: Document, form: int) -> Document:
    for older in range(form, FORM):
        document = UPCASTERS[older](document)
    return document
