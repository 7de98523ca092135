"""The steps of turn memory: retrieve, summarise, persist."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Protocol
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import ModelUnavailable
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.observations import MAX_KEYWORDS, MAX_SUMMARY_CHARS, Keywords, Summary
from gieok.memory.turns.records import MemoryItem, RecalledMemory, SessionRef, Turn, TurnSummary
from gieok.memory.turns.rules import MAX_TOP_K, is_copy
from gieok.memory.turns.store import TurnView
from gieok.memory.usage import ModelUsage


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


class TurnSummarizer(Protocol):
    """The part of a language model that summarises turns, in the language of the user's message."""

    async def summarize_turn(self, turn: Turn, *, summary_chars: int, max_keywords: int) -> TurnSummary:
        """A summary of at most `summary_chars` characters with at most `max_keywords` keywords.

        Raises ModelUnavailable when the model cannot answer.
        """
        ...


class SummarizerServices(Protocol):
    """What the steps of turn memory need from the application."""

    @property
    def model(self) -> TurnSummarizer: ...


class SummarizeMetadata(ModelLimits):
    summary_chars: Annotated[int, Field(ge=1, le=MAX_SUMMARY_CHARS)]
    max_keywords: Annotated[int, Field(ge=0, le=MAX_KEYWORDS)]


class SummarizeInputs(Data):
    message: str
    reply: str


class Summarized(TurnSummary):
    usage: ModelUsage


class SummarizeMemory(ActStep[SummarizeMetadata, SummarizeInputs, Summarized]):
    """Make the summary and the keywords of the turn. Nothing is stored."""

    type = "SummarizeMemory"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(self, services: SummarizerServices) -> None:
        self._model = services.model

    async def run(
        self, metadata: SummarizeMetadata, inputs: SummarizeInputs, context: StepContext
    ) -> Summarized:
        turn = Turn(user=inputs.message, assistant=inputs.reply)
        with metered_model(self._model, metadata, context) as (model, meter):
            summary = await model.summarize_turn(
                turn, summary_chars=metadata.summary_chars, max_keywords=metadata.max_keywords
            )
        _check(summary, turn, metadata)
        context.note("keywords", len(summary.keywords))
        return Summarized(summary=summary.summary, keywords=summary.keywords, usage=meter.usage)


def _check(result: TurnSummary, turn: Turn, metadata: SummarizeMetadata) -> None:
    """Raise ModelUnavailable for a summary that breaks the plan's limits or repeats the turn."""
    if len(result.summary) > metadata.summary_chars:
        raise ModelUnavailable(f"the model's summary is longer than summaryChars ({metadata.summary_chars})")
    if len(result.keywords) > metadata.max_keywords:
        raise ModelUnavailable(f"the model gave more keywords than maxKeywords ({metadata.max_keywords})")
    if is_copy(result.summary, turn.user) or is_copy(result.summary, turn.assistant):
        raise ModelUnavailable("the model repeated the turn instead of summarising it")


class PersistInputs(Data):
    session_ref: SessionRef
    summary: Summary
    keywords: Keywords


class Persisted(Data):
    id: UUID
    timestamp: datetime


class PersistMemory(WriteStep[NoData, PersistInputs, Persisted]):
    """Save the summary and the keywords of the turn. The only caller of `MemoryStore.save()`.

    It takes them from `SummarizeMemory` only, so that no plan can store a message or a reply, and the session
    from a step that has checked in this commit that the session runs this plan.
    """

    type = "PersistMemory"
    input_sources = {  # noqa: RUF012
        "session_ref": frozenset({"AppendTurn", "RememberPlan"}),
        "summary": frozenset({"SummarizeMemory"}),
        "keywords": frozenset({"SummarizeMemory"}),
    }

    def apply(
        self, view: TurnView, metadata: NoData, inputs: PersistInputs, context: StepContext
    ) -> Persisted:
        item = MemoryItem(
            id=uuid4(),
            session_ref=inputs.session_ref,
            timestamp=context.now,
            summary=inputs.summary,
            keywords=inputs.keywords,
        )
        view.turns.save(item)
        context.note("saved", str(item.id))
        return Persisted(id=item.id, timestamp=item.timestamp)


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


STEPS: tuple[type[AnyStep], ...] = (RetrieveMemory, SummarizeMemory, PersistMemory, DeleteTurnMemories)
