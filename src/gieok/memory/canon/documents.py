"""The sealed documents of facts and personas. `form` is their format version, so old ones stay readable."""

from __future__ import annotations

from typing import TypeVar

from gieok.engine import Data
from gieok.errors import SchemaMismatch, StoreDamaged
from gieok.memory.canon.records import FactDraft, PersonaDraft
from gieok.memory.fields import PersonaId

FORM = 1
"""The current format version."""


class FactDocument(FactDraft):
    """A version of a fact. It contains its persona, because the index that finds it is not sealed."""

    persona_id: PersonaId


class PersonaDocument(PersonaDraft):
    """A version of a persona. It contains its id, because the index that finds it is not sealed."""

    id: PersonaId


D = TypeVar("D", FactDocument, PersonaDocument)


def to_document(content: Data) -> bytes:
    """Serialise the content in the current format."""
    return content.model_dump_json(by_alias=True).encode()


def from_document(record: type[D], document: bytes, form: int) -> D:
    """Parse a document. Raises SchemaMismatch for a newer format, StoreDamaged for a broken document."""
    if form > FORM:
        raise SchemaMismatch(
            f"a canon document has format {form}, and this version reads up to {FORM}; upgrade Gieok"
        )
    try:
        return record.model_validate_json(document)
    except ValueError:
        raise StoreDamaged("a canon document does not match its format; restore a backup") from None
