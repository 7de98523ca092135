"""The steps of canon: load the persona and the state for a turn, extract and save facts, edit by hand.

A conversation never writes a persona. Only `CreatePersona` and `EditPersona` do, and no chat plan has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Protocol
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import NotFound
from gieok.memory.canon.deletion import DeleteFacts, DeletePersona
from gieok.memory.canon.grounding import grounded, most_important, own_words, turn_words
from gieok.memory.canon.records import (
    ExtractedFact,
    Fact,
    FactChange,
    FactDraft,
    PersonaCard,
    PersonaDraft,
    PersonaPrompt,
)
from gieok.memory.canon.rules import (
    check_persona,
    in_order,
    normal_key,
    persona_prompt,
    rank_facts,
    state_block,
)
from gieok.memory.canon.store import MAX_ACTIVE, CanonView, FactStore
from gieok.memory.canon.validity import ValidityDays, day_of, standing, with_validity
from gieok.memory.fields import Importance, Language, PersonaId, Timestamp
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.observations import Category, FactValue, Key, Subject
from gieok.memory.profile import ProfileView
from gieok.memory.usage import ModelUsage

MAX_KNOWN = 10_000
MAX_BLOCK_CHARS = 100_000
MAX_TOP_K = 1_000


class PersonaInputs(Data):
    persona_id: PersonaId


class LoadedPersona(Data):
    persona: PersonaPrompt
    language: Language


class LoadPersona(ReadStep[NoData, PersonaInputs, LoadedPersona]):
    """Load the active version of a persona. NotFound if there is none."""

    type = "LoadPersona"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: CanonView, metadata: NoData, inputs: PersonaInputs, context: StepContext
    ) -> LoadedPersona:
        card = view.personas.get(inputs.persona_id)
        if card is None:
            raise NotFound("no such persona")
        context.note("version", card.version)
        return LoadedPersona(persona=persona_prompt(card.id, card.version, card), language=card.language)


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
        today = day_of(at, view.profile.get().timezone or self._timezone)
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
            max_chars=metadata.max_chars,
            max_tokens=metadata.max_tokens,
            past=frozenset(past),
        )
        context.note("facts", len(block.facts))
        context.note("factsLeftOut", block.left_out)
        shown = {fact.root_id for fact in block.facts}
        return LoadedState(
            facts=block.facts,
            block=block.text,
            chars=len(block.text),
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


class RecalledFacts(Data):
    facts: tuple[Fact, ...]


class RecallFacts(ActStep[RecallFactsMetadata, RecallFactsInputs, RecalledFacts]):
    """Rank the facts that are not state: by words shared with the query, then by importance."""

    type = "RecallFacts"
    stages = frozenset({Stage.CONTEXT_SELECT})

    async def run(
        self, metadata: RecallFactsMetadata, inputs: RecallFactsInputs, context: StepContext
    ) -> RecalledFacts:
        facts = rank_facts(inputs.known, inputs.query, metadata.top_k)
        context.note("facts", len(facts))
        return RecalledFacts(facts=facts)


class PromptFact(Data, from_attributes=True):
    key: str
    value: str


class PromptMemory(Data, from_attributes=True):
    summary: str


class PromptMessage(Data, from_attributes=True):
    role: str
    content: str


class PromptPersona(Data, from_attributes=True):
    system_prompt: str


class PromptParts(Data, from_attributes=True):
    """The parts of the prompt. The last message is that of this turn."""

    persona: PromptPersona
    messages: tuple[PromptMessage, ...]
    state: tuple[PromptFact, ...]
    facts: tuple[PromptFact, ...]
    memories: tuple[PromptMemory, ...]

    @property
    def before(self) -> str:
        """The user's last message before this turn."""
        said = (message.content for message in reversed(self.messages[:-1]) if message.role == "user")
        return own_words(next(said, ""))

    def texts(self) -> tuple[str, ...]:
        """Every text that a reply may have copied from the prompt."""
        facts = (f"{fact.key}: {fact.value}" for fact in (*self.state, *self.facts))
        memories = (memory.summary for memory in self.memories)
        earlier = (message.content for message in self.messages[:-1])
        # The persona line by line: nearly any two words occur somewhere in the whole of it.
        return (*facts, *memories, *earlier, *self.persona.system_prompt.splitlines())


