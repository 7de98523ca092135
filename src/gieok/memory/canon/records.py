"""Records of canon: personas, and facts with their versions."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from gieok.engine import Data
from gieok.memory.chains import NEW, VersionRef
from gieok.memory.fields import (
    Importance,
    Language,
    PersonaId,
    Timestamp,
    storable,
)
from gieok.memory.observations import Category, FactSource, FactValue, Key, Subject
from gieok.text import language

MAX_PROMPT_CHARS = 20_000
MAX_ENTRIES = 256
MAX_PERSONA_CHARS = 200_000
MAX_LORE_ENTRIES = 1_000
MAX_LORE_CHARS = 300_000
"""The maximum length of all entries of a keyed lorebook together."""
MAX_KEPT_CHARS = 200_000
"""The maximum length of what is kept of an imported card, as JSON."""
MAX_KEPT_DEPTH = 32
"""Its levels of nesting: an export, which has a limit too, contains it."""

STATE = frozenset({Category.RELATIONSHIP, Category.GOAL, Category.EVENT, Category.HABIT, Category.OPINION})
"""The categories in the state block."""

Provenance = Literal["user", "model", "hand"]
"""The origin of a fact: said by the user, concluded by the model, or edited by hand."""

PromptText = Annotated[str, StringConstraints(max_length=MAX_PROMPT_CHARS), AfterValidator(storable)]
Entries = Annotated[tuple[PromptText, ...], Field(max_length=MAX_ENTRIES)]
LoreKeys = Annotated[
    tuple[
        Annotated[
            str,
            StringConstraints(strip_whitespace=True, min_length=1, max_length=300),
            AfterValidator(storable),
        ],
        ...,
    ],
    Field(max_length=100),
]
Kept = dict[str, JsonValue]
"""Fields of another program's format that Gieok does not use, as they were. An export gives them back."""
LoreLogic = Literal["any", "all", "not_any", "not_all"]
"""Which secondary keys a selective entry needs: one of them, all, none, or at least one missing."""


class FactDraft(Data):
    """The content of a fact, without its position in a version chain."""

    category: Category
    key: Key
    value: FactValue
    importance: Importance
    provenance: Provenance
    subject: Subject = "user"
    when: date | None = None
    """The day on which it happened or will happen."""
    until: date | None = None
    """The last day on which it is current."""
    source: FactSource | None = None
    """The message that states it; None for a fact that was edited by hand."""


class Fact(FactDraft, VersionRef):
    """One version of a fact. The active version of its chain is true now."""

    valid_from: Timestamp


FactReason = Literal["merged", "withdrawn", "taken_back"]
"""Why a version exists that nobody stated: another fact has the same slot, its turn was withdrawn, or the
user took it back in the next message."""


class FactVersion(Fact):
    """One version of a fact in its history. A retired fact has no active version.

    The version that retires a fact is not listed: `retired_at` of the one before it says when.
    """

    is_active: bool
    retired_at: Timestamp | None
    reason: FactReason | None
    """Why this version was made, or why the fact was retired; None if somebody stated it."""


Outcome = Literal["added", "superseded", "unchanged", "retired", "unknown"]


class PlannedChange(Data):
    """One change of the facts, as `merging` decided it and before it is stored."""

    outcome: Outcome
    root_id: UUID | None
    """The chain that changes, or that stays as it is; of a new fact the id for its chain. None if unknown."""
    expected_version: Annotated[int, Field(ge=0)] = NEW
    """The version of the chain that this change follows; `NEW` for a new fact."""
    reason: FactReason | None = None
    draft: FactDraft | None
    """The content to append, or that of the fact that is retired or unchanged. None if unknown."""
    turn: int | None = None
    """The number of the exchange that it comes from."""
    source: FactSource | None = None
    """The message that retires the fact."""


class TakenBack(Data):
    """Messages whose author takes back what they said."""

    session_ref: str
    message_ids: frozenset[str]
    spared: frozenset[UUID]
    """Facts of these messages that stay."""


