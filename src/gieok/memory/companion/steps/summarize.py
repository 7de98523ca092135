"""Steps that summarise a conversation and save the summary as a memory.

The model is retried; if it never answers, an excerpt of the conversation stands in for the summary.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal, Protocol
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import ModelUnavailable, NotFound, SummaryFailed
from gieok.memory.companion.records import (
    MAX_SUMMARY_CHARS,
    Emotion,
    ExcerptSource,
    Memory,
    MemoryDraft,
    MemoryOutline,
    SavedMemory,
    SessionSummary,
    Spoken,
)
from gieok.memory.companion.rules import KeepPolicy, is_only_small_talk
from gieok.memory.companion.steps.memories import CreateMetadata, apply_policy, next_version, save_memory
from gieok.memory.companion.store import CompanionStore, CompanionView
from gieok.memory.fields import AccountPlan, Importance, PersonaId, SessionRef, Timestamp
from gieok.memory.jobs.records import Job, JobDraft
from gieok.memory.jobs.store import JobView
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.profile import Timezone, local
from gieok.memory.usage import UNUSED, ModelUsage

_log = logging.getLogger(__name__)


class SessionSummarizer(Protocol):
    """A model that summarises a conversation, in the language of the conversation."""

    async def summarize_session(self, messages: Sequence[Spoken]) -> SessionSummary | None:
        """One or two sentences, topics, emotion and importance; None if nothing is worth keeping.

        Raises ModelUnavailable if it does not answer.
        """
        ...


class SummarizerServices(Protocol):
    """Services of the steps that summarise conversations."""

    @property
    def memory_model(self) -> SessionSummarizer: ...


class SummarizeMetadata(ModelLimits):
    fallback: Literal["excerpt", "fail"]
    excerpt_chars: Annotated[int, Field(ge=1, le=MAX_SUMMARY_CHARS)]
    excerpt_importance: Importance
    small_talk: Literal["skip", "keep"]
    """Small talk, and a conversation in which the model finds nothing to keep, is skipped, or kept: then a
    model that finds nothing counts as one that does not answer."""


class SummarizeInputs(Data):
    messages: tuple[Spoken, ...]
    timezone: Timezone = "UTC"
    """Whose days are meant."""


class Summarized(Data):
    summary: SessionSummary | None
    """None if nothing is worth keeping."""
    is_final: bool
    """False for an excerpt, which a summary will replace later."""
    usage: ModelUsage


class SummarizeSession(ActStep[SummarizeMetadata, SummarizeInputs, Summarized]):
    """Ask the model for a summary, with retries. The plan says what happens when it never answers.

    The model is not asked about small talk that the plan skips.
    Attempts are counted here, whatever the reason: an unusable answer is retried like a missing one.
    """

    type = "SummarizeSession"
    stages = frozenset({Stage.POST_PROCESS})

    def __init__(
        self, services: SummarizerServices, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._model = services.memory_model
        self._sleep = sleep

    async def run(
        self, metadata: SummarizeMetadata, inputs: SummarizeInputs, context: StepContext
    ) -> Summarized:
        messages = _on_clock(inputs, context.now)
        if metadata.small_talk == "skip" and is_only_small_talk(messages):
            return Summarized(summary=None, is_final=True, usage=UNUSED)
        with metered_model(self._model, metadata.single_attempt(), context) as (model, meter):
            retry_after: float | None = None
            for attempt in range(metadata.attempts):
                if attempt:
                    await self._sleep(metadata.backoff(attempt, retry_after))
                made = await _try(model, messages, metadata.attempt_seconds)
                if isinstance(made, _Failure):
                    retry_after = made.retry_after
                    continue
                if made is None and metadata.small_talk == "keep":
                    break
                context.note("attempts", attempt + 1)
                return Summarized(summary=made, is_final=True, usage=meter.usage)
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


def _on_clock(inputs: SummarizeInputs, now: datetime) -> list[Spoken]:
    """The messages with their times on the user's clock; one without a time was said now."""
    return [
        message.model_copy(update={"timestamp": local(message.timestamp or now, inputs.timezone)})
        for message in inputs.messages
    ]


