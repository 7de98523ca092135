"""Bodies and answers of the persona and state routes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue, ValidationError, WithJsonSchema
from pydantic_core import to_json

from gieok import wire
from gieok.app.cycles import validated
from gieok.engine.plan import first_problem
from gieok.engine.strict_json import json_path
from gieok.interfaces.rest.schema.common import Answer, Day, Ref, RequestBody, example
from gieok.memory.canon.records import (
    EMPTY_LOREBOOK,
    MAX_ENTRIES,
    STATE,
    FactChange,
    FactVersion,
    Kept,
    KeyedLorebook,
    PersonaCard,
    PersonaDraft,
    PromptText,
)
from gieok.memory.canon.steps import LoadedState
from gieok.memory.chains import VersionNumber
from gieok.memory.companion.records import MomentPage
from gieok.memory.fields import Importance, Language
from gieok.memory.observations import Category, FactValue, Key, Subject

Texts = Annotated[list[PromptText], Field(max_length=MAX_ENTRIES)]


def _category(value: object) -> Category:
    if isinstance(value, str) and value in set(Category):
        return Category(value)
    raise ValueError(f"must be one of {', '.join(Category)}")


CategoryName = Annotated[
    Category, BeforeValidator(_category), WithJsonSchema({"type": "string", "enum": [*Category]})
]


def _lorebook(value: object) -> KeyedLorebook:
    """Parse it as JSON, in which a list is a tuple, and nothing else is converted."""
    try:
        return KeyedLorebook.model_validate_json(to_json(value))
    except ValidationError as error:
        location, message = first_problem(error)
        raise ValueError(f"{json_path(location)}: {message}") from None


Lorebook = Annotated[KeyedLorebook, BeforeValidator(_lorebook)]

_PERSONA: dict[str, Any] = {
    "id": "persona_123",
    "name": "하나",
    "language": "ko",
    "systemPrompt": "너는 하나, 사용자의 다정한 친구다.",
    "card": "",
    "lorebook": [],
    "boundaries": ["의학적 조언을 하지 않는다."],
    "relationships": ["사용자와는 오랜 친구 사이다."],
    "version": 1,
    "createdAt": "2025-10-27T12:00:00Z",
}
_FACT: dict[str, Any] = {
    "rootId": "0d9f1c3b-5a7e-4c2d-9b8f-6e4a2c0d1f3b",
    "version": 2,
    "category": "GOAL",
    "key": "취업",
    "value": "IT 스타트업 입사를 준비 중",
    "importance": 8,
    "provenance": "user",
    "subject": "user",
    "when": None,
    "until": None,
    "source": {"sessionId": "session_123", "messageId": "message_7"},
    "validFrom": "2025-10-27T12:00:00Z",
}


class WritePersona(RequestBody):
    """A persona as its author writes it. Without `language` it speaks the language that it was written in."""

    model_config = example(
        name="하나",
        systemPrompt="너는 하나, 사용자의 다정한 친구다.",
        boundaries=["의학적 조언을 하지 않는다."],
        relationships=["사용자와는 오랜 친구 사이다."],
    )

    name: Key
    language: Language | None = None
    system_prompt: PromptText = ""
    card: PromptText = ""
    lorebook: Texts = Field(default_factory=list[str])
    boundaries: Texts = Field(default_factory=list[str])
    relationships: Texts = Field(default_factory=list[str])
    keyed_lorebook: Lorebook = Field(
        default=EMPTY_LOREBOOK, description="Entries that enter the prompt when one of their keys is said."
    )
    kept: Kept = Field(
        default_factory=dict[str, JsonValue], description="Fields of an imported card, for its export."
    )


class CreatePersona(WritePersona):
    """`id` is for a persona that has an id elsewhere; without it the service makes one."""

    id: Ref | None = None


class EditPersona(WritePersona):
    """The complete new version of a persona; `expectedVersion` is the version that the author has read."""

    expected_version: VersionNumber | None = None


class SetFact(RequestBody):
    """A fact that is true from now on. `subject` is `user`, `character` or `person:NAME`.

    Without `until` it is current as long as its kind of fact is: an appointment its day, a cold some days.
    """

    model_config = example(category="GOAL", key="취업", value="IT 스타트업 입사를 준비 중", importance=8)

    category: CategoryName
    key: Key
    value: FactValue
    importance: Importance | None = None
    subject: Subject = "user"
    when: Day | None = Field(default=None, description="The day on which it happened or will happen.")
    until: Day | None = Field(default=None, description="The last day on which it is current.")


class ConfigureMemories(RequestBody):
    """Omitted fields stay. `activeLimit` can only lower the limit of the account; null removes it."""

    model_config = example(recall=True, activeLimit=3)

    recall: bool = True
    active_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class PersonaAnswer(Answer):
    model_config = example(success=True, persona=_PERSONA)

    persona: PersonaCard


class ImportedPersonaAnswer(wire.ImportedPersona, Answer):
    """The persona, and which fields of the file are only kept, or were left out."""

    model_config = example(
        success=True,
        persona=_PERSONA,
        lorebook={"entries": 4},
        kept=["first_mes", "tags", "extensions.depth_prompt"],
        leftOut=["image"],
    )


class PersonasAnswer(Answer):
    model_config = example(success=True, personas=[_PERSONA], hasMore=False)

    personas: tuple[PersonaCard, ...]
    has_more: bool


class PersonaVersionsAnswer(Answer):
    model_config = example(success=True, versions=[_PERSONA], hasMore=False)

    versions: tuple[PersonaCard, ...]
    has_more: bool


class StateAnswer(wire.State, Answer):
    """The state, the text block that a prompt contains for it, and the ordinary facts outside that block."""

    model_config = example(
        success=True,
        facts=[_FACT | {"past": False}],
        block="[현재 상태(캐논)]\n- (GOAL) 취업: …",
        chars=30,
        ordinary=[],
    )


class FactAnswer(FactChange, Answer):
    """The current version of the fact; the last one if it was retired."""

    model_config = example(success=True, outcome="superseded", fact=_FACT)


class FactVersionsAnswer(Answer):
    model_config = example(
        success=True, versions=[_FACT | {"isActive": True, "retiredAt": None, "reason": None}], hasMore=False
    )

    versions: tuple[FactVersion, ...]
    has_more: bool


class ConfigAnswer(wire.PersonaMemoryConfig, Answer):
    """The memory settings of a persona, and how many memories it has."""

    model_config = example(
        success=True, config={"recall": True, "activeLimit": 3}, counts={"active": 3, "archived": 12}
    )


def state_view(state: LoadedState) -> wire.State:
    """A state as the API shows it: ordinary facts are listed by themselves."""
    past = frozenset(state.past)
    facts = [
        wire.StatedFact(**dict(fact), past=fact.root_id in past) for fact in (*state.facts, *state.others)
    ]
    return wire.State(
        facts=tuple(fact for fact in facts if fact.category in STATE),
        block=state.block,
        chars=state.chars,
        ordinary=tuple(fact for fact in facts if fact.category not in STATE),
    )


def to_persona_draft(body: WritePersona) -> PersonaDraft:
    """Convert the body. InputRefused if the persona is too long in total."""
    given: dict[str, Any] = {} if body.language is None else {"language": body.language}
    return validated(
        PersonaDraft,
        name=body.name,
        system_prompt=body.system_prompt,
        card=body.card,
        lorebook=tuple(body.lorebook),
        boundaries=tuple(body.boundaries),
        relationships=tuple(body.relationships),
        keyed_lorebook=body.keyed_lorebook,
        kept=body.kept,
        **given,
    )


class MomentsAnswer(MomentPage, Answer):
    """`nextCursor` is for the next page; null on the last one."""

    model_config = example(
        success=True,
        moments=[
            {
                "id": "5a7c9e1b-3d5f-4b7d-9f1a-3c5e7a9b1d3f",
                "personaId": "persona_123",
                "memoryId": "7f9c2ba4-e88f-4278-9f59-1d3a2b1c0d4e",
                "emotion": "기쁨",
                "intensity": 8,
                "moment": "면접에 합격함",
                "at": "2025-10-27T12:00:00Z",
            }
        ],
        nextCursor=None,
    )


class DeletedPersonaAnswer(Answer):
    model_config = example(
        success=True,
        deleted={"memories": 12, "facts": 7, "sessions": 3, "messages": 48, "turnMemories": 24},
    )

    deleted: wire.DeletedPersona
