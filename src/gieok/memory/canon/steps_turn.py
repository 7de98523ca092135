"""Canon in a turn: the persona and the state come before it, what it changed is found and saved after it.

Nothing here can write a persona.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import uuid4

from pydantic import Field

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import NotFound
from gieok.memory.canon.block import most_lines, state_block
from gieok.memory.canon.extractor import FactExtractor
from gieok.memory.canon.grounding import grounded, most_important, own_words, said_in
from gieok.memory.canon.records import Category, ExtractedFact, Fact, FactChange, PersonaPrompt
from gieok.memory.canon.rules import normal_key, persona_prompt
from gieok.memory.canon.store import CanonRooms, FactStore
from gieok.memory.fields import Language, PersonaId
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.reader import Reader
from gieok.memory.usage.records import ModelUsage

MAX_KNOWN = 10_000
MAX_BLOCK_CHARS = 100_000


class PersonaInputs(Data):
    persona_id: PersonaId


class LoadedPersona(Data):
    persona: PersonaPrompt
    language: Language


class LoadPersona(Step[NoData, PersonaInputs, LoadedPersona]):
    """The persona as its author last wrote it. NotFound fails the cycle."""

    type = "LoadPersona"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[CanonRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: NoData, inputs: PersonaInputs, context: StepContext) -> LoadedPersona:
        card = await self._rooms.read(lambda rooms: rooms.personas.get(inputs.persona_id), brief=True)
        if card is None:
            raise NotFound("no such persona")
        context.note("version", card.version)
        return LoadedPersona(persona=persona_prompt(card.id, card.version, card), language=card.language)


class StateMetadata(Data):
    max_chars: Annotated[int, Field(ge=1, le=MAX_BLOCK_CHARS)]
    max_tokens: Annotated[int, Field(ge=1, le=MAX_BLOCK_CHARS)]


class StateInputs(Data):
    persona_id: PersonaId
    language: Language


class LoadedState(Data):
    facts: tuple[Fact, ...]
    block: str
    chars: int


class LoadState(Step[StateMetadata, StateInputs, LoadedState]):
    """The current state, whatever a search finds. A plan without this step has no state block."""

    type = "LoadState"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[CanonRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: StateMetadata, inputs: StateInputs, context: StepContext) -> LoadedState:
        limit = most_lines(metadata.max_chars)
        facts = await self._rooms.read(
            lambda rooms: rooms.facts.active(inputs.persona_id, only_state=True, limit=limit), brief=True
        )
        made = state_block(
            facts, inputs.language, max_chars=metadata.max_chars, max_tokens=metadata.max_tokens
        )
        context.note("facts", len(made.facts))
        context.note("factsLeftOut", made.left_out)
        return LoadedState(facts=made.facts, block=made.text, chars=len(made.text))


class FactsMetadata(Data):
    limit: Annotated[int, Field(ge=1, le=MAX_KNOWN)]


class LoadedFacts(Data):
    facts: tuple[Fact, ...]


class LoadFacts(Step[FactsMetadata, PersonaInputs, LoadedFacts]):
    """The active facts of every category, most important first: what an extractor should know of."""

    type = "LoadFacts"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def __init__(self, rooms: Reader[CanonRooms]) -> None:
        self._rooms = rooms

    async def run(self, metadata: FactsMetadata, inputs: PersonaInputs, context: StepContext) -> LoadedFacts:
        facts = await self._rooms.read(
            lambda rooms: rooms.facts.active(inputs.persona_id, only_state=False, limit=metadata.limit)
        )
        context.note("facts", len(facts))
        return LoadedFacts(facts=tuple(facts))


class ToldFact(Data, from_attributes=True):
    key: str
    value: str


class ToldMemory(Data, from_attributes=True):
    summary: str


class ToldMessage(Data, from_attributes=True):
    role: str
    content: str


class ToldPersona(Data, from_attributes=True):
    system_prompt: str


class Told(Data, from_attributes=True):
    """What the prompt told the model besides the message of this turn, which is the last one."""

    persona: ToldPersona
    messages: tuple[ToldMessage, ...]
    state: tuple[ToldFact, ...]
    facts: tuple[ToldFact, ...]
    memories: tuple[ToldMemory, ...]

    @property
    def before(self) -> str:
        """What the user said last before the message of this turn."""
        said = (message.content for message in reversed(self.messages[:-1]) if message.role == "user")
        return own_words(next(said, ""))

    def texts(self) -> tuple[str, ...]:
        """Every text that a reply may have taken from the prompt."""
        facts = (f"{fact.key}: {fact.value}" for fact in (*self.state, *self.facts))
        memories = (memory.summary for memory in self.memories)
        earlier = (message.content for message in self.messages[:-1])
        # Line by line: over a whole persona nearly any two words are found somewhere.
        return (*facts, *memories, *earlier, *self.persona.system_prompt.splitlines())


class ExtractMetadata(ModelLimits):
    max_facts: Annotated[int, Field(ge=0, le=1_000)]
    min_grounding: Annotated[float, Field(ge=0, le=1)]
    """The share of a value's words that must have been said in the turn."""
    from_reply: tuple[Category, ...]
    """The categories in which the reply may conclude what the user did not say alone; empty for none."""


