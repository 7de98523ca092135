"""The steps of canon: load the persona and the state for a turn, extract and save facts, edit by hand.

A conversation never writes a persona. Only `CreatePersona` and `EditPersona` do, and no chat plan has them.
"""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Annotated, Protocol
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep, analyse
from gieok.errors import NotFound
from gieok.memory.canon.deletion import DeleteFacts, DeletePersona, WithdrawFacts
from gieok.memory.canon.lore import ActivateLore
from gieok.memory.canon.records import (
    Fact,
    FactChange,
    FactDraft,
    KeyedLorebook,
    PersonaCard,
    PersonaDraft,
    PersonaPrompt,
    PlannedChange,
    TakenBack,
)
from gieok.memory.canon.rules import (
    character_name,
    check_persona,
    in_order,
    names_user,
    persona_prompt,
    persona_text,
    rank_facts,
    state_block,
)
from gieok.memory.canon.store import MAX_ACTIVE, CanonView
from gieok.memory.canon.validity import ValidityDays, is_past, standing, with_validity
from gieok.memory.fields import Importance, Language, PersonaId, Timestamp
from gieok.memory.observations import Category, FactValue, Key, Subject
from gieok.memory.profile import ProfileView, Timezone, day_of

MAX_KNOWN = 10_000
MAX_BLOCK_CHARS = 100_000
MAX_TOP_K = 1_000


class PersonaInputs(Data):
    persona_id: PersonaId


class LoadedPersona(Data):
    persona: PersonaPrompt
    name: str
    language: Language
    lorebook: KeyedLorebook
    character: str
    """The name of the persona in its own texts."""


class LoadPersona(ReadStep[NoData, PersonaInputs, LoadedPersona]):
    """Load the active version of a persona. NotFound if there is none."""

    type = "LoadPersona"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: StateView, metadata: NoData, inputs: PersonaInputs, context: StepContext
    ) -> LoadedPersona:
        card = view.personas.get(inputs.persona_id)
        if card is None:
            raise NotFound("no such persona")
        context.note("version", card.version)
        user_name = view.profile.get().display_name if names_user(persona_text(card)) else None
        prompt = persona_prompt(card.id, card.version, card, user_name)
        return LoadedPersona(
            persona=prompt,
            name=card.name,
            language=card.language,
            lorebook=card.keyed_lorebook,
            character=character_name(card),
        )


class CanonServices(Protocol):
    """What the steps of canon need from the application."""

    @property
    def timezone(self) -> str:
        """The timezone of users whose profile has none."""
        ...


class StateView(CanonView, ProfileView, Protocol):
    """Facts, and whose days are meant."""


class StateMetadata(Data):
    max_chars: Annotated[int, Field(ge=1, le=MAX_BLOCK_CHARS)]
    max_tokens: Annotated[int, Field(ge=1, le=MAX_BLOCK_CHARS)]
    past_days: Annotated[int, Field(ge=0, le=3_650)]
    """For how many days a fact that is no longer current is shown as past."""
    with_ordinary: bool
    """Whether facts that are not state are loaded too. They are not in the block."""


class StateInputs(Data):
    persona_id: PersonaId
    language: Language
    as_of: Timestamp | None = None
    """The moment whose state is asked for; None for now."""


class LoadedState(Data):
    facts: tuple[Fact, ...]
    """The facts in the block, in its order."""
    block: str
    chars: int
    left_out: int
    """How many facts of the state did not fit into the block."""
    past: tuple[UUID, ...]
    """The root ids of facts that are no longer current, and are shown as past."""
    others: tuple[Fact, ...]
    """The facts besides: state that did not fit into the block, and facts that are not state."""


