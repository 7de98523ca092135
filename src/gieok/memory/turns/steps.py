"""The three steps of turn memory. Thin: a model condenses, a store keeps and finds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import ModelUnavailable
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.turns.records import (
    MAX_KEYWORDS,
    MAX_SUMMARY_CHARS,
    Keywords,
    MemoryItem,
    RecalledMemory,
    SessionRef,
    Summary,
    Turn,
    TurnSummary,
)
from gieok.memory.turns.rules import MAX_TOP_K, is_raw
from gieok.memory.turns.store import TurnView
from gieok.memory.turns.summarizer import SummarizerServices
from gieok.memory.usage.records import ModelUsage


class RetrieveMetadata(Data):
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)]


class RetrieveInputs(Data):
    session_ref: SessionRef
    query: str


class Retrieved(Data):
    memories: tuple[RecalledMemory, ...]


class RetrieveMemory(ReadStep[RetrieveMetadata, RetrieveInputs, Retrieved]):
    """Find what was said earlier in this session about the words of the query."""

    type = "RetrieveMemory"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: TurnView, metadata: RetrieveMetadata, inputs: RetrieveInputs, context: StepContext
    ) -> Retrieved:
        memories = tuple(view.turns.search(inputs.session_ref, inputs.query, metadata.top_k))
        context.note("recalled", [memory.id for memory in memories])
        return Retrieved(memories=memories)


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
            made = await model.summarize_turn(
                turn, summary_chars=metadata.summary_chars, max_keywords=metadata.max_keywords
            )
        _check(made, turn, metadata)
        context.note("keywords", len(made.keywords))
        return Summarized(summary=made.summary, keywords=made.keywords, usage=meter.usage)


def _check(made: TurnSummary, turn: Turn, metadata: SummarizeMetadata) -> None:
    """Hold the model to the plan: a summary that is too long or that repeats the turn is not a summary."""
    if len(made.summary) > metadata.summary_chars:
        raise ModelUnavailable(f"the model's summary is longer than summaryChars ({metadata.summary_chars})")
    if len(made.keywords) > metadata.max_keywords:
        raise ModelUnavailable(f"the model gave more keywords than maxKeywords ({metadata.max_keywords})")
    if is_raw(made.summary, turn.user) or is_raw(made.summary, turn.assistant):
        raise ModelUnavailable("the model repeated the turn instead of condensing it")


class PersistInputs(Data):
    session_ref: SessionRef
    summary: Summary
    keywords: Keywords


class Persisted(Data):
    id: UUID
    timestamp: datetime


class PersistMemory(WriteStep[NoData, PersistInputs, Persisted]):
    """Save the summary and the keywords of the turn. The only caller of `MemoryStore.save()`."""

    type = "PersistMemory"

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


STEPS: tuple[type[AnyStep], ...] = (RetrieveMemory, SummarizeMemory, PersistMemory)