class ExtractInputs(Data):
    message: str
    reply: str
    known: tuple[Fact, ...]
    prompt: Told


class Extracted(Data):
    facts: tuple[ExtractedFact, ...]
    usage: ModelUsage


class ExtractFacts(Step[ExtractMetadata, ExtractInputs, Extracted]):
    """Finds what the turn changed, and stores nothing. What was recalled or pasted was not said."""

    type = "ExtractFacts"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(self, model: FactExtractor) -> None:
        self._model = model

    async def run(self, metadata: ExtractMetadata, inputs: ExtractInputs, context: StepContext) -> Extracted:
        message = own_words(inputs.message)
        reply = own_words(inputs.reply) if metadata.from_reply else ""
        with metered_model(self._model, metadata, context) as (model, meter):
            found = (
                await model.extract_facts(message, reply, inputs.known, before=inputs.prompt.before)
                if message or reply
                else ()
            )
        facts = most_important(_standing(found, message, reply, inputs, metadata), metadata.max_facts)
        context.note("facts", len(facts))
        context.note("factsDropped", len(found) - len(facts))
        return Extracted(facts=facts, usage=meter.usage)


def _standing(
    found: Sequence[ExtractedFact],
    message: str,
    reply: str,
    inputs: ExtractInputs,
    metadata: ExtractMetadata,
) -> Sequence[ExtractedFact]:
    """Those that were really said. Most turns state nothing, and then the whole prompt need not be read."""
    if not found:
        return ()
    return grounded(
        found,
        said_in(message, reply, inputs.prompt.texts()),
        inputs.known,
        from_reply=metadata.from_reply,
        min_grounding=metadata.min_grounding,
    )


class SaveInputs(Data):
    persona_id: PersonaId
    facts: tuple[ExtractedFact, ...]


class SaveFacts(Step[NoData, SaveInputs, NoData]):
    """Supersedes, adds and retires. The commit returns a `FactChange` for each fact, by category and key."""

    type = "SaveFacts"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: SaveInputs, context: StepContext) -> NoData:
        # In one order for everyone, so that two turns at once cannot wait for each other in a circle.
        ordered = sorted(inputs.facts, key=lambda fact: (fact.category, normal_key(fact.key)))

        def save(rooms: CanonRooms) -> tuple[FactChange, ...]:
            return tuple(_apply(rooms.facts, inputs.persona_id, fact, context.now) for fact in ordered)

        context.stage_write(save)
        return NoData()


def _apply(store: FactStore, persona_id: str, fact: ExtractedFact, now: datetime) -> FactChange:
    if fact.retracts:
        return store.retract(persona_id, fact.category, fact.key, at=now)
    return store.save(persona_id, fact, version_id=uuid4(), at=now)
