"""What one Markdown file says: a decision, how the file names it, and whether it is in force."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from gieok.engine import Data
from gieok.memory.decisions.exchange import MAX_RELATIONS
from gieok.memory.decisions.records import DecisionContent, RelationType
from gieok.memory.fields import storable

Status = Literal["proposed", "accepted", "rejected", "deprecated", "superseded"]

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$"),
    AfterValidator(storable),
]
"""A decision's id, a name that the team has for it, or a file: one line, without control characters."""


class NamedRelation(Data):
    """A relation from the file's decision to another one, which is named as people do."""

    type: RelationType
    target: Name


class DecisionRecord(DecisionContent):
    """A decision as a file has it. `relations` None says nothing about them, () that there are none."""

    id: Name | None = None
    status: Status = "accepted"
    relations: Annotated[tuple[NamedRelation, ...], Field(max_length=MAX_RELATIONS)] | None = None