class ExtractMetadata(ModelLimits):
    max_facts: Annotated[int, Field(ge=0, le=1_000)]
    min_grounding: Annotated[float, Field(ge=0, le=1)]
    """The share of a value's words that must occur in the turn."""
    from_reply: tuple[Category, ...]
    """The categories in which words of the reply count too; empty for none."""


class ExtractInputs(Data):
    message: str
    reply: str
    known: tuple[Fact, ...]
    prompt: PromptParts


class Extracted(Data):
    facts: tuple[ExtractedFact, ...]
    usage: ModelUsage


class FactExtractor(Protocol):
    """The part of a language model that extracts facts from a turn."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        """The facts that this turn states.

        `known` are the active facts, which the turn may supersede or retract by key. `before` is the user's
        previous message, which the turn may take back (아니 농담이야); it states nothing new by itself.
        """
        ...


class ExtractorServices(Protocol):
    """What `ExtractFacts` needs from the application."""

    @property
    def model(self) -> FactExtractor: ...


class ExtractFacts(ActStep[ExtractMetadata, ExtractInputs, Extracted]):
    """Extract the facts that a turn changed. Drop facts that were recalled or pasted, not said."""

    type = "ExtractFacts"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(self, services: ExtractorServices) -> None:
        self._model = services.model

    async def run(self, metadata: ExtractMetadata, inputs: ExtractInputs, context: StepContext) -> Extracted:
        message = own_words(inputs.message)
        reply = own_words(inputs.reply) if metadata.from_reply else ""
        found: Sequence[ExtractedFact] = ()
        with metered_model(self._model, metadata, context) as (model, meter):
            if message or reply:
                found = await model.extract_facts(message, reply, inputs.known, before=inputs.prompt.before)
        facts: Sequence[ExtractedFact] = ()
        if found:  # most turns state nothing, and then the prompt need not be analysed
            facts = grounded(
                found,
                turn_words(message, reply, inputs.prompt.texts()),
                inputs.known,
                from_reply=metadata.from_reply,
                min_grounding=metadata.min_grounding,
            )
        kept = most_important(facts, metadata.max_facts)
        context.note("facts", len(kept))
        context.note("factsDropped", len(found) - len(kept))
        return Extracted(facts=kept, usage=meter.usage)


class SaveInputs(Data):
    persona_id: PersonaId
    facts: tuple[ExtractedFact, ...]


class SavedFacts(Data):
    changes: tuple[FactChange, ...]
    """One for each fact, by category and key."""


class SaveFacts(WriteStep[NoData, SaveInputs, SavedFacts]):
    """Add, supersede and retract facts."""

    type = "SaveFacts"

    def apply(
        self, view: CanonView, metadata: NoData, inputs: SaveInputs, context: StepContext
    ) -> SavedFacts:
        # Always in the same order, so that two turns at once cannot deadlock.
        ordered = sorted(inputs.facts, key=lambda fact: (fact.category, normal_key(fact.key)))
        changes = (_save(view.facts, inputs.persona_id, fact, context.now) for fact in ordered)
        return SavedFacts(changes=tuple(changes))


def _save(store: FactStore, persona_id: str, fact: ExtractedFact, now: datetime) -> FactChange:
    if not fact.retracts:
        return store.save(persona_id, fact, at=now)
    known = store.active(persona_id, only_state=False, limit=MAX_ACTIVE)
    place = fact.category, normal_key(fact.key)
    found = next((each for each in known if (each.category, normal_key(each.key)) == place), None)
    if found is None:
        return FactChange(outcome="unknown", fact=None)
    return store.retire(persona_id, found.root_id, at=now)


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
    LoadState,
    LoadFacts,
    RecallFacts,
    ExtractFacts,
    SaveFacts,
    CreatePersona,
    EditPersona,
    SetFact,
    RetireFact,
    DeletePersona,
    DeleteFacts,
)
