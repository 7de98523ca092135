"""The steps of turn memory: retrieve, summarise, persist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import ModelUnavailable
from gieok.memory.fields import Language, SessionRef, Timestamp
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.observations import (
    MAX_KEYWORDS,
    MAX_SUMMARY_CHARS,
    Conversation,
    Exchange,
    ListedFact,
    Observation,
    Refusal,
    Rememberer,
    SpokenMessage,
    TurnNote,
    VerbatimLimit,
)
from gieok.memory.profile import Timezone
from gieok.memory.turns.records import MemoryItem, RecalledMemory
from gieok.memory.turns.rules import MAX_TOP_K
from gieok.memory.turns.store import TurnView
from gieok.memory.usage import ModelUsage
from gieok.text import language


class RetrieveMetadata(Data):
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)]


class RetrieveInputs(Data):
    session_ref: SessionRef
    query: str


class Retrieved(Data):
    memories: tuple[RecalledMemory, ...]


class RetrieveMemory(ReadStep[RetrieveMetadata, RetrieveInputs, Retrieved]):
    """Search the earlier turns of this session by the words of the query."""

    type = "RetrieveMemory"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: TurnView, metadata: RetrieveMetadata, inputs: RetrieveInputs, context: StepContext
    ) -> Retrieved:
        memories = tuple(view.turns.search(inputs.session_ref, inputs.query, metadata.top_k))
        context.note("recalled", [memory.id for memory in memories])
        return Retrieved(memories=memories)


class RemembererServices(Protocol):
    """What the steps of turn memory need from the application."""

    @property
    def memory_model(self) -> Rememberer: ...


class SummarizeMetadata(ModelLimits):
    summary_chars: Annotated[int, Field(ge=1, le=MAX_SUMMARY_CHARS)]
    max_keywords: Annotated[int, Field(ge=0, le=MAX_KEYWORDS)]
    verbatim: VerbatimLimit


class SummarizeInputs(Data):
    exchanges: tuple[Exchange, ...]
    before: tuple[SpokenMessage, ...] = ()
    """The last messages before the exchanges."""
    known: tuple[ListedFact, ...] = ()
    """The known facts that matter, with their short ids."""
    character: str = ""
    language: Language = "ko"
    """The language of the profile or of the character, for a user who writes no letters."""
    timezone: Timezone = "UTC"
    """Whose days are meant."""
    user_name: str | None = None


class Summarized(Data):
    items: tuple[TurnNote, ...]
    """One per exchange."""
    observations: tuple[Observation, ...]
    malformed: tuple[Refusal, ...]
    """Items of the answer that could not be read."""
    usage: ModelUsage


class SummarizeMemory(ActStep[SummarizeMetadata, SummarizeInputs, Summarized]):
    """Ask the model once what is to be remembered of the exchanges: a note for each, and observations.

    Nothing is stored. ModelUnavailable if a summary repeats what was said instead of condensing it.
    """

    type = "SummarizeMemory"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(self, services: RemembererServices) -> None:
        self._model = services.memory_model

    async def run(
        self, metadata: SummarizeMetadata, inputs: SummarizeInputs, context: StepContext
    ) -> Summarized:
        said = "\n".join(exchange.text("user") for exchange in inputs.exchanges)
        conversation = Conversation(
            language=language(said, default=inputs.language),
            character=inputs.character,
            timezone=inputs.timezone,
            user_name=inputs.user_name,
            before=inputs.before,
            exchanges=inputs.exchanges,
            known=inputs.known,
        )
        with metered_model(self._model, metadata, context) as (model, meter):
            answer = await model.remember(
                conversation,
                summary_chars=metadata.summary_chars,
                max_keywords=metadata.max_keywords,
                verbatim=metadata.verbatim,
            )
        if problem := notes_problem(answer.turns, inputs.exchanges, metadata):
            raise ModelUnavailable(f"the model's answer cannot be stored: {problem}")
        context.note("keywords", sum(len(note.keywords) for note in answer.turns))
        context.note("observations", len(answer.observations))
        return Summarized(
            items=answer.turns,
            observations=answer.observations,
            malformed=answer.malformed,
            usage=meter.usage,
        )


def notes_problem(
    notes: Sequence[TurnNote], exchanges: Sequence[Exchange], metadata: SummarizeMetadata
) -> str | None:
    """Why turn memory refuses these notes; None if it does not."""
    if len(notes) != len(exchanges):
        return f"it has {len(notes)} turns for {len(exchanges)} exchanges"
    for note, exchange in zip(notes, exchanges, strict=True):
        if len(note.summary) > metadata.summary_chars:
            return f"a summary is longer than summaryChars ({metadata.summary_chars})"
        if len(note.keywords) > metadata.max_keywords:
            return f"a turn has more keywords than maxKeywords ({metadata.max_keywords})"
        if any(metadata.verbatim.is_copy(note.summary, message.text) for message in exchange.messages):
            return "a summary repeats a message instead of condensing it"
    return None


class PersistInputs(Data):
    session_ref: SessionRef
    items: tuple[TurnNote, ...]
    timestamps: tuple[Timestamp, ...]
    """When each exchange ended."""
    message_ids: tuple[str | None, ...]
    """The last message of each exchange: the memory goes when it is withdrawn."""


class Persisted(Data):
    ids: tuple[UUID, ...]


class PersistMemory(WriteStep[NoData, PersistInputs, Persisted]):
    """Save the summary and the keywords of each exchange. The only caller of `MemoryStore.save()`.

    It takes them from `SummarizeMemory` only, so that no plan can store a message or a reply, and the session
    from a step that knows it to run this plan or to have queued this job.
    """

    type = "PersistMemory"
    input_sources = {  # noqa: RUF012
        "session_ref": frozenset({"AppendTurn", "RememberPlan", "LoadExchanges"}),
        "items": frozenset({"SummarizeMemory"}),
        "timestamps": frozenset({"CurrentExchange", "LoadExchanges"}),
        "message_ids": frozenset({"CurrentExchange", "LoadExchanges"}),
    }

    def apply(
        self, view: TurnView, metadata: NoData, inputs: PersistInputs, context: StepContext
    ) -> Persisted:
        items = [
            MemoryItem(
                id=uuid4(),
                session_ref=inputs.session_ref,
                timestamp=timestamp,
                summary=note.summary,
                keywords=note.keywords,
            )
            for note, timestamp in zip(inputs.items, inputs.timestamps, strict=True)
        ]
        for item, message_id in zip(items, inputs.message_ids, strict=True):
            view.turns.save(item, message_id=message_id)
        context.note("saved", [item.id for item in items])
        return Persisted(ids=tuple(item.id for item in items))


class DeleteTurnsInputs(Data):
    session_refs: tuple[SessionRef, ...]


class DeletedTurns(Data):
    deleted: int


class DeleteTurnMemories(WriteStep[NoData, DeleteTurnsInputs, DeletedTurns]):
    """Delete the turn memories of sessions."""

    type = "DeleteTurnMemories"

    def apply(
        self, view: TurnView, metadata: NoData, inputs: DeleteTurnsInputs, context: StepContext
    ) -> DeletedTurns:
        return DeletedTurns(deleted=sum(map(view.turns.delete, inputs.session_refs)))


class WithdrawTurnsInputs(Data):
    session_ref: SessionRef
    message_ids: tuple[str, ...]
    """The messages of the withdrawn exchanges."""


class WithdrawTurnMemories(WriteStep[NoData, WithdrawTurnsInputs, DeletedTurns]):
    """Delete the turn memories of withdrawn exchanges."""

    type = "WithdrawTurnMemories"

    def apply(
        self, view: TurnView, metadata: NoData, inputs: WithdrawTurnsInputs, context: StepContext
    ) -> DeletedTurns:
        return DeletedTurns(deleted=view.turns.delete(inputs.session_ref, inputs.message_ids))


STEPS: tuple[type[AnyStep], ...] = (
    RetrieveMemory,
    SummarizeMemory,
    PersistMemory,
    DeleteTurnMemories,
    WithdrawTurnMemories,
)
