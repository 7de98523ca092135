"""Facts and personas as they are sealed. `form` numbers their form, so that an old one can always be read."""

from __future__ import annotations

from typing import TypeVar

from gieok.engine import Data
from gieok.errors import SchemaMismatch, StoreDamaged
from gieok.memory.canon.records import FactDraft, PersonaDraft
from gieok.memory.fields import PersonaId

FORM = 1
"""The form that canon is written in now."""


class FactDocument(FactDraft):
    """A version of a fact. It says itself whose it is: what it is found by is not sealed with it."""

    persona_id: PersonaId


class PersonaDocument(PersonaDraft):
    """A version of a persona, which says itself which one it is."""

    id: PersonaId


D = TypeVar("D", FactDocument, PersonaDocument)


def to_document(content: Data) -> bytes:
    """The content in today's form."""
    return content.model_dump_json(by_alias=True).encode()


def from_document(record: type[D], document: bytes, form: int) -> D:
    """The content of a document. SchemaMismatch for a form from the future, StoreDamaged for a broken one."""
    if form > FORM:
        raise SchemaMismatch(
            f"canon has form {form} and this program reads up to form {FORM}; install a newer Gieok"
        )
    try:
        return record.model_validate_json(document)
    except ValueError:
        raise StoreDamaged("stored canon does not have the form it claims; restore a backup") from None
