"""The sealed documents of facts and personas. `form` is their format version, so old ones stay readable."""

from __future__ import annotations

from typing import TypeVar

from gieok.engine import Data
from gieok.errors import SchemaMismatch, StoreDamaged
from gieok.memory.canon.records import FactDraft, FactReason, PersonaDraft
from gieok.memory.canon.validity import upcast
from gieok.memory.chains import ChainVersion
from gieok.memory.fields import PersonaId

FORM = 1
"""The current format version of a persona."""
FACT_FORM = 2
"""The current format version of a fact. Version 1 has no subject, time and source, and no retirement."""
NEW_FACT_FIELDS = frozenset({"subject", "when", "until", "source"})
"""The fields of a draft that version 1 does not have."""


class FactDocument(FactDraft):
    """A version of a fact. It contains its persona, because the index that finds it is not sealed."""

    persona_id: PersonaId
    is_retired: bool = False
    """The fact is no longer true from this version on."""
    reason: FactReason | None = None


class PersonaDocument(PersonaDraft):
    """A version of a persona. It contains its id, because the index that finds it is not sealed."""

    id: PersonaId


D = TypeVar("D", FactDocument, PersonaDocument)


def to_document(content: Data) -> bytes:
    """Serialise the content in the current format."""
    return content.model_dump_json(by_alias=True).encode()


def from_document(record: type[D], document: bytes, form: int) -> D:
    """Parse a document. Raises SchemaMismatch for a newer format, StoreDamaged for a broken document."""
    newest = FACT_FORM if record is FactDocument else FORM
    if form > newest:
        raise SchemaMismatch(
            f"a canon document has format {form}, and this version reads up to {newest}; upgrade Gieok"
        )
    try:
        return record.model_validate_json(document)
    except ValueError:
        raise StoreDamaged("a canon document does not match its format; restore a backup") from None


def fact_document(version: ChainVersion) -> FactDocument:
    """The document of a fact's version. One of the first format gets `until` by its kind.

    Its day is that of UTC, because the user's timezone at that time is not known.
    """
    document = from_document(FactDocument, version.content, version.form)
    return upcast(document, version.created_at.date()) if version.form < FACT_FORM else document
