"""Canon: who the persona is, and what is true by now."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from gieok.engine import Data
from gieok.memory.chains.records import VersionRef
from gieok.memory.fields import Importance, Language, PersonaId, Timestamp, storable
from gieok.text import language

MAX_KEY_CHARS = 128
MAX_VALUE_CHARS = 1_000
MAX_PROMPT_CHARS = 20_000
MAX_ENTRIES = 256
MAX_PERSONA_CHARS = 200_000


class Category(StrEnum):
    """What a fact is about. The first five are state, which conversation changes; the others are not."""

    RELATIONSHIP = "RELATIONSHIP"
    GOAL = "GOAL"
    EVENT = "EVENT"
    HABIT = "HABIT"
    OPINION = "OPINION"
    PERSONAL_INFO = "PERSONAL_INFO"
    PREFERENCE = "PREFERENCE"
    OTHER = "OTHER"


STATE = frozenset({Category.RELATIONSHIP, Category.GOAL, Category.EVENT, Category.HABIT, Category.OPINION})
"""The categories that the state block shows."""

Provenance = Literal["user", "model", "hand"]
"""Said by the user, concluded by the model in a turn, or edited by hand."""

Key = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_KEY_CHARS),
    AfterValidator(storable),
]
FactValue = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_VALUE_CHARS),
    AfterValidator(storable),
]
PromptText = Annotated[str, StringConstraints(max_length=MAX_PROMPT_CHARS), AfterValidator(storable)]
Entries = Annotated[tuple[PromptText, ...], Field(max_length=MAX_ENTRIES)]


class FactDraft(Data):
    """What a fact says, apart from where it stands in its chain."""

    category: Category
    key: Key
    value: FactValue
    importance: Importance
    provenance: Provenance


class ExtractedFact(FactDraft):
    """What an extractor found in a turn. `retracts` says that the fact with this key no longer holds."""

    retracts: bool


class Fact(FactDraft, VersionRef):
    """One version of a fact. The active version of its chain is true now."""

    valid_from: Timestamp


class FactVersion(Fact):
    """One version of a fact in its history. None is active where the fact was retired."""

    is_active: bool


Outcome = Literal["added", "superseded", "unchanged", "retired", "unknown"]


class FactChange(Data):
    """What became of a fact that was saved or retracted; `unknown` is a retraction of what never was."""

    outcome: Outcome
    fact: Fact | None
    """The fact as it stands now; the one that was retired; None where there was none."""


def _written_in(draft: dict[str, Any]) -> Language:
    return language(f"{draft['system_prompt']} {draft['card']}", default=language(draft["name"]))


class PersonaDraft(Data):
    """What an author writes about a persona."""

    name: Key
    system_prompt: PromptText = ""
    card: PromptText = ""
    language: Language = Field(default_factory=_written_in)
    """The language that it speaks; the one that it was written in, unless its author says."""
    lorebook: Entries = ()
    boundaries: Entries = ()
    relationships: Entries = ()
    """How it stands to others when the first conversation begins. State overrides it."""

    @model_validator(mode="after")
    def _fits_a_prompt(self) -> Self:
        texts = (self.system_prompt, self.card, *self.lorebook, *self.boundaries, *self.relationships)
        if sum(map(len, texts)) > MAX_PERSONA_CHARS:
            raise ValueError(f"a persona may have at most {MAX_PERSONA_CHARS} characters in all")
        return self


class PersonaCard(PersonaDraft):
    """One version of a persona. An edit by its author makes another; a conversation never does."""

    id: PersonaId
    version: int
    created_at: Timestamp


class PersonaPrompt(Data):
    """A persona as a prompt needs it: all that its author wrote, as one text."""

    id: PersonaId
    version: int
    name: str
    language: Language
    system_prompt: str