@dataclass(frozen=True)
class _Failure:
    retry_after: float | None
    """Seconds, if the model said so."""


async def _try(
    model: SessionSummarizer, messages: Sequence[Spoken], seconds: float
) -> SessionSummary | _Failure | None:
    """The model's answer, or its failure."""
    try:
        async with asyncio.timeout(seconds):
            return await model.summarize_session(messages)
    except (ModelUnavailable, TimeoutError) as error:
        _log.info("an attempt to summarise a conversation failed: %s", type(error).__name__)
        return _Failure(error.retry_after if isinstance(error, ModelUnavailable) else None)


def _excerpt(messages: Sequence[Spoken], metadata: SummarizeMetadata) -> SessionSummary:
    """The beginning of the conversation, without topics and with a neutral emotion."""
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
    summary: SessionSummary | None
    """None if nothing is worth keeping."""
    is_final: bool


class KeptSummary(Data):
    memory_id: UUID | None
    """None if nothing is kept."""
    kept: SavedMemory | None
    """None if nothing changed: the excerpt was deleted or edited by hand in the meantime."""


class KeepSummary(WriteStep[KeepPolicy, KeepSummaryInputs, KeptSummary]):
    """Store a summary as a memory, or replace the excerpt that stood in for it. Without a summary nothing is
    stored, and the excerpt is deleted, unless it was edited by hand.

    It runs in the background, so its notices wait for the next turn with this persona.
    """

    type = "KeepSummary"

    def apply(
        self, view: CompanionView, metadata: KeepPolicy, inputs: KeepSummaryInputs, context: StepContext
    ) -> KeptSummary:
        if inputs.summary is None:
            return KeptSummary(memory_id=_without_excerpt(view.companion, inputs.memory_id), kept=None)
        memory_id = inputs.memory_id or uuid4()
        account, now = inputs.account_plan, context.now
        saved = None
        if inputs.memory_id is None:
            memory = _memory(memory_id, inputs, inputs.summary, context)
            saved = save_memory(view.companion, memory, account, metadata, at=now)
        elif inputs.is_final:
            saved = replace_excerpt(view.companion, memory_id, inputs.summary, account, metadata, at=now)
        if saved is not None:
            view.notices.leave(inputs.persona_id, [notice.kind for notice in saved.notices], now)
        context.note("memory", str(memory_id))
        return KeptSummary(memory_id=memory_id, kept=saved)


class QueueExcerptMetadata(Data):
    retry_minutes: Annotated[int, Field(ge=1)]


class QueueExcerptInputs(Data):
    kept: SavedMemory
    outline: MemoryOutline
    messages: tuple[Spoken, ...]
    account_plan: AccountPlan


class QueuedExcerpt(Data):
    job_id: UUID | None
    """None if the memory is no excerpt."""


class ExcerptView(CompanionView, JobView, Protocol):
    """Memories and jobs."""


class QueueExcerpt(WriteStep[QueueExcerptMetadata, QueueExcerptInputs, QueuedExcerpt]):
    """Queue a job that replaces an excerpt by a summary, and keep its messages until then, sealed with it."""

    type = "QueueExcerpt"

    def apply(
        self,
        view: ExcerptView,
        metadata: QueueExcerptMetadata,
        inputs: QueueExcerptInputs,
        context: StepContext,
    ) -> QueuedExcerpt:
        memory = inputs.kept.memory
        if memory.origin != "excerpt":
            return QueuedExcerpt(job_id=None)
        source = ExcerptSource(
            outline=inputs.outline, messages=inputs.messages, account_plan=inputs.account_plan
        )
        view.companion.keep_source(memory.id, source)
        due_at = context.now + timedelta(minutes=metadata.retry_minutes)
        job = JobDraft(id=uuid4(), kind="excerpt", subject=str(memory.id), due_at=due_at)
        view.jobs.add(job, context.now)
        return QueuedExcerpt(job_id=job.id)


