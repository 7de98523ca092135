"""Making a memory of a conversation, with retries and a fallback where the model does not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, Stage, StepContext, WriteStep
from gieok.errors import ModelUnavailable, SummaryFailed
from gieok.memory.companion.keeping import keep, replace_excerpt
from gieok.memory.companion.records import MAX_SUMMARY_CHARS, Emotion, Kept, Memory, SessionSummary, Spoken
from gieok.memory.companion.rules import KeepPolicy
from gieok.memory.companion.store import CompanionStore, CompanionView
from gieok.memory.companion.summarizer import SessionSummarizer, SummarizerServices
from gieok.memory.fields import AccountPlan, Importance, PersonaId, SessionRef, Timestamp
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.usage.records import ModelUsage

_log = logging.getLogger(__name__)


class SummarizeMetadata(ModelLimits):
    fallback: Literal["excerpt", "fail"]
    excerpt_chars: Annotated[int, Field(ge=1, le=MAX_SUMMARY_CHARS)]
    excerpt_importance: Importance


class SummarizeInputs(Data):
    messages: tuple[Spoken, ...]


class Summarized(Data):
    """What is to be kept. `is_final` is False for an excerpt, which a real summary should replace."""

    summary: SessionSummary
    is_final: bool
    usage: ModelUsage


class SummarizeSession(ActStep[SummarizeMetadata, SummarizeInputs, Summarized]):
    """Ask the model for a summary, with retries. The plan says what happens when it never answers.

    Attempts are counted here, whatever the reason: an unusable answer is retried like a missing one.
    """

    type = "SummarizeSession"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(
        self, services: SummarizerServices, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._model = services.model
        self._sleep = sleep

    async def run(
        self, metadata: SummarizeMetadata, inputs: SummarizeInputs, context: StepContext
    ) -> Summarized:
        with metered_model(self._model, metadata.single_attempt(), context) as (model, meter):
            retry_after: float | None = None
            for attempt in range(metadata.attempts):
                if attempt:
                    await self._sleep(metadata.backoff(attempt, retry_after))
                made = await _try(model, inputs.messages, metadata.attempt_seconds)
                if isinstance(made, SessionSummary):
                    context.note("attempts", attempt + 1)
                    return Summarized(summary=made, is_final=True, usage=meter.usage)
                retry_after = made
        context.note("attempts", metadata.attempts)
        if metadata.fallback == "fail":
            raise SummaryFailed(
                f"the model did not summarise this conversation in {metadata.attempts} attempts; "
                "its messages are kept, so ask again when the model is back"
            )
        _log.warning(
            "the model did not answer in %d attempts: an excerpt stands in for the summary",
            metadata.attempts,
        )
        excerpt = _excerpt(inputs.messages, metadata)
        return Summarized(summary=excerpt, is_final=False, usage=meter.usage)


async def _try(
    model: SessionSummarizer, messages: Sequence[Spoken], seconds: float
) -> SessionSummary | float | None:
    """The summary; or for how many seconds the model asks to be left alone, None where it does not say."""
    try:
        async with asyncio.timeout(seconds):
            return await model.summarize_session(messages)
    except (ModelUnavailable, TimeoutError) as error:
        _log.info("an attempt to summarise a conversation failed: %s", type(error).__name__)
        return error.retry_after if isinstance(error, ModelUnavailable) else None


def _excerpt(messages: Sequence[Spoken], metadata: SummarizeMetadata) -> SessionSummary:
    """The beginning of what was said. Nothing is known of its topics, and no feeling is claimed."""
    text = "\n".join(f"{message.role}: {message.content}" for message in messages)
    return SessionSummary(
        summary=text[: metadata.excerpt_chars],
        topics=(),
        emotion=Emotion.CALM,
        importance=metadata.excerpt_importance,
    )


class KeepSummaryInputs(Data):
    session_ref: SessionRef
    persona_id: PersonaId
    account_plan: AccountPlan
    occurred_at: Timestamp
    memory_id: UUID | None
    """The excerpt that an earlier attempt left, if there is one."""
    summary: SessionSummary
    is_final: bool


class KeptSummary(Data):
    memory_id: UUID
    kept: Kept | None
    """None where nothing changed: the excerpt was deleted or edited by hand in the meantime."""


class KeepSummary(WriteStep[KeepPolicy, KeepSummaryInputs, KeptSummary]):
    """Store a summary as a memory, or replace the excerpt that stood in for it.

    It runs in the background, so its notices wait for the next turn with this persona.
    """

    type = "KeepSummary"

    def apply(
        self, view: CompanionView, metadata: KeepPolicy, inputs: KeepSummaryInputs, context: StepContext
    ) -> KeptSummary:
        memory_id = inputs.memory_id or uuid4()
        kept = _keep(view.companion, memory_id, metadata, inputs, context)
        if kept is not None:
            view.notices.leave(inputs.persona_id, kept.notices, context.now)
        context.note("memory", str(memory_id))
        return KeptSummary(memory_id=memory_id, kept=kept)


def _keep(
    store: CompanionStore,
    memory_id: UUID,
    policy: KeepPolicy,
    inputs: KeepSummaryInputs,
    context: StepContext,
) -> Kept | None:
    if inputs.memory_id is None:
        memory = _memory(memory_id, inputs, context)
        return keep(store, memory, inputs.account_plan, policy, at=context.now)
    if not inputs.is_final:
        return None
    return replace_excerpt(store, memory_id, inputs.summary, inputs.account_plan, policy, at=context.now)


def _memory(memory_id: UUID, inputs: KeepSummaryInputs, context: StepContext) -> Memory:
    made = inputs.summary
    return Memory(
        id=memory_id,
        persona_id=inputs.persona_id,
        session_ref=inputs.session_ref,
        summary=made.summary,
        topics=made.topics,
        emotion=made.emotion,
        importance=made.importance,
        tags=(),
        speaker=None,
        origin="summary" if inputs.is_final else "excerpt",
        created_at=context.now,
        occurred_at=inputs.occurred_at,
        archived_at=None,
        version=1,
    )


STEPS: tuple[type[AnyStep], ...] = (SummarizeSession, KeepSummary)