class LoadState(ReadStep[StateMetadata, StateInputs, LoadedState]):
    """Load the current state, independent of any search. A plan without this step has no state block."""

    type = "LoadState"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, services: CanonServices) -> None:
        self._timezone = services.timezone

    def read(
        self, view: StateView, metadata: StateMetadata, inputs: StateInputs, context: StepContext
    ) -> LoadedState:
        at = inputs.as_of or context.now
        timezone = view.profile.get().timezone or self._timezone
        today = day_of(at, timezone)
        if inputs.as_of is None:
            only_state = not metadata.with_ordinary
            recorded = view.facts.active(inputs.persona_id, only_state=only_state, limit=MAX_ACTIVE)
        else:
            recorded = in_order(view.facts.as_of(inputs.persona_id, at, limit=MAX_ACTIVE))
        day = standing(recorded, today, metadata.past_days)
        facts, past = (*day.current, *day.past), tuple(fact.root_id for fact in day.past)
        block = state_block(
            facts,
            inputs.language,
            today=today,
            timezone=timezone,
            max_chars=metadata.max_chars,
            max_tokens=metadata.max_tokens,
        )
        context.note("facts", len(block.facts))
        context.note("factsLeftOut", block.left_out)
        shown = {fact.root_id for fact in block.facts}
        return LoadedState(
            facts=block.facts,
            block=block.text,
            chars=len(block.text),
            left_out=block.left_out,
            past=past,
            others=tuple(fact for fact in facts if fact.root_id not in shown),
        )


class FactsMetadata(Data):
    limit: Annotated[int, Field(ge=1, le=MAX_KNOWN)]


class LoadedFacts(Data):
    facts: tuple[Fact, ...]


class LoadFacts(ReadStep[FactsMetadata, PersonaInputs, LoadedFacts]):
    """Load the active facts of every category, most important first, for the extractor and for recall."""

    type = "LoadFacts"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: CanonView, metadata: FactsMetadata, inputs: PersonaInputs, context: StepContext
    ) -> LoadedFacts:
        facts = view.facts.active(inputs.persona_id, only_state=False, limit=metadata.limit)
        context.note("facts", len(facts))
        return LoadedFacts(facts=tuple(facts))


class RecallFactsMetadata(Data):
    top_k: Annotated[int, Field(ge=0, le=MAX_TOP_K)]


class RecallFactsInputs(Data):
    known: tuple[Fact, ...]
    query: str
    timezone: Timezone = "UTC"
    """Whose days are meant."""


class RecalledFacts(Data):
    facts: tuple[Fact, ...]


class RecallFacts(ActStep[RecallFactsMetadata, RecallFactsInputs, RecalledFacts]):
    """Rank the current facts that are not state: by words shared with the query, then by importance."""

    type = "RecallFacts"
    stages = frozenset({Stage.CONTEXT_SELECT})

    async def run(
        self, metadata: RecallFactsMetadata, inputs: RecallFactsInputs, context: StepContext
    ) -> RecalledFacts:
        today = day_of(context.now, inputs.timezone)
        current = [fact for fact in inputs.known if not is_past(fact, today)]
        rank = partial(rank_facts, current, inputs.query, metadata.top_k)
        facts = await analyse(inputs.query, rank)
        context.note("facts", len(facts))
        return RecalledFacts(facts=facts)


class SaveInputs(Data):
    persona_id: PersonaId
    changes: tuple[PlannedChange, ...]
    taken_back: TakenBack | None = None
    """Messages that the user has taken back."""


class SavedFacts(Data):
    changes: tuple[FactChange, ...]


class SaveFacts(WriteStep[NoData, SaveInputs, SavedFacts]):
    """Store the changes of the facts, and change back what the user has taken back.

    Conflict if a fact was changed since they were planned.
    """

    type = "SaveFacts"
    input_sources = {name: frozenset({"MergeFacts"}) for name in ("changes", "taken_back")}  # noqa: RUF012

    def apply(
        self, view: CanonView, metadata: NoData, inputs: SaveInputs, context: StepContext
    ) -> SavedFacts:
        changes = view.facts.apply(inputs.persona_id, inputs.changes, at=context.now)
        if (back := inputs.taken_back) is None:
            return SavedFacts(changes=tuple(changes))
        changed_back = view.facts.withdraw(
            inputs.persona_id,
            back.session_ref,
            back.message_ids,
            at=context.now,
            reason="taken_back",
            spared=back.spared,
        )
        context.note("takenBack", len(changed_back))
        return SavedFacts(changes=(*changes, *changed_back))