class LoadExcerptInputs(Data):
    job: Job


class LoadedExcerpt(ExcerptSource):
    memory_id: UUID


class LoadExcerpt(ReadStep[NoData, LoadExcerptInputs, LoadedExcerpt]):
    """Load what the excerpt of a job was made of. NotFound if the memory is no excerpt any more."""

    type = "LoadExcerpt"
    stages = frozenset({Stage.CONTEXT_SELECT})

    def read(
        self, view: CompanionView, metadata: NoData, inputs: LoadExcerptInputs, context: StepContext
    ) -> LoadedExcerpt:
        memory_id = UUID(inputs.job.subject)
        source = view.companion.source(memory_id)
        if source is None:
            raise NotFound(f"memory {memory_id} is no excerpt")
        return LoadedExcerpt(memory_id=memory_id, **dict(source))


class ReplaceExcerptInputs(Data):
    memory_id: UUID
    draft: MemoryDraft
    account_plan: AccountPlan


class ReplaceExcerpt(WriteStep[CreateMetadata, ReplaceExcerptInputs, KeptSummary]):
    """Replace an excerpt that was created of messages. Notices wait for the next turn with the persona."""

    type = "ReplaceExcerpt"

    def apply(
        self,
        view: CompanionView,
        metadata: CreateMetadata,
        inputs: ReplaceExcerptInputs,
        context: StepContext,
    ) -> KeptSummary:
        draft = inputs.draft
        summary = SessionSummary(
            summary=draft.summary,
            topics=draft.topics,
            emotion=draft.emotion or metadata.emotion,
            importance=draft.importance or metadata.importance,
        )
        saved = replace_excerpt(
            view.companion, inputs.memory_id, summary, inputs.account_plan, metadata, at=context.now
        )
        if saved is not None:
            view.notices.leave(draft.persona_id, [notice.kind for notice in saved.notices], context.now)
        context.note("memory", str(inputs.memory_id))
        return KeptSummary(memory_id=inputs.memory_id, kept=saved)


def replace_excerpt(
    store: CompanionStore,
    memory_id: UUID,
    summary: SessionSummary,
    account: AccountPlan,
    policy: KeepPolicy,
    *,
    at: datetime,
) -> SavedMemory | None:
    """Replace an excerpt by a summary, under the same id.

    None, and no change, if the memory was deleted or its text was rewritten by hand in the meantime. The
    importance of an excerpt that was edited stays as the user set it.
    """
    found = store.get(memory_id)
    if found is None:
        return None
    store.lock(found.persona_id)
    found = store.get(memory_id)
    if found is None or found.origin != "excerpt":
        return None
    was_edited = found.version > 1
    values = summary.model_copy(update={"importance": found.importance}) if was_edited else summary
    changed = next_version(found, dict(values), origin="summary")
    store.replace(changed)
    store.delete_moment(memory_id)
    return apply_policy(store, changed, account, policy, at=at)


def _without_excerpt(store: CompanionStore, memory_id: UUID | None) -> UUID | None:
    """Delete an excerpt that nobody has edited. Returns the id of one that stays."""
    found = store.get(memory_id) if memory_id else None
    if found is None:
        return None
    store.lock(found.persona_id)
    found = store.get(found.id)
    if found is None or found.origin != "excerpt" or found.version > 1:
        return found.id if found else None
    store.delete(found.id)
    return None


def _memory(memory_id: UUID, inputs: KeepSummaryInputs, made: SessionSummary, context: StepContext) -> Memory:
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


STEPS: tuple[type[AnyStep], ...] = (
    SummarizeSession,
    KeepSummary,
    QueueExcerpt,
    LoadExcerpt,
    ReplaceExcerpt,
)