class FactChange(Data):
    """The result of saving or retracting a fact; `unknown`: there was no such fact to retract."""

    outcome: Outcome
    fact: Fact | None
    """The active fact, or the one that was retired; None if there was none."""


def _detect_language(draft: dict[str, Any]) -> Language:
    return language(f"{draft['system_prompt']} {draft['card']}", default=language(draft["name"]))


def _is_empty(value: object) -> bool:
    return not value


class LoreEntry(Data):
    """A text of a keyed lorebook. It enters the prompt when one of its keys is said."""

    keys: LoreKeys = ()
    content: PromptText = ""
    name: Annotated[str, StringConstraints(max_length=1_000), AfterValidator(storable)] = ""
    """A label for its author. It is not in the prompt."""
    enabled: bool = True
    constant: bool = False
    """It always enters the prompt, whatever is said."""
    selective: bool = False
    """It needs its secondary keys too, by `logic`."""
    secondary_keys: LoreKeys = ()
    logic: LoreLogic = "any"
    case_sensitive: bool = False
    whole_words: bool = True
    """A key matches whole words only; Korean particles and endings may follow it."""
    regex: bool = False
    """Its keys are regular expressions. Gieok keeps them and never matches them."""
    scan_depth: Annotated[int, Field(ge=0, le=1_000)] | None = None
    """How many of the last messages are searched for its keys; None for the depth of the lorebook."""
    order: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 100
    """Position in the prompt, lowest first. Over the budget, the lowest is left out first."""
    priority: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = None
    """If set, it decides instead of `order` what is left out first."""
    found_by_others: bool = True
    """The content of another entry can activate it."""
    finds_others: bool = True
    """Its content can activate other entries."""
    kept: Kept = Field(default_factory=dict[str, JsonValue], exclude_if=_is_empty)


class KeyedLorebook(Data):
    """A lorebook whose entries enter the prompt when a key is said. None: as the plan says."""

    entries: Annotated[tuple[LoreEntry, ...], Field(max_length=MAX_LORE_ENTRIES)] = ()
    scan_depth: Annotated[int, Field(ge=0, le=1_000)] | None = None
    token_budget: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    recursive: bool | None = None
    """Whether the content of an entry can activate others."""
    kept: Kept = Field(default_factory=dict[str, JsonValue], exclude_if=_is_empty)


EMPTY_LOREBOOK = KeyedLorebook()


def _is_empty_lorebook(value: object) -> bool:
    return value == EMPTY_LOREBOOK


class PersonaDraft(Data):
    """The author's texts of a persona."""

    name: Key
    system_prompt: PromptText = ""
    card: PromptText = ""
    language: Language = Field(default_factory=_detect_language)
    """The language that the persona speaks. By default it is detected from the texts."""
    lorebook: Entries = ()
    boundaries: Entries = ()
    relationships: Entries = ()
    """Relationships before the first conversation. State overrides them."""
    keyed_lorebook: KeyedLorebook = Field(default=EMPTY_LOREBOOK, exclude_if=_is_empty_lorebook)
    kept: Kept = Field(default_factory=dict[str, JsonValue], exclude_if=_is_empty)
    """The fields of an imported card: `data` as it was, and fields beside it."""

    @model_validator(mode="after")
    def _fits_a_prompt(self) -> Self:
        texts = (self.system_prompt, self.card, *self.lorebook, *self.boundaries, *self.relationships)
        if sum(map(len, texts)) > MAX_PERSONA_CHARS:
            raise ValueError(f"a persona may have at most {MAX_PERSONA_CHARS} characters in total")
        return self


class PersonaCard(PersonaDraft):
    """One version of a persona. Edits by the author add versions; conversations never do."""

    id: PersonaId
    version: int
    created_at: Timestamp


class PersonaPrompt(Data):
    """A persona for a prompt: all texts of its author as one."""

    id: PersonaId
    version: int
    name: str
    language: Language
    system_prompt: str