class CreateInputs(Data):
    persona_id: PersonaId | None
    """None for a generated id."""
    draft: PersonaDraft


class CreatedPersona(Data):
    persona_id: PersonaId
    persona: PersonaCard


class CreatePersona(WriteStep[NoData, CreateInputs, CreatedPersona]):
    """Create a persona with its first version. Conflict if the id is taken."""

    type = "CreatePersona"

    def apply(
        self, view: CanonView, metadata: NoData, inputs: CreateInputs, context: StepContext
    ) -> CreatedPersona:
        check_persona(inputs.draft)
        version_id = uuid4()
        persona_id = inputs.persona_id or str(version_id)
        persona = view.personas.create(persona_id, inputs.draft, version_id=version_id, at=context.now)
        return CreatedPersona(persona_id=persona_id, persona=persona)


class EditInputs(Data):
    persona_id: PersonaId
    draft: PersonaDraft
    expected_version: Annotated[int, Field(ge=1)] | None


class EditPersona(WriteStep[NoData, EditInputs, PersonaCard]):
    """Append a version of a persona and return it."""

    type = "EditPersona"

    def apply(
        self, view: CanonView, metadata: NoData, inputs: EditInputs, context: StepContext
    ) -> PersonaCard:
        check_persona(inputs.draft)
        return view.personas.edit(
            inputs.persona_id,
            inputs.draft,
            version_id=uuid4(),
            at=context.now,
            expected_version=inputs.expected_version,
        )


class SetMetadata(Data):
    default_importance: Importance
    """For a request without an importance."""
    validity: ValidityDays
    """How long a fact is current by its kind, for a request without `until`."""


class SetInputs(Data):
    persona_id: PersonaId
    category: Category
    key: Key
    value: FactValue
    importance: Importance | None
    subject: Subject
    when: date | None
    until: date | None


class SetFact(WriteStep[SetMetadata, SetInputs, FactChange]):
    """Set a fact by hand. NotFound if there is no such persona."""

    type = "SetFact"

    def __init__(self, services: CanonServices) -> None:
        self._timezone = services.timezone

    def apply(
        self, view: StateView, metadata: SetMetadata, inputs: SetInputs, context: StepContext
    ) -> FactChange:
        _check_persona_exists(view, inputs.persona_id)
        draft = FactDraft(
            category=inputs.category,
            key=inputs.key,
            value=inputs.value,
            importance=inputs.importance or metadata.default_importance,
            provenance="hand",
            subject=inputs.subject,
            when=inputs.when,
            until=inputs.until,
        )
        today = day_of(context.now, view.profile.get().timezone or self._timezone)
        dated = with_validity(draft, today, metadata.validity)
        return view.facts.save(inputs.persona_id, dated, at=context.now)


class RetireInputs(Data):
    persona_id: PersonaId
    root_id: UUID


class RetireFact(WriteStep[NoData, RetireInputs, FactChange]):
    """Retire a fact by hand; its history stays. NotFound if there is no such persona or active fact."""

    type = "RetireFact"

    def apply(
        self, view: CanonView, metadata: NoData, inputs: RetireInputs, context: StepContext
    ) -> FactChange:
        _check_persona_exists(view, inputs.persona_id)
        return view.facts.retire(inputs.persona_id, inputs.root_id, at=context.now)


def _check_persona_exists(view: CanonView, persona_id: str) -> None:
    if view.personas.get(persona_id) is None:
        raise NotFound("no such persona")


STEPS: tuple[type[AnyStep], ...] = (
    LoadPersona,
    ActivateLore,
    LoadState,
    LoadFacts,
    RecallFacts,
    SaveFacts,
    CreatePersona,
    EditPersona,
    SetFact,
    RetireFact,
    DeletePersona,
    DeleteFacts,
    WithdrawFacts,
)
